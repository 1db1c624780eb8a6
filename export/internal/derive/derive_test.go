package derive

import (
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"pgregory.net/rapid"
)

func schema() *arrow.Schema {
	text := arrow.BinaryTypes.String
	return arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: &arrow.FixedSizeBinaryType{ByteWidth: 16}},
		{Name: "store", Type: text, Nullable: true},
		{Name: "key", Type: text, Nullable: true},
		{Name: "must", Type: text},
		{Name: "own", Type: text, Nullable: true},
		{Name: "n", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "at", Type: arrow.FixedWidthTypes.Timestamp_ms, Nullable: true},
		{Name: "attributes", Type: arrow.MapOf(text, text), Nullable: true},
		{Name: "numbers", Type: arrow.MapOf(text, arrow.PrimitiveTypes.Int32), Nullable: true},
	}, nil)
}

const rows = `
{"id":"AAECAwQFBgcICQoLDA0ODw==","store":"b","key":"a/ü b.jpg","must":"","own":"gs://b ü","n":-7,"at":"2025-06-01 12:34:56.789","attributes":[{"key":"sky","value":"blue"},{"key":"weather","value":"rain"}]}
{"id":"AAECAwQFBgcICQoLDA0ODw==","store":"","key":"","must":"","own":"","n":0,"at":null,"attributes":[]}
{"id":"AAECAwQFBgcICQoLDA0ODw==","store":null,"key":"k","must":"k","own":"no","n":null,"at":null,"attributes":[{"key":"weather","value":null}]}
{"id":"AAECAwQFBgcICQoLDA0ODw==","store":"b","key":null,"must":"","own":null,"n":1,"at":null,"attributes":null}`

func TestColumnsAreMadeOfOthers(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	rec, _, err := array.RecordFromJSON(mem, schema(), strings.NewReader(rows), array.WithMultipleDocs())
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Release()
	const null = "\x00"
	columns := []struct {
		Column
		want     [4]string
		nullable bool
	}{
		{Column{Name: "uri", Template: "s3://{store}/{key}"}, [4]string{"s3://b/a/ü b.jpg", "s3:///", null, null}, true},
		{Column{Name: "own scheme", Template: "s3://{own}/x"}, [4]string{"gs://b ü/x", "s3:///x", "s3://no/x", null}, true},
		{Column{Name: "id text", Template: "{id}.jpg"}, [4]string{"00010203-0405-0607-0809-0a0b0c0d0e0f.jpg", "00010203-0405-0607-0809-0a0b0c0d0e0f.jpg", "00010203-0405-0607-0809-0a0b0c0d0e0f.jpg", "00010203-0405-0607-0809-0a0b0c0d0e0f.jpg"}, false},
		{Column{Name: "__key__", Template: "{key}", Safe: true}, [4]string{"a_2f_c3_bc_20b_2ejpg", null, "k", null}, true},
		{Column{Name: "of the id", Template: "{id}", Safe: true}, [4]string{"00010203-0405-0607-0809-0a0b0c0d0e0f", "00010203-0405-0607-0809-0a0b0c0d0e0f", "00010203-0405-0607-0809-0a0b0c0d0e0f", "00010203-0405-0607-0809-0a0b0c0d0e0f"}, false},
		{Column{Name: "around", Template: "x-{key}", Safe: true}, [4]string{"x-a_2f_c3_bc_20b_2ejpg", "x-", "x-k", null}, true},
		{Column{Name: "of what is never NULL", Template: "{must}", Safe: true}, [4]string{null, null, "k", null}, true},
		{Column{Name: "braces", Template: "{{{n}}}"}, [4]string{"{-7}", "{0}", null, "{1}"}, true},
		{Column{Name: "time", Template: "{at}"}, [4]string{"2025-06-01T12:34:56.789Z", null, null, null}, true},
		{Column{Name: "weather", Map: "attributes", Key: "weather"}, [4]string{"rain", null, null, null}, true},
		{Column{Name: "sky", Map: "attributes", Key: "sky"}, [4]string{"blue", null, null, null}, true},
	}
	var asked []Column
	for _, c := range columns {
		asked = append(asked, c.Column)
	}
	d, err := New(schema(), asked)
	if err != nil {
		t.Fatal(err)
	}
	got, err := d.Apply(mem, rec)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Release()
	if got.NumCols() != rec.NumCols()+int64(len(columns)) || !got.Schema().Equal(d.Schema()) {
		t.Fatalf("schema %s", got.Schema())
	}
	for i, c := range columns {
		field, column := got.Schema().Field(int(rec.NumCols())+i), got.Column(int(rec.NumCols())+i).(*array.String)
		if field.Name != c.Name || field.Nullable != c.nullable {
			t.Errorf("field %v, want %s, nullable %v", field, c.Name, c.nullable)
		}
		for row, want := range c.want {
			value := null
			if column.IsValid(row) {
				value = column.Value(row)
			}
			if value != want {
				t.Errorf("%s of row %d is %q, want %q", c.Name, row, value, want)
			}
		}
	}
	// Of a part of the rows, whose arrays begin in the middle of their buffers.
	slice := rec.NewSlice(1, 4)
	defer slice.Release()
	part, err := d.Apply(mem, slice)
	if err != nil {
		t.Fatal(err)
	}
	defer part.Release()
	for i := range columns {
		whole := array.NewSlice(got.Column(int(rec.NumCols())+i), 1, 4)
		if !array.Equal(whole, part.Column(int(rec.NumCols())+i)) {
			t.Errorf("%s differs in a slice", columns[i].Name)
		}
		whole.Release()
	}
}

func TestWhatCanNotBeMadeIsRefused(t *testing.T) {
	for name, c := range map[string]Column{
		"no template":           {Name: "x"},
		"no column":             {Name: "x", Template: "s3://"},
		"unknown column":        {Name: "x", Template: "{nope}"},
		"open brace":            {Name: "x", Template: "{key"},
		"empty braces":          {Name: "x", Template: "a{}"},
		"closing brace":         {Name: "x", Template: "{key}}"},
		"name that is there":    {Name: "key", Template: "{store}"},
		"map as text":           {Name: "x", Template: "{attributes}{nope}"},
		"no map":                {Name: "x", Map: "key", Key: "a"},
		"map of numbers":        {Name: "x", Map: "numbers", Key: "a"},
		"map that is not there": {Name: "x", Map: "nope", Key: "a"},
	} {
		if _, err := New(schema(), []Column{c}); !errors.Is(err, ErrColumn) {
			t.Errorf("%s: %v, want ErrColumn", name, err)
		}
	}
	_, err := New(schema(), []Column{{Name: "a", Template: "{x}"}, {Name: "b", Template: "{y}"}})
	if err == nil || !strings.Contains(err.Error(), `"a"`) || !strings.Contains(err.Error(), `"b"`) {
		t.Errorf("%v, want both columns", err)
	}
}

// A safe key has no character that WebDataset takes for the end of a name, and
// tells what it was made of.
func TestSafeKeysStayApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		x, y := string(appendSafe(nil, []byte(a))), string(appendSafe(nil, []byte(b)))
		if (a == b) != (x == y) {
			t.Fatalf("%q and %q become %q and %q", a, b, x, y)
		}
		if strings.ContainsAny(x, "./\\ \x00:") {
			t.Fatalf("%q becomes %q", a, x)
		}
	})
}
