package export

import (
	"fmt"
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"manifest/internal/cqltype"
)

// everyType is a record with a column of every CQL type, alone and nested, and
// rows of ordinary, NULL, empty, and extreme values.
func everyType(t testing.TB) (arrow.Record, []string) {
	t.Helper()
	address := &cqltype.Type{
		Kind: cqltype.UDT, Keyspace: "k", Name: "address",
		Fields: []string{"street", "zip"},
		Elems:  []*cqltype.Type{{Kind: cqltype.Text}, {Kind: cqltype.Int}},
	}
	udt := func(name string) (*cqltype.Type, error) {
		if name != "address" {
			return nil, fmt.Errorf("no type %s", name)
		}
		return address, nil
	}
	var fields []arrow.Field
	var names []string
	add := func(name, cql string, nullable bool) {
		typ, err := cqltype.Parse(cql, udt)
		if err != nil {
			t.Fatal(err)
		}
		f, err := typ.Field(name, nullable)
		if err != nil {
			t.Fatal(err)
		}
		fields = append(fields, f)
		names = append(names, name)
	}
	add("row", "int", false)
	for _, cql := range []string{"ascii", "bigint", "blob", "boolean", "counter", "date", "decimal", "double", "duration", "float",
		"inet", "int", "smallint", "text", "time", "timestamp", "timeuuid", "tinyint", "uuid", "varint"} {
		add("c_"+cql, cql, true)
	}
	add("c_list", "list<text>", true)
	add("c_set", "set<uuid>", true)
	add("c_map", "map<text, timestamp>", true)
	add("c_tuple", "tuple<int, text>", true)
	add("c_udt", "frozen<address>", true)
	add("c_vector", "vector<float, 3>", true)
	add("c_nested", "map<uuid, frozen<list<frozen<tuple<date, frozen<set<text>>>>>>>", true)
	add("Mixed Case, with \"comma\"", "text", true)

	schema := arrow.NewSchema(fields, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for row := range typeRows {
		for i, f := range fields {
			appendTyped(t, b.Field(i), f, row)
		}
	}
	return b.NewRecord(), names
}

// The rows of everyType: ordinary values, NULL everywhere, empty or zero, least, greatest.
const (
	ordinaryRow = iota
	nullRow
	emptyRow
	leastRow
	greatestRow
	typeRows
)

// appendTyped appends the value that a type has in a row.
func appendTyped(t testing.TB, b array.Builder, f arrow.Field, row int) {
	t.Helper()
	if row == nullRow && f.Nullable {
		b.AppendNull()
		return
	}
	cql, _ := f.Metadata.GetValue("cql")
	switch b := b.(type) {
	case *array.StringBuilder:
		switch cql {
		case "ascii":
			b.Append([]string{"plain", "", "", "\x00", "~"}[row])
		case "decimal":
			b.Append([]string{"12.50", "", "0E-10", "-99999999999999999999999999999999999999.999", "1E+2147483647"}[row])
		case "varint":
			b.Append([]string{"42", "", "0", "-170141183460469231731687303715884105729", "170141183460469231731687303715884105728"}[row])
		case "inet":
			b.Append([]string{"192.0.2.1", "", "0.0.0.0", "::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"}[row])
		default:
			b.Append([]string{"叶片病斑 🌿 \"q\", 'x'\n", "", "", "\x01", "\U0010ffff"}[row])
		}
	case *array.BinaryBuilder:
		b.Append([][]byte{{0, 1, 255}, nil, {}, {0}, {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255}}[row])
	case *array.BooleanBuilder:
		b.Append(row == ordinaryRow || row == greatestRow)
	case *array.Int8Builder:
		b.Append([]int8{5, 0, 0, math.MinInt8, math.MaxInt8}[row])
	case *array.Int16Builder:
		b.Append([]int16{5, 0, 0, math.MinInt16, math.MaxInt16}[row])
	case *array.Int32Builder:
		if f.Name == "row" {
			b.Append(int32(row))
			return
		}
		b.Append([]int32{5, 0, 0, math.MinInt32, math.MaxInt32}[row])
	case *array.Int64Builder:
		b.Append([]int64{5, 0, 0, math.MinInt64, math.MaxInt64}[row])
	case *array.Float32Builder:
		b.Append([]float32{0.1, 0, float32(math.NaN()), float32(math.Inf(-1)), math.MaxFloat32}[row])
	case *array.Float64Builder:
		b.Append([]float64{0.1, 0, math.NaN(), math.Inf(-1), math.MaxFloat64}[row])
	case *array.Date32Builder:
		b.Append(arrow.Date32([]int32{20240, 0, 0, -719162, 2932896}[row])) // 0001-01-01 and 9999-12-31
	case *array.Time64Builder:
		b.Append(arrow.Time64([]int64{45_296_789_012_000, 0, 0, 1_000, 86_399_999_999_000}[row]))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp([]int64{1_748_781_296_789, 0, 0, -62_135_596_800_000, 253_402_300_799_999}[row]))
	case *array.FixedSizeBinaryBuilder:
		id := [][]byte{{0x55, 0x0e, 0x84, 0, 0xe2, 0x9b, 0x11, 0xd4, 0xa7, 0x16, 0x44, 0x66, 0x55, 0x44, 0, 0}, nil, make([]byte, 16), make([]byte, 16), nil}[row]
		if row == greatestRow {
			for range 16 {
				id = append(id, 255)
			}
		}
		b.Append(id)
	case *array.StructBuilder:
		b.Append(true)
		for i, child := range b.Type().(*arrow.StructType).Fields() {
			appendTyped(t, b.FieldBuilder(i), child, row)
		}
	case *array.MapBuilder:
		b.Append(true)
		if row == emptyRow {
			return
		}
		typ := b.Type().(*arrow.MapType)
		appendTyped(t, b.KeyBuilder(), arrow.Field{Type: typ.KeyType()}, row)
		appendTyped(t, b.ItemBuilder(), arrow.Field{Type: typ.ItemType()}, row)
	case *array.ListBuilder:
		b.Append(true)
		if row == emptyRow {
			return
		}
		elem := arrow.Field{Type: b.Type().(*arrow.ListType).Elem()}
		appendTyped(t, b.ValueBuilder(), elem, row)
		if row == ordinaryRow {
			appendTyped(t, b.ValueBuilder(), elem, greatestRow)
		}
	case *array.FixedSizeListBuilder:
		b.Append(true)
		for range b.Type().(*arrow.FixedSizeListType).Len() {
			appendTyped(t, b.ValueBuilder(), arrow.Field{Type: b.Type().(*arrow.FixedSizeListType).Elem()}, row)
		}
	default:
		t.Fatalf("no values of type %s", b.Type())
	}
}
