package cql

import (
	"encoding/binary"
	"testing"

	"github.com/gocql/gocql"

	"github.com/apache/arrow/go/v17/arrow"

	"manifest/internal/cqltype"
	"manifest/internal/recycle"
	"manifest/internal/schema"
	"manifest/tokenrange"
)

// BenchmarkPage decodes pages of image_metadata as Read does, from the driver's
// bytes to a record that is released.
func BenchmarkPage(b *testing.B) {
	const pageRows = 5000
	p, cells := imagePage(b)
	r, err := newRows(p, recycle.New())
	if err != nil {
		b.Fatal(err)
	}
	defer r.release()
	b.ReportAllocs()
	for b.Loop() {
		r.prepare(pageRows)
		for range pageRows {
			for i, d := range r.dest {
				if err := d.(gocql.Unmarshaler).UnmarshalCQL(nil, cells[i]); err != nil {
					b.Fatal(err)
				}
			}
			r.partitions.add(1)
		}
		if err := deliver(r, func(arrow.Record) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*pageRows), "ns/row")
}

// imagePage is the projection of image_metadata, and one row of it.
func imagePage(tb testing.TB) (*projection, [][]byte) {
	tb.Helper()
	table := &schema.Table{Keyspace: "image_keyspace", Name: "image_metadata"}
	var cells [][]byte
	for _, c := range []struct {
		name, cql string
		value     []byte
	}{
		{"image_id", "timeuuid", []byte("\xf8\x1d\x4f\xae\x7d\xec\x11\xd0\xa7\x65\x00\xa0\xc9\x1e\x6b\xf6")},
		{"attributes", "map<text, text>", textMap("device_id", "cam-0042", "fmt", "jpeg", "region", "region-7")},
		{"capture_time", "timestamp", []byte("\x00\x00\x01\x8d\xf5\x3c\x1a\x00")},
		{"content_hash", "text", []byte("sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")},
		{"height", "int", []byte("\x00\x00\x04\x38")},
		{"object_key", "text", []byte("raw/cam-0042/2025/05/01/f81d4fae-7dec-11d0-a765-00a0c91e6bf6.jpg")},
		{"object_store", "text", []byte("s3://images-eu-1")},
		{"upload_time", "timestamp", []byte("\x00\x00\x01\x8d\xf5\x3c\x2a\x00")},
		{"width", "int", []byte("\x00\x00\x07\x80")},
	} {
		typ, err := cqltype.Parse(c.cql, nil)
		if err != nil {
			tb.Fatal(err)
		}
		kind := schema.Regular
		if c.name == "image_id" {
			kind = schema.PartitionKey
		}
		table.Columns = append(table.Columns, schema.Column{Name: c.name, Kind: kind, Type: typ})
		cells = append(cells, c.value)
	}
	p, err := newProjection(table, table.Names(), tokenrange.Murmur3, false, false)
	if err != nil {
		tb.Fatal(err)
	}
	return p, cells
}

// textMap serializes a map of texts.
func textMap(keysAndValues ...string) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(keysAndValues)/2))
	for _, s := range keysAndValues {
		out = append(binary.BigEndian.AppendUint32(out, uint32(len(s))), s...)
	}
	return out
}
