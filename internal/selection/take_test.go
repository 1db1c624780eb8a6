package selection

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"pgregory.net/rapid"
)

// TestTakeKeepsValues draws records of any types, which are slices of others, and compares what is taken with what they were made of.
func TestTakeKeepsValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		defer mem.AssertSize(t, 0)
		var columns []Column
		for i := range rapid.IntRange(1, 3).Draw(t, "columns") {
			columns = append(columns, Column{fmt.Sprintf("c%d", i), typeOf(drawType(t, 3))})
		}
		rows := make([][]any, rapid.IntRange(0, 60).Draw(t, "rows"))
		for i := range rows {
			for _, c := range columns {
				rows[i] = append(rows[i], drawValue(t, c.Type, true))
			}
		}
		whole := recordOf(mem, columns, rows)
		defer whole.Release()
		lo := rapid.IntRange(0, len(rows)).Draw(t, "lo")
		rec := whole.NewSlice(int64(lo), rapid.Int64Range(int64(lo), int64(len(rows))).Draw(t, "hi"))
		defer rec.Release()
		truths := []truth{}
		for len(truths) < int(rec.NumRows()) { // in runs, as copying treats long ones in another way
			n := min(rapid.SampledFrom([]int{1, 2, 25}).Draw(t, "run"), int(rec.NumRows())-len(truths))
			truths = append(truths, slices.Repeat([]truth{rapid.SampledFrom([]truth{isFalse, unknown, isTrue, isTrue}).Draw(t, "truth")}, n)...)
		}
		got, err := take(mem, rec, spansOf(truths))
		if err != nil {
			t.Fatal(err)
		}
		defer got.Release()
		checkTaken(t, rows[lo:], truths, rec.Schema(), got)
	})
}

// checkTaken compares a record with those rows that are true.
func checkTaken(t *rapid.T, rows [][]any, truths []truth, schema *arrow.Schema, got arrow.Record) {
	if !got.Schema().Equal(schema) {
		t.Fatalf("schema %s, want %s", got.Schema(), schema)
	}
	var want [][]any
	for i, truth := range truths {
		if truth == isTrue {
			want = append(want, rows[i])
		}
	}
	for i, c := range got.Columns() {
		if c.Len() != len(want) || int(got.NumRows()) != len(want) {
			t.Fatalf("%d rows in a record of %d, want %d", c.Len(), got.NumRows(), len(want))
		}
		nulls := 0
		for at, row := range want {
			if row[i] == nil {
				nulls++
			}
			if have, want := fmt.Sprintf("%#v", valueAt(c, at)), fmt.Sprintf("%#v", row[i]); have != want {
				t.Fatalf("row %d of a column of %s is %s, want %s", at, c.DataType(), have, want)
			}
		}
		if c.NullN() != nulls {
			t.Fatalf("%d NULLs in a column of %s, want %d", c.NullN(), c.DataType(), nulls)
		}
	}
}

func TestTakeAllIsTheRecordItself(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	columns := columnsOf("x int; l list<text>")
	rec := recordOf(mem, columns, [][]any{{1, []any{"a"}}, {2, nil}})
	defer rec.Release()
	for _, tc := range []struct {
		text string
		same bool
	}{{"x > 0", true}, {"x > 1", false}, {"x > 2", false}} {
		got, err := mustFilter(t, tc.text, columns).Apply(mem, rec)
		if err != nil {
			t.Fatal(err)
		}
		if (got == rec) != tc.same {
			t.Errorf("%s gives the record itself: %v", tc.text, !tc.same)
		}
		got.Release()
	}
}

func TestTakeRefusesWhatNoTypeMapsTo(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	for _, typ := range []arrow.DataType{arrow.BinaryTypes.LargeString, dictionary, arrow.Null, arrow.StructOf(arrow.Field{Name: "a", Type: arrow.ListOf(dictionary)})} {
		fields := append(slices.Clone(schemaOf(columnsOf("x int")).Fields()), arrow.Field{Name: "odd", Type: typ, Nullable: true})
		b := array.NewRecordBuilder(mem, arrow.NewSchema(fields, nil))
		b.Field(0).(*array.Int32Builder).Append(1)
		b.Field(1).AppendNull()
		rec := b.NewRecord()
		got, err := mustFilter(t, "x > 1", columnsOf("x int")).Apply(mem, rec)
		if err == nil || !strings.HasPrefix(err.Error(), `select rows of column "odd": no CQL type is held by Arrow type `) {
			t.Errorf("%s gives %v, %v", typ, got, err)
		}
		rec.Release()
		b.Release()
	}
}

func TestSpans(t *testing.T) {
	for _, tc := range []struct {
		truths string // T, F or U each
		want   []span
	}{
		{"", nil}, {"FUF", nil}, {"T", []span{{0, 1}}}, {"TTT", []span{{0, 3}}}, {"FTTUTF", []span{{1, 3}, {4, 5}}}, {"UFT", []span{{2, 3}}},
	} {
		truths := make([]truth, len(tc.truths))
		for i, c := range tc.truths {
			truths[i] = map[rune]truth{'T': isTrue, 'F': isFalse, 'U': unknown}[c]
		}
		if got := spansOf(truths); !slices.Equal(got, tc.want) {
			t.Errorf("spans of %s are %v, want %v", tc.truths, got, tc.want)
		}
	}
}
