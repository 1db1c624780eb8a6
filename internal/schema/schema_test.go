package schema

import (
	"errors"
	"strings"
	"testing"

	"manifest/internal/cqltype"
)

func parse(t *testing.T, s string) *cqltype.Type {
	t.Helper()
	typ, err := cqltype.Parse(s, func(name string) (*cqltype.Type, error) {
		return &cqltype.Type{Kind: cqltype.UDT, Keyspace: "ks", Name: name, Fields: []string{"a"}, Elems: []*cqltype.Type{{Kind: cqltype.Int}}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return typ
}

func imageTable(t *testing.T) *Table {
	table := &Table{Keyspace: "ks", Name: "images", Columns: []Column{
		{Name: "width", Kind: Regular, Type: parse(t, "int")},
		{Name: "Mixed Case", Kind: Regular, Type: parse(t, "text")},
		{Name: "attributes", Kind: Regular, Type: parse(t, "map<text, text>")},
		{Name: "frozen_tags", Kind: Regular, Type: parse(t, "frozen<set<text>>")},
		{Name: "place", Kind: Static, Type: parse(t, "place")},
		{Name: "hits", Kind: Regular, Type: parse(t, "counter")},
		{Name: "day", Kind: PartitionKey, Type: parse(t, "date")},
		{Name: "device", Kind: PartitionKey, Type: parse(t, "text")},
		{Name: "taken", Kind: Clustering, Type: parse(t, "timestamp"), Descending: true},
	}}
	Sort(table.Columns, func(name string) int { return map[string]int{"device": 0, "day": 1}[name] })
	return table
}

func TestColumnsComeInTheOrderOfSelectStar(t *testing.T) {
	got := strings.Join(imageTable(t).Names(), ",")
	if want := "device,day,taken,place,Mixed Case,attributes,frozen_tags,hits,width"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSelect(t *testing.T) {
	for _, c := range []struct{ name, wantType string }{
		{"width", "int"},
		{"Mixed Case", "text"},
		{"writetime(width)", "bigint"},
		{"writetime(Mixed Case)", "bigint"},
		{"ttl(width)", "int"},
		{"writetime(frozen_tags)", "bigint"},
	} {
		got, err := imageTable(t).Select([]string{c.name})
		if err != nil || got[0].Type.String() != c.wantType || got[0].Name != c.name {
			t.Errorf("%s: got %v, %v, want type %s", c.name, got, err, c.wantType)
		}
	}
}

func TestSelectNamesEveryFault(t *testing.T) {
	_, err := imageTable(t).Select([]string{"widht", "width", "ttl(device)", "writetime(attributes)", "ttl(hits)", "writetime(place)", "count(width)"})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		`column "widht" of ks.images: no such column`,
		`column "ttl(device)" of ks.images: a key column has no ttl`,
		`column "writetime(attributes)" of ks.images: attributes of map<text, text> has one writetime per element`,
		`column "ttl(hits)" of ks.images: a counter has no ttl`,
		`column "writetime(place)" of ks.images`,
		`column "count(width)" of ks.images: no such column`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nlacks: %s", err, want)
		}
	}
	if !errors.Is(err, ErrNoColumn) {
		t.Errorf("%v is not %v", err, ErrNoColumn)
	}
}

func TestHashChangesWithWhatIsRead(t *testing.T) {
	base := imageTable(t).Hash()
	if imageTable(t).Hash() != base {
		t.Error("the same table has two hashes")
	}
	for name, change := range map[string]func(*Table){
		"type":     func(t *Table) { t.Columns[4].Type = &cqltype.Type{Kind: cqltype.Bigint} },
		"name":     func(t *Table) { t.Columns[4].Name = "other" },
		"kind":     func(t *Table) { t.Columns[3].Kind = Regular },
		"order":    func(t *Table) { t.Columns[2].Descending = false },
		"dropped":  func(t *Table) { t.Columns = t.Columns[:8] },
		"table":    func(t *Table) { t.Name = "other" },
		"keyspace": func(t *Table) { t.Keyspace = "other" },
	} {
		table := imageTable(t)
		change(table)
		if table.Hash() == base {
			t.Errorf("%s: the hash did not change", name)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"image_id", "width", "height", "capture_time"}
	for name, want := range map[string]string{
		"widht": "width", "Width": "width", "captur_time": "capture_time", "imageid": "image_id", "colour": "", "": "", "hieght": "height",
	} {
		if got := Nearest(name, known); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func TestOnlySomePartitionKeysAreNeverNull(t *testing.T) {
	nullable := func(table *Table, name string) bool {
		t.Helper()
		selected, err := table.Select([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		s, err := table.Arrow(selected)
		if err != nil {
			t.Fatal(err)
		}
		return s.Field(0).Nullable
	}
	composite := imageTable(t) // partition key (device text, day date)
	single := &Table{Columns: []Column{{Name: "id", Kind: PartitionKey, Type: parse(t, "timeuuid")}}}
	for _, c := range []struct {
		table *Table
		name  string
		want  bool
	}{{composite, "device", false}, {composite, "day", true}, {composite, "taken", true}, {composite, "width", true}, {single, "id", false}} {
		if got := nullable(c.table, c.name); got != c.want {
			t.Errorf("%s: nullable %v, want %v", c.name, got, c.want)
		}
	}
}
