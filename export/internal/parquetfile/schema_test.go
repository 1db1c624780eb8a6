package parquetfile

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go/format"
)

// The schema as other readers see it: names and order kept, three-level lists
// and maps, signed integers, flags of time, field ids that stay.
func TestSchemaInFile(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "z, first", Type: arrow.BinaryTypes.String},
		{Name: "a", Type: arrow.PrimitiveTypes.Int8, Nullable: true},
		{Name: "tags", Type: arrow.ListOfField(arrow.Field{Name: "item", Type: arrow.BinaryTypes.String}), Nullable: true},
		{Name: "m", Type: arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64)},
		{Name: "pairs", Type: arrow.ListOfField(arrow.Field{Name: "element", Nullable: false, Type: arrow.StructOf(
			arrow.Field{Name: "key", Type: arrow.BinaryTypes.String},
			arrow.Field{Name: "value", Type: arrow.BinaryTypes.String, Nullable: true})})},
		{Name: "at", Type: &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}},
		{Name: "local", Type: &arrow.TimestampType{Unit: arrow.Microsecond}},
		{Name: "time", Type: &arrow.Time64Type{Unit: arrow.Nanosecond}},
		{Name: "id", Type: &arrow.FixedSizeBinaryType{ByteWidth: 16}, Metadata: arrow.NewMetadata([]string{ExtensionKey, FieldIDKey}, []string{ExtensionUUID, "77"})},
		{Name: "vector", Type: arrow.FixedSizeListOfNonNullable(3, arrow.PrimitiveTypes.Float32)},
	}, nil)
	data := writeAll(t, schema, Options{Metadata: map[string]string{"b": "2", "a": "1"}, Sorting: []SortingColumn{{Path: "a", Descending: true}}})
	f, err := readFooter(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range f.meta.Schema[1:] {
		var b strings.Builder
		b.WriteString(e.RepetitionType.V.String())
		if e.Type.Valid {
			b.WriteString(" " + e.Type.V.String())
		}
		b.WriteString(" " + e.Name)
		if e.LogicalType.Value != nil {
			b.WriteString(" " + e.LogicalType.String())
		}
		got = append(got, strings.TrimSpace(b.String())+" = "+itoa(e.FieldID))
	}
	want := []string{
		"REQUIRED BYTE_ARRAY z, first STRING = 1",
		"OPTIONAL INT32 a INT(8,true) = 2",
		"OPTIONAL tags LIST = 3",
		"REPEATED list = 0",
		"REQUIRED BYTE_ARRAY element STRING = 30001",
		"REQUIRED m MAP = 4",
		"REPEATED key_value = 0",
		"REQUIRED BYTE_ARRAY key STRING = 40001",
		"OPTIONAL INT64 value INT(64,true) = 40002",
		"REQUIRED pairs LIST = 5",
		"REPEATED list = 0",
		"REQUIRED element = 50001",
		"REQUIRED BYTE_ARRAY key STRING = 50002",
		"OPTIONAL BYTE_ARRAY value STRING = 50003",
		"REQUIRED INT64 at TIMESTAMP(isAdjustedToUTC=true,unit=MICROS) = 6",
		"REQUIRED INT64 local TIMESTAMP(isAdjustedToUTC=false,unit=MICROS) = 7",
		"REQUIRED INT64 time TIME(isAdjustedToUTC=false,unit=NANOS) = 8",
		"REQUIRED FIXED_LEN_BYTE_ARRAY id UUID = 77",
		"REQUIRED vector LIST = 10",
		"REPEATED list = 0",
		"REQUIRED FLOAT element = 100001",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]format.KeyValue{{Key: "a", Value: "1"}, {Key: "b", Value: "2"}}, []format.KeyValue(f.meta.KeyValueMetadata)); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
}

func itoa(n int32) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}

func TestSchemaErrorsNameEveryColumn(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "ok", Type: arrow.BinaryTypes.String},
		{Name: "u", Type: arrow.PrimitiveTypes.Uint32},
		{Name: "n", Type: arrow.Null},
		{Name: "deep", Type: arrow.ListOf(arrow.StructOf(arrow.Field{Name: "x", Type: &arrow.TimestampType{Unit: arrow.Nanosecond}}))},
		{Name: "ok", Type: arrow.BinaryTypes.String},
		{Name: "paris", Type: &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "Europe/Paris"}},
	}, nil)
	_, err := NewWriter(new(bytes.Buffer), schema, Options{})
	if !errors.Is(err, ErrSchema) {
		t.Fatalf("error is %v", err)
	}
	for _, name := range []string{`"u"`, `"n"`, `"deep"`, `"ok" is there twice`, `Europe/Paris`} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("error does not name %s: %v", name, err)
		}
	}
}

func TestNullInRequiredColumn(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "l", Type: arrow.ListOfField(arrow.Field{Name: "element", Type: arrow.BinaryTypes.String})}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	b.Field(0).(*array.ListBuilder).Append(true)
	b.Field(0).(*array.ListBuilder).ValueBuilder().AppendNull()
	rec := b.NewRecord()
	defer rec.Release()
	w, err := NewWriter(new(bytes.Buffer), schema, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(rec); !errors.Is(err, ErrNullInRequired) || !strings.Contains(err.Error(), "l.list.element") {
		t.Errorf("error is %v", err)
	}
	if _, err := w.Close(); !errors.Is(err, ErrNullInRequired) {
		t.Errorf("Close after an error gives %v", err)
	}
}

func TestRecordOfAnotherSchema(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "t", Type: arrow.BinaryTypes.Binary}}, nil)
	other := arrow.NewSchema([]arrow.Field{{Name: "t", Type: arrow.BinaryTypes.String}}, nil)
	rec := textRecord(t, other, func(int) string { return "x" }, 1)
	defer rec.Release()
	w, err := NewWriter(new(bytes.Buffer), schema, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(rec); !errors.Is(err, ErrSchema) {
		t.Errorf("error is %v", err)
	}
}

func TestOptionsReportAllFaults(t *testing.T) {
	err := Options{RowGroupRows: -1, PageBytes: 1 << 30, Parallelism: -2}.Validate()
	for _, part := range []string{"row group rows", "page bytes", "parallelism"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error does not name %s: %v", part, err)
		}
	}
}

func TestDictionaryByDefault(t *testing.T) {
	for name, want := range map[string]bool{"device_id": true, "tag": true, "status": true, "object_key": false, "content_hash": false, "uri": false, "Path": false, "keyed": true} {
		if got := DictionaryByDefault(arrow.Field{Name: name}, arrow.BinaryTypes.String); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	uuid := arrow.Field{Name: "image_id", Metadata: arrow.NewMetadata([]string{"cql"}, []string{"timeuuid"})}
	if DictionaryByDefault(uuid, arrow.BinaryTypes.String) {
		t.Error("timeuuid is dictionary encoded")
	}
	if DictionaryByDefault(arrow.Field{Name: "n"}, arrow.PrimitiveTypes.Int64) {
		t.Error("numbers are dictionary encoded")
	}
}
