package cqltype

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseMarshal(t *testing.T) {
	for _, test := range []struct {
		class    string
		want     string
		reversed bool
	}{
		{"org.apache.cassandra.db.marshal.ReversedType(org.apache.cassandra.db.marshal.TimestampType)", "timestamp", true},
		{"ReversedType(FrozenType(ListType(Int32Type)))", "frozen<list<int>>", true},
		{"ReversedType(UserType(ks,61646472,73:UTF8Type))", "frozen<addr>", true},
		{"UTF8Type", "text", false},
		{"UTF8Type()", "text", false},
		{" MapType ( UTF8Type , Int32Type ) ", "map<text, int>", false},
		{"FrozenType(UTF8Type)", "text", false},
		{"DateType", "timestamp", false},
		{"LegacyTimeUUIDType", "timeuuid", false},
		{"ListType(ListType(Int32Type))", "list<frozen<list<int>>>", false},
		{"MapType(UTF8Type,UserType(ks,61646472,73:UTF8Type))", "map<text, frozen<addr>>", false},
		{"TupleType(ListType(Int32Type),UTF8Type)", "frozen<tuple<frozen<list<int>>, text>>", false},
		{"FrozenType(VectorType(ListType(Int32Type) , 2))", "vector<frozen<list<int>>, 2>", false},
		{"VectorType(FloatType,3)", "vector<float, 3>", false},
		{"UserType(ks,4d792054797065)", `"My Type"`, false},
	} {
		got, reversed, err := ParseMarshal(test.class)
		if err != nil {
			t.Error(err)
			continue
		}
		if got.String() != test.want || reversed != test.reversed {
			t.Errorf("%s: %s, reversed %t, want %s, %t", test.class, got, reversed, test.want, test.reversed)
		}
	}
}

func TestParseMarshalUserType(t *testing.T) {
	got, _, err := ParseMarshal("UserType(my_ks,61646472,737472c3a4c39f65:UTF8Type,4e6f:ListType(Int32Type))")
	if err != nil {
		t.Fatal(err)
	}
	want := &Type{Kind: UDT, Keyspace: "my_ks", Name: "addr", Fields: []string{"sträße", "No"}, Elems: []*Type{
		{Kind: Text}, {Kind: List, Frozen: true, Elems: []*Type{{Kind: Int}}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestParseMarshalKey(t *testing.T) {
	for class, want := range map[string]string{
		"org.apache.cassandra.db.marshal.TimeUUIDType": "timeuuid",
		"org.apache.cassandra.db.marshal.CompositeType(org.apache.cassandra.db.marshal.UTF8Type,org.apache.cassandra.db.marshal.SimpleDateType)": "text date",
		"CompositeType(FrozenType(ListType(Int32Type)))": "frozen<list<int>>",
	} {
		types, err := ParseMarshalKey(class)
		if err != nil {
			t.Error(err)
			continue
		}
		var names []string
		for _, typ := range types {
			names = append(names, typ.String())
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %s, want %s", class, got, want)
		}
	}
	for class, want := range map[string]error{
		"CompositeType()":                         ErrSyntax,
		"CompositeType":                           ErrSyntax,
		"CompositeType(UTF8Type":                  ErrSyntax,
		"CompositeType(UTF8Type)x":                ErrSyntax,
		"CompositeType(UTF8Type,LexicalUUIDType)": ErrUnsupportedType,
		"": ErrSyntax,
	} {
		if _, err := ParseMarshalKey(class); !errors.Is(err, want) {
			t.Errorf("%s: error %v, want %v", class, err, want)
		}
	}
}

func TestParseMarshalErrors(t *testing.T) {
	for _, test := range []struct {
		class string
		want  error
		part  string
	}{
		{"", ErrSyntax, "no identifier"},
		{"(", ErrSyntax, "no identifier"},
		{"UTF8Type(Int32Type)", ErrSyntax, "')'"},
		{"ListType", ErrSyntax, "'('"},
		{"ListType()", ErrSyntax, "no identifier"},
		{"ListType(UTF8Type,UTF8Type)", ErrSyntax, "list of 2"},
		{"MapType(UTF8Type)", ErrSyntax, "map of 1"},
		{"FrozenType(UTF8Type,UTF8Type)", ErrSyntax, "2 arguments"},
		{"ReversedType", ErrSyntax, "'('"},
		{"VectorType(FloatType)", ErrSyntax, "','"},
		{"VectorType(FloatType , 0)", ErrSyntax, "vector of 0"},
		{"VectorType(FloatType , 4194305)", ErrUnsupportedType, "vector"},
		{"UserType(ks)", ErrSyntax, "','"},
		{"UserType(ks,6)", ErrSyntax, "hexadecimal"},
		{"UserType(ks,xx)", ErrSyntax, "hexadecimal"},
		{"UserType(ks,ff)", ErrSyntax, "hexadecimal"},
		{"UserType(ks,61,62)", ErrSyntax, "':'"},
		{"UserType(ks,61,62:)", ErrSyntax, "no identifier"},
		{"UTF8Type,UTF8Type", ErrSyntax, "unexpected"},
		{"EmptyType", ErrUnsupportedType, "EmptyType"},
		{"LexicalUUIDType", ErrUnsupportedType, "LexicalUUIDType"},
		{"CompositeType(UTF8Type,Int32Type)", ErrUnsupportedType, "CompositeType"},
		{"DynamicCompositeType(a=>Int32Type)", ErrUnsupportedType, "DynamicCompositeType"},
		{"PartitionerDefinedOrder(UTF8Type)", ErrUnsupportedType, "PartitionerDefinedOrder"},
		{"ListType(ReversedType(Int32Type))", ErrUnsupportedType, "ReversedType"},
		{"ReversedType(ReversedType(Int32Type))", ErrUnsupportedType, "ReversedType"},
		{"com.example.MyType", ErrUnsupportedType, "com.example.MyType"},
		{strings.Repeat("ListType(", maxDepth) + "Int32Type" + strings.Repeat(")", maxDepth), ErrUnsupportedType, "nested deeper than"},
		{strings.Repeat("FrozenType(", 1<<20), ErrUnsupportedType, "nested deeper than"},
	} {
		_, _, err := ParseMarshal(test.class)
		if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.part) {
			t.Errorf("%.80s: error %v, want %v with %q", test.class, err, test.want, test.part)
		}
	}
}

func FuzzParseMarshal(f *testing.F) {
	for _, s := range []string{
		"ReversedType(TimestampType)", "UserType(ks,61,62:MapType(UTF8Type,FrozenType(ListType(Int32Type))))", "VectorType(FloatType , 3)",
		"CompositeType(UTF8Type,TupleType(Int32Type))",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		check := func(err error, types ...*Type) {
			if err != nil {
				if !errors.Is(err, ErrSyntax) && !errors.Is(err, ErrUnsupportedType) {
					t.Errorf("error of no class: %v", err)
				}
				return
			}
			for _, typ := range types {
				if err := typ.check(); err != nil {
					t.Errorf("parsed to a type that is not sound: %v", err)
				}
			}
		}
		typ, _, err := ParseMarshal(s)
		check(err, typ)
		types, err := ParseMarshalKey(s)
		check(err, types...)
	})
}
