package cqltype

import (
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/google/go-cmp/cmp"
)

// The mapping that the files of the program promise, in Arrow's own notation.
func TestArrow(t *testing.T) {
	for cql, want := range map[string]string{
		"ascii": "utf8", "text": "utf8", "varchar": "utf8", "blob": "binary", "boolean": "bool", "tinyint": "int8", "smallint": "int16", "int": "int32",
		"bigint": "int64", "counter": "int64", "float": "float32", "double": "float64", "varint": "utf8", "decimal": "utf8",
		"timestamp": "timestamp[ms, tz=UTC]", "date": "date32", "time": "time64[ns]", "uuid": "fixed_size_binary[16]",
		"timeuuid": "fixed_size_binary[16]", "inet": "utf8", "duration": "struct<months: int32, days: int32, nanoseconds: int64>",
		"list<int>":                 "list<element: int32, nullable>",
		"frozen<set<text>>":         "list<element: utf8, nullable>",
		"map<text, bigint>":         "map<utf8, int64, items_nullable>",
		"tuple<int, text>":          "struct<0: int32, 1: utf8>",
		"vector<float, 3>":          "fixed_size_list<element: float32>[3]",
		"address":                   "struct<street: utf8, No: int32, tags: list<element: utf8, nullable>>",
		"list<frozen<tuple<date>>>": "list<element: struct<0: date32>, nullable>",
	} {
		typ := mustParse(t, cql)
		dt, err := typ.Arrow()
		if err != nil {
			t.Error(err)
			continue
		}
		if dt.String() != want {
			t.Errorf("%s: %s, want %s", cql, dt, want)
		}
	}
	dt, _ := mustParse(t, "tuple<int, duration>").Arrow()
	fields := dt.(*arrow.StructType).Fields()
	if !fields[0].Nullable || !fields[1].Nullable {
		t.Error("fields of a tuple are not nullable")
	}
	if fields[1].Type.(*arrow.StructType).Field(0).Nullable {
		t.Error("months of a duration are nullable")
	}
}

func TestField(t *testing.T) {
	f, err := mustParse(t, `map<varchar, frozen<list<"My Type">>>`).Field("attributes", true)
	if err != nil {
		t.Fatal(err)
	}
	if f.Name != "attributes" || !f.Nullable {
		t.Errorf("field %v", f)
	}
	if got, want := f.Metadata.ToMap(), map[string]string{"cql": `map<text, frozen<list<frozen<"My Type">>>>`}; !cmp.Equal(got, want) {
		t.Errorf("metadata %v, want %v", got, want)
	}
	if f, _ = mustParse(t, "int").Field("width", false); f.Nullable {
		t.Error("nullable")
	}
}

func TestArrowRefusesWhatIsNoType(t *testing.T) {
	for _, typ := range []*Type{
		{}, {Kind: 99}, {Kind: List}, {Kind: Map, Elems: []*Type{{Kind: Int}}}, {Kind: Tuple}, {Kind: Int, Elems: []*Type{{Kind: Int}}},
		{Kind: UDT, Elems: []*Type{{Kind: Int}}, Name: "u"}, {Kind: UDT}, {Kind: Vector, Elems: []*Type{{Kind: Int}}}, {Kind: Set, Elems: []*Type{{}}},
	} {
		if dt, err := typ.Arrow(); !errors.Is(err, ErrSyntax) {
			t.Errorf("%+v: %v, %v", typ, dt, err)
		}
		if f, err := typ.Field("c", true); !errors.Is(err, ErrSyntax) || !strings.Contains(err.Error(), `"c"`) {
			t.Errorf("%+v: %v, %v", typ, f, err)
		}
		if a, err := NewAppender(typ, nil); !errors.Is(err, ErrSyntax) {
			t.Errorf("%+v: %v, %v", typ, a, err)
		}
	}
}

func TestOfField(t *testing.T) {
	for _, row := range readGolden(t, "types.tsv", 4) {
		typ := mustParse(t, row[0])
		f, err := typ.Field("c", true)
		if err != nil {
			t.Fatal(err)
		}
		got, err := OfField(f)
		if err != nil {
			t.Error(err)
			continue
		}
		if diff := cmp.Diff(withoutKeyspace(typ), got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", row[0], diff)
		}
	}
}

// withoutKeyspace copies a type as Arrow fields keep it.
func withoutKeyspace(t *Type) *Type {
	c := *t
	c.Keyspace, c.Elems = "", nil
	for _, e := range t.Elems {
		c.Elems = append(c.Elems, withoutKeyspace(e))
	}
	return &c
}

func TestOfFieldErrors(t *testing.T) {
	cql := func(text string) arrow.Metadata { return arrow.NewMetadata([]string{MetadataKey}, []string{text}) }
	str, i32 := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32
	deep := arrow.Field{Name: "leaf", Type: i32, Metadata: cql("int")}
	for range maxDepth {
		deep = arrow.Field{Name: "u", Type: arrow.StructOf(deep), Metadata: cql("u"), Nullable: true}
	}
	for name, f := range map[string]arrow.Field{
		"no metadata":          {Name: "bad", Type: str},
		"no type":              {Name: "bad", Type: str, Metadata: cql("list<")},
		"other native":         {Name: "bad", Type: str, Metadata: cql("int")},
		"list is no list":      {Name: "bad", Type: str, Metadata: cql("list<int>")},
		"other element":        {Name: "bad", Type: arrow.ListOfField(arrow.Field{Name: "element", Type: str, Nullable: true}), Metadata: cql("list<int>")},
		"map is no map":        {Name: "bad", Type: arrow.ListOf(str), Metadata: cql("map<text, int>")},
		"tuple is no struct":   {Name: "bad", Type: str, Metadata: cql("tuple<int>")},
		"tuple too short":      {Name: "bad", Type: arrow.StructOf(arrow.Field{Name: "0", Type: i32, Nullable: true}), Metadata: cql("tuple<int, int>")},
		"UDT is no struct":     {Name: "bad", Type: str, Metadata: cql("u")},
		"UDT of bare fields":   {Name: "bad", Type: arrow.StructOf(arrow.Field{Name: "a", Type: i32, Nullable: true}), Metadata: cql("u")},
		"vector of other size": {Name: "bad", Type: arrow.FixedSizeListOfField(2, arrow.Field{Name: "element", Type: i32}), Metadata: cql("vector<int, 3>")},
		"UDTs too deep":        {Name: "bad", Type: deep.Type, Metadata: cql("u")},
	} {
		if typ, err := OfField(f); err == nil || !strings.Contains(err.Error(), `"bad"`) {
			t.Errorf("%s: %v, error %v", name, typ, err)
		}
	}
}
