package shape

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"manifest/export/internal/arrowtest"
)

// model shapes one value of arrowtest.Value as the package comment says.
func (o Options) model(t arrow.DataType, v any) any {
	if v == nil {
		return nil
	}
	switch t := t.(type) {
	case *arrow.FixedSizeBinaryType:
		if o.UUID == UUIDString {
			h := hex.EncodeToString([]byte(v.(string)))
			return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
		}
	case *arrow.TimestampType:
		if t.Unit == arrow.Millisecond && o.Timestamp == TimestampMicros {
			ms := v.(int64)
			return min(max(ms, -9223372036854775), 9223372036854775) * 1000
		}
	case *arrow.Time64Type:
		switch {
		case t.Unit != arrow.Nanosecond:
		case o.Time == TimeString:
			return time.Unix(0, v.(int64)).UTC().Format("15:04:05.000000000")
		case o.Time == TimeMicros:
			return v.(int64) / 1000
		}
	case *arrow.MapType:
		list := []any{}
		for _, pair := range v.([]any) {
			kv := pair.([]any)
			list = append(list, []any{o.model(t.KeyType(), kv[0]), o.model(t.ItemType(), kv[1])})
		}
		return list
	case *arrow.StructType:
		var fields []any
		for i, f := range v.([]any) {
			fields = append(fields, o.model(t.Field(i).Type, f))
		}
		return fields
	case arrow.ListLikeType:
		list := []any{}
		for _, e := range v.([]any) {
			list = append(list, o.model(t.Elem(), e))
		}
		return list
	}
	return v
}

// Shaped values are those of a model that shapes value by value; for whole
// records as for slices of them.
func TestShapeAgreesWithModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
		schema := arrowtest.Schema(t)
		opts := Options{
			UUID:      rapid.SampledFrom([]UUID{UUIDString, UUIDBinary}).Draw(t, "uuid"),
			Map:       rapid.SampledFrom([]Map{MapList, MapNative}).Draw(t, "map"),
			Timestamp: rapid.SampledFrom([]Timestamp{TimestampMicros, TimestampMillis}).Draw(t, "timestamp"),
			NoZone:    rapid.Bool().Draw(t, "no zone"),
			Time:      rapid.SampledFrom([]Time{TimeString, TimeNanos, TimeMicros}).Draw(t, "time"),
			Unfit:     UnfitClamp,
		}
		var names []string
		for _, f := range rapid.Permutation(schema.Fields()).Draw(t, "columns") {
			names = append(names, f.Name)
		}
		s, err := New(schema, names, opts)
		if err != nil {
			t.Fatal(err)
		}
		whole := arrowtest.Record(t, mem, schema, rapid.IntRange(0, 40).Draw(t, "rows"))
		from := rapid.Int64Range(0, whole.NumRows()).Draw(t, "from")
		rec := whole.NewSlice(from, rapid.Int64Range(from, whole.NumRows()).Draw(t, "to"))

		got, err := s.Apply(mem, rec, s.NewCounts())
		if err != nil {
			t.Fatal(err)
		}
		want := [][]any{}
		for _, row := range arrowtest.Rows(rec) {
			var shaped []any
			for _, name := range names {
				i := schema.FieldIndices(name)[0]
				shaped = append(shaped, opts.model(schema.Field(i).Type, row[i]))
			}
			want = append(want, shaped)
		}
		if diff := cmp.Diff(want, arrowtest.Rows(got)); diff != "" {
			t.Fatalf("shaped (-want +got):\n%s", diff)
		}
		if !got.Schema().Equal(s.Schema()) {
			t.Fatalf("schema is %s", got.Schema())
		}
		for i, col := range got.Columns() {
			if !arrow.TypeEqual(col.DataType(), s.Schema().Field(i).Type) {
				t.Fatalf("column %d is %s, its field %s", i, col.DataType(), s.Schema().Field(i).Type)
			}
		}
		got.Release()
		rec.Release()
		whole.Release()
		mem.AssertSize(failer{t}, 0)
	})
}

// failer makes rapid's T do for AssertSize.
type failer struct{ *rapid.T }

func (failer) Helper() {}

func TestSchemaOfShape(t *testing.T) {
	uuid := &arrow.FixedSizeBinaryType{ByteWidth: 16}
	in := arrow.NewSchema([]arrow.Field{
		{Name: "image_id", Type: uuid, Metadata: arrow.NewMetadata([]string{"cql"}, []string{"timeuuid"})},
		{Name: "at", Type: arrow.FixedWidthTypes.Timestamp_ms, Nullable: true},
		{Name: "attributes", Type: arrow.MapOf(arrow.BinaryTypes.String, arrow.FixedWidthTypes.Timestamp_ms), Nullable: true},
		{Name: "time", Type: arrow.FixedWidthTypes.Time64ns, Nullable: true},
		{Name: "vector", Type: arrow.FixedSizeListOfField(3, arrow.Field{Name: "item", Type: arrow.PrimitiveTypes.Float32}), Nullable: true},
	}, nil)
	for _, tt := range []struct {
		name string
		opts Options
		want []string
	}{
		{"default", Options{}, []string{
			"image_id utf8", "at timestamp[us, tz=UTC]",
			"attributes list<element: struct<key: utf8, value: timestamp[us, tz=UTC]>>",
			"time utf8", "vector fixed_size_list<element: float32>[3]"}},
		{"for statistics", Options{NoZone: true, Time: TimeMicros, Map: MapJSON}, []string{
			"image_id utf8", "at timestamp[us]", "attributes utf8", "time time64[us]", "vector fixed_size_list<element: float32>[3]"}},
		{"native", Options{UUID: UUIDBinary, Timestamp: TimestampMillis, Map: MapNative, Time: TimeNanos}, []string{
			"image_id fixed_size_binary[16]", "at timestamp[ms, tz=UTC]",
			"attributes map<utf8, timestamp[ms, tz=UTC], items_nullable>",
			"time time64[ns]", "vector fixed_size_list<element: float32>[3]"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := New(in, nil, tt.opts)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range s.Schema().Fields() {
				text := strings.NewReplacer(", nullable", "", " not null", "").Replace(f.Type.String())
				got = append(got, f.Name+" "+text)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("schema (-want +got):\n%s", diff)
			}
			if s.Schema().Field(0).Nullable || !s.Schema().Field(1).Nullable {
				t.Error("nullability changed")
			}
			if cql, _ := s.Schema().Field(0).Metadata.GetValue("cql"); cql != "timeuuid" {
				t.Errorf("CQL type became %q", cql)
			}
		})
	}
}

func TestUnfitValues(t *testing.T) {
	list := arrow.ListOfField(arrow.Field{Name: "element", Type: arrow.FixedWidthTypes.Timestamp_ms, Nullable: true})
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "device", Type: arrow.BinaryTypes.String},
		{Name: "day", Type: arrow.FixedWidthTypes.Date32},
		{Name: "at", Type: arrow.FixedWidthTypes.Timestamp_ms, Nullable: true},
		{Name: "times", Type: list, Nullable: true},
	}, nil)
	build := func(flat []int64, nested ...[]int64) arrow.Record {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		defer b.Release()
		for i, v := range flat {
			b.Field(0).(*array.StringBuilder).Append(fmt.Sprintf("leaf-%d", i))
			b.Field(1).(*array.Date32Builder).Append(arrow.Date32(20240 + i))
			b.Field(2).(*array.TimestampBuilder).Append(arrow.Timestamp(v))
			l := b.Field(3).(*array.ListBuilder)
			l.Append(true)
			for _, n := range nested[i] {
				l.ValueBuilder().(*array.TimestampBuilder).Append(arrow.Timestamp(n))
			}
		}
		return b.NewRecord()
	}
	const last, first = 9223372036854775, -9223372036854775 // ms whose microseconds an int64 holds
	t.Run("ends of range fit", func(t *testing.T) {
		s := mustNew(t, schema, Options{})
		rec, err := s.Apply(memory.DefaultAllocator, build([]int64{last, first}, nil, nil), s.NewCounts())
		if err != nil {
			t.Fatal(err)
		}
		if got := rec.Column(2).(*array.Timestamp).TimestampValues(); got[0] != last*1000 || got[1] != first*1000 {
			t.Errorf("values are %v", got)
		}
	})
	t.Run("error names the place", func(t *testing.T) {
		s := mustNew(t, schema, Options{Partition: []string{"device", "day"}})
		_, err := s.Apply(memory.DefaultAllocator, build([]int64{0, last + 1}, nil, nil), s.NewCounts())
		want := `column "at" in partition (device=leaf-1, day=2025-06-02): +294247-01-10T04:00:54.776Z does not fit timestamp[us, tz=UTC]`
		if !errors.Is(err, ErrUnfit) || err.Error() != want {
			t.Errorf("error is  %v\nwant %s", err, want)
		}
	})
	t.Run("error in a list names the row", func(t *testing.T) {
		s := mustNew(t, schema, Options{Partition: []string{"device"}})
		rec := build([]int64{0, 0, 0, 0}, []int64{1, 2}, nil, []int64{3, math.MinInt64}, []int64{4}).NewSlice(1, 4)
		_, err := s.Apply(memory.DefaultAllocator, rec, s.NewCounts())
		if !errors.Is(err, ErrUnfit) || !strings.Contains(err.Error(), `"times" in partition (device=leaf-2)`) {
			t.Errorf("error is %v", err)
		}
	})
	t.Run("clamp", func(t *testing.T) {
		s := mustNew(t, schema, Options{Unfit: UnfitClamp})
		counts := s.NewCounts()
		rec, err := s.Apply(memory.DefaultAllocator, build([]int64{math.MaxInt64, 5}, []int64{math.MinInt64, math.MaxInt64}, nil), counts)
		if err != nil {
			t.Fatal(err)
		}
		want := [][]any{{"leaf-0", int64(20240), int64(last * 1000), []any{int64(first * 1000), int64(last * 1000)}}, {"leaf-1", int64(20241), int64(5000), []any{}}}
		if diff := cmp.Diff(want, arrowtest.Rows(rec)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(Counts{0, 0, 1, 2}, counts); diff != "" {
			t.Errorf("counts (-want +got):\n%s", diff)
		}
	})
	t.Run("null", func(t *testing.T) {
		s := mustNew(t, schema, Options{Unfit: UnfitNull})
		counts := s.NewCounts()
		rec, err := s.Apply(memory.DefaultAllocator, build([]int64{math.MaxInt64, 5}, []int64{6, math.MaxInt64}, nil), counts)
		if err != nil {
			t.Fatal(err)
		}
		want := [][]any{{"leaf-0", int64(20240), nil, []any{int64(6000), nil}}, {"leaf-1", int64(20241), int64(5000), []any{}}}
		if diff := cmp.Diff(want, arrowtest.Rows(rec)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(Counts{0, 0, 1, 1}, counts); diff != "" {
			t.Errorf("counts (-want +got):\n%s", diff)
		}
	})
}

func mustNew(t *testing.T, schema *arrow.Schema, opts Options) *Shape {
	t.Helper()
	s, err := New(schema, nil, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestNullWhereNullIsNotAllowedStaysAnError(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "at", Type: arrow.FixedWidthTypes.Timestamp_ms}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	b.Field(0).(*array.TimestampBuilder).Append(math.MaxInt64)
	rec := b.NewRecord()
	defer rec.Release()
	s := mustNew(t, schema, Options{Unfit: UnfitNull})
	if _, err := s.Apply(memory.DefaultAllocator, rec, s.NewCounts()); !errors.Is(err, ErrUnfit) {
		t.Errorf("error is %v", err)
	}
}

func TestMapAsJSON(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "m", Type: arrow.MapOf(&arrow.FixedSizeBinaryType{ByteWidth: 16}, arrow.BinaryTypes.String), Nullable: true}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	m := b.Field(0).(*array.MapBuilder)
	m.Append(true)
	m.KeyBuilder().(*array.FixedSizeBinaryBuilder).Append(make([]byte, 16))
	m.ItemBuilder().(*array.StringBuilder).Append("叶\"")
	m.Append(true)
	m.AppendNull()
	rec := b.NewRecord()
	defer rec.Release()
	s := mustNew(t, schema, Options{Map: MapJSON})
	got, err := s.Apply(memory.DefaultAllocator, rec, s.NewCounts())
	if err != nil {
		t.Fatal(err)
	}
	want := [][]any{{`{"00000000-0000-0000-0000-000000000000":"叶\""}`}, {"{}"}, {nil}}
	if diff := cmp.Diff(want, arrowtest.Rows(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestColumnsThatDoNotFit(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int32}}, nil)
	_, err := New(schema, []string{"a", "b", "c"}, Options{})
	if !errors.Is(err, ErrColumn) || !strings.Contains(err.Error(), `"b"`) || !strings.Contains(err.Error(), `"c"`) {
		t.Errorf("error is %v", err)
	}
	s := mustNew(t, schema, Options{})
	other := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, other)
	defer b.Release()
	rec := b.NewRecord()
	defer rec.Release()
	if _, err := s.Apply(memory.DefaultAllocator, rec, s.NewCounts()); !errors.Is(err, ErrColumn) {
		t.Errorf("error is %v", err)
	}
}
