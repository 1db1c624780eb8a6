package cqltype

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseStructure(t *testing.T) {
	got := mustParse(t, `map<text, frozen<tuple<int, "My Type">>>`)
	home, _ := testUDTs("address")
	home.Frozen = true
	home.Elems[2].Frozen = true
	want := &Type{Kind: Map, Elems: []*Type{
		{Kind: Text},
		{Kind: Tuple, Frozen: true, Elems: []*Type{
			{Kind: Int},
			{Kind: UDT, Keyspace: "ks", Name: "My Type", Frozen: true, Fields: []string{"a b", "home"}, Elems: []*Type{{Kind: Varint}, home}},
		}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestParseAsksForUDTByExactName(t *testing.T) {
	for text, want := range map[string]string{
		"address": "address", "Address": "address", `"Address"`: "Address", `frozen<"a""b">`: `a"b`, `"text"`: "text", "list2": "list2", `"list<int>"`: "list<int>",
	} {
		var asked string
		typ, err := Parse(text, func(name string) (*Type, error) {
			asked = name
			return &Type{Kind: UDT, Name: name, Frozen: true}, nil
		})
		if err != nil {
			t.Error(err)
			continue
		}
		if asked != want {
			t.Errorf("%s: asked for %q, want %q", text, asked, want)
		}
		again, err := Parse(typ.String(), func(name string) (*Type, error) { return &Type{Kind: UDT, Name: name}, nil })
		if err != nil || again.Name != want {
			t.Errorf("%s: prints %s, which reads back as %+v, %v", text, typ, again, err)
		}
		if frozen := strings.HasPrefix(text, "frozen"); typ.Frozen != frozen {
			t.Errorf("%s: Frozen is %t", text, typ.Frozen)
		}
	}
}

// The types that a UDT's function returns may be shared: freezing them must not show.
func TestParseDoesNotChangeUDT(t *testing.T) {
	shared := &Type{Kind: UDT, Name: "u", Fields: []string{"a"}, Elems: []*Type{{Kind: List, Elems: []*Type{{Kind: Int}}}}}
	typ, err := Parse("frozen<u>", func(string) (*Type, error) { return shared, nil })
	if err != nil {
		t.Fatal(err)
	}
	if shared.Frozen || shared.Elems[0].Frozen {
		t.Error("Parse froze the UDT it was given")
	}
	if !typ.Frozen || !typ.Elems[0].Frozen {
		t.Error("frozen<u> is not frozen throughout")
	}
}

var errNoSuchType = errors.New("no such type")

func TestParseErrors(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("list<", n-1) + "int" + strings.Repeat(">", n-1) }
	if _, err := Parse(deep(maxDepth), nil); err != nil {
		t.Errorf("type of the greatest depth: %v", err)
	}
	for _, test := range []struct {
		text string
		want error
		part string // of the message
	}{
		{"", ErrSyntax, "end of text"},
		{"  ", ErrSyntax, "end of text"},
		{"list", ErrSyntax, "'<'"},
		{"list<", ErrSyntax, "end of text"},
		{"list<int", ErrSyntax, "'>'"},
		{"list<int>>", ErrSyntax, "unexpected"},
		{"list<int,int>", ErrSyntax, "'>'"},
		{"list<>", ErrSyntax, "offset 5"},
		{"map<int>", ErrSyntax, "','"},
		{"tuple<>", ErrSyntax, "offset 6"},
		{"tuple<int,>", ErrSyntax, "offset 10"},
		{"int int", ErrSyntax, "unexpected"},
		{"int<int>", ErrSyntax, "unexpected"},
		{"frozen<int>", ErrSyntax, "frozen<int>"},
		{"vector<int>", ErrSyntax, "','"},
		{"vector<int, 0>", ErrSyntax, "vector of 0"},
		{"vector<int, -1>", ErrSyntax, "vector size"},
		{"vector<int, x>", ErrSyntax, "vector size"},
		{"vector<int, 99999999999999999999>", ErrSyntax, "vector size"},
		{"vector<int, 4194305>", ErrUnsupportedType, "vector"},
		{"vector<vector<int, 4096>, 4096>", ErrUnsupportedType, "vector"},
		{`"`, ErrSyntax, "no closing"},
		{`"a""`, ErrSyntax, "no closing"},
		{"'x", ErrSyntax, "no closing"},
		{"int grün", ErrSyntax, "unexpected"},
		{"_a", ErrSyntax, "'_'"},
		{"nosuch", ErrSyntax, `unknown type "nosuch"`},
		{"empty", ErrUnsupportedType, "empty"},
		{"list<empty>", ErrUnsupportedType, "empty"},
		{"'org.apache.cassandra.db.marshal.DynamicCompositeType(a=>Int32Type)'", ErrUnsupportedType, "DynamicCompositeType(a=>Int32Type)"},
		{"list<'com.example.Custom'>", ErrUnsupportedType, "com.example.Custom"},
		{deep(maxDepth + 1), ErrUnsupportedType, "nested deeper than"},
		{deep(1 << 20), ErrUnsupportedType, "nested deeper than"},
		{strings.Repeat("frozen<", 1<<20), ErrUnsupportedType, "nested deeper than"},
	} {
		_, err := Parse(test.text, nil)
		if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.part) {
			t.Errorf("%.80s: error %v, want %v with %q", test.text, err, test.want, test.part)
		}
		if err != nil && len(err.Error()) > 1000 {
			t.Errorf("%.80s: message of %d bytes", test.text, len(err.Error()))
		}
	}
	if _, err := Parse("list<nosuch>", func(string) (*Type, error) { return nil, errNoSuchType }); !errors.Is(err, errNoSuchType) {
		t.Errorf("error of the UDT function is lost: %v", err)
	}
	if _, err := Parse("x", func(string) (*Type, error) { return nil, nil }); !errors.Is(err, ErrSyntax) {
		t.Errorf("UDT function without an answer: %v", err)
	}
	deepUDT := &Type{Kind: Int}
	for range maxDepth {
		deepUDT = &Type{Kind: UDT, Name: "u", Fields: []string{"a"}, Elems: []*Type{deepUDT}}
	}
	if _, err := Parse("u", func(string) (*Type, error) { return deepUDT, nil }); !errors.Is(err, ErrUnsupportedType) {
		t.Errorf("deep UDT: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"int", "frozen<map<text, frozen<list<vector<float, 3>>>>>", `frozen<"My Type">`, "tuple<int, varchar>", "'a.b.C'", "list<list<", "vector<int,9>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		udt := func(name string) (*Type, error) {
			return &Type{Kind: UDT, Name: name, Fields: []string{"a"}, Elems: []*Type{{Kind: Int}}}, nil
		}
		typ, err := Parse(s, udt)
		if err != nil {
			if !errors.Is(err, ErrSyntax) && !errors.Is(err, ErrUnsupportedType) {
				t.Errorf("error of no class: %v", err)
			}
			return
		}
		again, err := Parse(typ.String(), udt)
		if err != nil {
			t.Fatalf("%s does not read back: %v", typ, err)
		}
		if diff := cmp.Diff(typ, again); diff != "" {
			t.Errorf("%s reads back differently: %s", typ, diff)
		}
	})
}
