package cqltype

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// sampleValues are values of usual sizes.
var sampleValues = []struct{ cql, raw string }{
	{"timeuuid", "\xf8\x1d\x4f\xae\x7d\xec\x11\xd0\xa7\x65\x00\xa0\xc9\x1e\x6b\xf6"},
	{"text", "images/2024/02/29/f81d4fae.jpg"},
	{"ascii", "images/2024/02/29/f81d4fae.jpg"},
	{"blob", "images/2024/02/29/f81d4fae.jpg"},
	{"boolean", "\x01"},
	{"tinyint", "\x01"},
	{"smallint", "\x01\x02"},
	{"int", "\x00\x00\x07\x80"},
	{"bigint", "\x00\x00\x00\x00\x00\x00\x07\x80"},
	{"counter", "\x00\x00\x00\x00\x00\x00\x07\x80"},
	{"float", "\x3f\x80\x00\x00"},
	{"double", "\x3f\xf0\x00\x00\x00\x00\x00\x00"},
	{"timestamp", "\x00\x00\x01\x8d\xf5\x3c\x1a\x00"},
	{"date", "\x80\x00\x4d\x3b"},
	{"time", "\x00\x00\x29\x33\x85\xd8\x00\x00"},
	{"inet", "\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\xff\x00\x00\x42\x83\x29"},
	{"varint", "\x01\x00\x00\x00\x00\x00\x00\x00\x00"},
	{"decimal", "\x00\x00\x00\x02\x30\x39"},
	{"duration", "\x02\x04\xc0\xff\xff"},
	{"list<int>", "\x00\x00\x00\x02\x00\x00\x00\x04\x00\x00\x00\x01\xff\xff\xff\xff"},
	{"map<text, text>", attributes("region", "eu-west-1", "firmware", "4.2.1", "gain", "12")},
	{"map<int, int>", attributes(slices.Repeat([]string{"\x00\x00\x00\x01"}, 100)...)},
	{"tuple<int, text>", "\x00\x00\x00\x04\x00\x00\x00\x01\x00\x00\x00\x01a"},
	{"vector<float, 3>", "\x3f\x80\x00\x00\x3f\x80\x00\x00\x3f\x80\x00\x00"},
	{"vector<text, 2>", "\x01a\x02bc"},
}

// attributes serializes a map of the keys and values given in turn.
func attributes(entries ...string) string {
	raw := binary.BigEndian.AppendUint32(nil, uint32(len(entries)/2))
	for _, s := range entries {
		raw = append(binary.BigEndian.AppendUint32(raw, uint32(len(s))), s...)
	}
	return string(raw)
}

// Builders grow by doubling, which is all the allocation that is left over many values.
func TestAppendDoesNotAllocate(t *testing.T) {
	const values = 1 << 15
	for _, sample := range sampleValues {
		col := newColumn(t, mustParse(t, sample.cql))
		raw := []byte(sample.raw)
		allocs := testing.AllocsPerRun(1, func() {
			for range values {
				if col.Append(raw) != nil || col.Append(nil) != nil {
					t.Fatal("append failed")
				}
			}
		})
		if perValue := allocs / values; perValue > 0.02 {
			t.Errorf("%s: %.3f allocations per value", sample.cql, perValue)
		}
	}
}

// BenchmarkAppend measures one value of each type.
func BenchmarkAppend(b *testing.B) {
	for _, sample := range sampleValues {
		b.Run(sample.cql, func(b *testing.B) { benchmarkAppend(b, []string{sample.cql}, [][]byte{[]byte(sample.raw)}) })
	}
}

// BenchmarkAppendImageRow measures a row of the table of images: nine cells.
func BenchmarkAppendImageRow(b *testing.B) {
	benchmarkAppend(b, []string{"timeuuid", "text", "text", "text", "int", "int", "timestamp", "timestamp", "map<text, text>"}, [][]byte{
		[]byte("\xf8\x1d\x4f\xae\x7d\xec\x11\xd0\xa7\x65\x00\xa0\xc9\x1e\x6b\xf6"),
		[]byte("s3://images-eu-1"),
		[]byte("device-0042/2024/02/29/f81d4fae-7dec-11d0-a765-00a0c91e6bf6.jpg"),
		[]byte("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"),
		[]byte("\x00\x00\x07\x80"), []byte("\x00\x00\x04\x38"),
		[]byte("\x00\x00\x01\x8d\xf5\x3c\x1a\x00"), []byte("\x00\x00\x01\x8d\xf5\x3c\x2a\x00"),
		[]byte(attributes("region", "eu-west-1", "firmware", "4.2.1", "gain", "12")),
	})
}

// benchmarkAppend appends rows in batches of 4096, and reports the time of a cell.
func benchmarkAppend(b *testing.B, types []string, row [][]byte) {
	b.ReportAllocs()
	builders, appenders := make([]array.Builder, len(types)), make([]Appender, len(types))
	for i, cql := range types {
		typ := mustParse(b, cql)
		dt, err := typ.Arrow()
		if err != nil {
			b.Fatal(err)
		}
		builders[i] = array.NewBuilder(memory.DefaultAllocator, dt)
		if appenders[i], err = NewAppender(typ, builders[i]); err != nil {
			b.Fatal(err)
		}
	}
	rows := 0
	for b.Loop() {
		for i, a := range appenders {
			if err := a.Append(row[i]); err != nil {
				b.Fatal(err)
			}
		}
		if rows++; rows%4096 == 0 {
			for _, builder := range builders {
				builder.NewArray().Release()
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(types)), "ns/cell")
}
