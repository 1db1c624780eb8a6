package rowsize

import (
	"errors"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"manifest/export/internal/arrowtest"
)

func TestBytesOfRows(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "l", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	l := b.Field(2).(*array.ListBuilder)
	texts := l.ValueBuilder().(*array.StringBuilder)

	b.Field(0).AppendNull() // 8: a place is kept for a number that is null
	b.Field(1).AppendNull() // 0
	l.AppendNull()          // 0

	b.Field(0).(*array.Int64Builder).Append(1)    // 8
	b.Field(1).(*array.StringBuilder).Append("叶") // 4+3
	l.Append(true)                                // 0
	texts.AppendValues([]string{"", "abc"}, nil)  // 4, 4+3

	rec := b.NewRecord()
	defer rec.Release()
	got, err := OfRows(rec, []int64{9, 9, 9})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int64{8, 26}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A row has the same size in whatever record it comes.
func TestSizeDoesNotDependOnRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rec := arrowtest.Record(t, memory.DefaultAllocator, arrowtest.Schema(t), rapid.IntRange(0, 30).Draw(t, "rows"))
		defer rec.Release()
		whole, err := OfRows(rec, nil)
		if err != nil {
			t.Fatal(err)
		}
		pieces := []int64{}
		for _, piece := range arrowtest.Cut(t, rec) {
			sums, err := OfRows(piece, nil)
			if err != nil {
				t.Fatal(err)
			}
			pieces = append(pieces, sums...)
			piece.Release()
		}
		if diff := cmp.Diff(append([]int64{}, whole...), pieces); diff != "" {
			t.Fatalf("(-whole +pieces):\n%s", diff)
		}
	})
}

func TestTypeWithoutSize(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "big", Type: arrow.BinaryTypes.LargeString}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	rec := b.NewRecord()
	defer rec.Release()
	if _, err := OfRows(rec, nil); !errors.Is(err, ErrType) {
		t.Errorf("error is %v", err)
	}
}
