package datasetcard

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"manifest/export"
	"manifest/internal/cqltype"
	"manifest/internal/pyenv"
	"manifest/tokenrange"
)

// types are the columns of the test's datasets, with a value of each and one at
// the edge, in the JSON of Arrow.
var types = []struct{ cql, value, edge string }{
	{"timeuuid", `"AAAAAAAAEQCAAAAAAAAAAA=="`, `"/////////////////////w=="`},
	{"text", `"Blätter 叶子 🌿"`, `""`},
	{"ascii", `"a\"b\\c"`, `"---\n"`},
	{"blob", `"AP8="`, `""`},
	{"boolean", `true`, `false`},
	{"tinyint", `-7`, `-128`},
	{"smallint", `300`, `32767`},
	{"int", `123456`, `-2147483648`},
	{"bigint", `12345678901`, `9007199254740993`},
	{"float", `1.5`, `-0.25`},
	{"double", `2.25`, `1e300`},
	{"varint", `"123456789012345678901234567890"`, `"-1"`},
	{"decimal", `"1.10"`, `"0E-10"`},
	{"timestamp", `"2025-06-01 12:34:56.789"`, `"1677-09-22 00:00:00"`},
	{"date", `"2025-06-01"`, `"0001-01-01"`},
	{"time", `"08:12:54.123456789"`, `"23:59:59.999999999"`},
	{"inet", `"192.0.2.1"`, `"::1"`},
	{"duration", `{"months":1,"days":2,"nanoseconds":3}`, `{"months":-1,"days":0,"nanoseconds":0}`},
	{"list<text>", `["a","ü"]`, `[]`},
	{"set<int>", `[1,2]`, `[3]`},
	{"map<text, int>", `[{"key":"x","value":1},{"key":"y","value":2}]`, `[]`},
	{"tuple<int, text>", `{"0":1,"1":"one"}`, `{"0":null,"1":null}`},
	{"vector<float, 2>", `[0.5,1.5]`, `[0,0]`},
	{"list<frozen<list<int>>>", `[[1],[2,3]]`, `[[]]`},
}

// records gives a schema of all types and a record with some rows of them: of
// values, of edges, and of NULLs but for the key.
func records(t *testing.T, rows int) arrow.Record {
	t.Helper()
	var fields []arrow.Field
	var lines strings.Builder
	for i, c := range types {
		ct, err := cqltype.Parse(c.cql, nil)
		if err != nil {
			t.Fatal(err)
		}
		f, err := ct.Field(fmt.Sprintf("c%02d %s", i, strings.NewReplacer("<", " of ", ">", "", ",", "").Replace(c.cql)), i > 0)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			f.Name = "image_id"
		}
		fields = append(fields, f)
	}
	for row := range rows {
		for i, c := range types {
			separator := ","
			if i == 0 {
				separator = "{"
			}
			value := []string{c.value, c.edge, "null"}[row%3]
			if value == "null" && i == 0 {
				value = c.value
			}
			fmt.Fprintf(&lines, "%s%q:%s", separator, fields[i].Name, value)
		}
		lines.WriteString("}\n")
	}
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, arrow.NewSchema(fields, nil), strings.NewReader(lines.String()), array.WithMultipleDocs())
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// make writes a dataset with splits of so many rows, and its descriptions. A
// dataset of one split without a name has no splits.
func makeDataset(t *testing.T, format export.Format, splits map[string]int) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "leaf \"spot\"")
	target, err := export.Prepare(out, export.TargetOptions{RunID: "r1", NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	m := export.Manifest{
		Kind: "table", RunID: "r1", ToolVersion: "v1", CreatedAt: time.Date(2025, 6, 2, 3, 4, 5, 0, time.UTC),
		Source:   export.Source{Kind: "cql", Cluster: "plants: \"north\"", Keyspace: "image_keyspace", Table: "image_metadata"},
		Query:    export.Query{Text: "export --where \"a = '|`---`'\""},
		Window:   export.Window{Start: time.Date(2025, 6, 2, 1, 0, 0, 0, time.UTC), End: time.Date(2025, 6, 2, 2, 0, 0, 0, time.UTC)},
		Coverage: export.Coverage{Complete: true},
	}
	var schema *arrow.Schema
	for name, rows := range splits {
		rec := records(t, rows)
		d, err := export.New(rec.Schema(), export.Options{WorkDir: target.PartsDir(), Format: format, FilePrefix: name, Shards: 2, NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		part, err := d.Begin(t.Context(), tokenrange.Split{ID: name + "x"})
		if err != nil {
			t.Fatal(err)
		}
		if err := part.Write(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
		if err := part.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		rec.Release()
		res, err := d.Finish(t.Context(), []string{name + "x"}, target.Dir())
		if err != nil {
			t.Fatal(err)
		}
		files, total := m.Files, m.Rows
		m.Bytes = 0
		d.Describe(&m, res)
		m.Files = append(files, m.Files...)
		m.Rows += total
		m.Counts, m.Bytes, schema = nil, 0, d.Schema()
		for _, f := range m.Files {
			m.Bytes += f.Bytes
		}
	}
	m.Counts = []export.StageCount{{Stage: "written", Rows: m.Rows}}
	info := Info{Name: filepath.Base(out), License: "CC-BY-4.0"}
	if err := target.WriteFile(CardFile, Card(m, info)); err != nil {
		t.Fatal(err)
	}
	croissant, err := Croissant(m, schema, info)
	if err != nil {
		t.Fatal(err)
	}
	if err := target.WriteFile(CroissantFile, croissant); err != nil {
		t.Fatal(err)
	}
	if err := target.Publish(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if _, err := export.Verify(t.Context(), out); err != nil {
		t.Error(err)
	}
	return out
}

// Hugging Face datasets opens the directory without code and without a network,
// and mlcroissant finds nothing wrong and reads the rows.
func TestOthersReadTheDescriptions(t *testing.T) {
	python := pyenv.Python(t)
	var arguments []string
	for _, c := range []struct {
		format export.Format
		splits map[string]int
	}{
		{export.Parquet, map[string]int{"train": 7, "validation": 3, "test": 5}},
		{export.Parquet, map[string]int{"part": 6}},
		{export.Arrow, map[string]int{"part": 6}},
		{export.JSONLines, map[string]int{"train": 4, "test": 3}},
		{export.CSV, map[string]int{"train": 4, "test": 3}},
	} {
		arguments = append(arguments, makeDataset(t, c.format, c.splits), string(c.format))
	}
	cmd := exec.CommandContext(t.Context(), python, append([]string{"testdata/check.py"}, arguments...)...)
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "HF_HOME="+home, "HF_HUB_OFFLINE=1", "HF_DATASETS_OFFLINE=1", "CROISSANT_CACHE="+home, "HOME="+home, "PYTHONDONTWRITEBYTECODE=1")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}
