package selection

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"pgregory.net/rapid"

	"manifest/internal/pyenv"
)

// askDuckDB reads rows from an Arrow file and conditions from standard input, and answers with the rows that each wants.
const askDuckDB = `
import json, sys
import duckdb, pyarrow as pa
rows = pa.ipc.open_file(sys.argv[1]).read_all()
rows = rows.append_column("row", pa.array(range(len(rows)), pa.int64()))
db = duckdb.connect()
db.execute("SET TimeZone = 'UTC'")
answers = []
for condition in json.load(sys.stdin):
    found = db.execute('SELECT "row" FROM rows WHERE ' + condition + ' ORDER BY 1').fetchall()
    answers.append([row for row, in found])
json.dump(answers, sys.stdout)
`

// notSQL finds what SQL lacks or means otherwise: day() is that of the month there.
var notSQL = regexp.MustCompile(`CONTAINS|day\(|0x|NaN|Infinity|IN \(\)|spot\.`)

// TestConditionsLikeDuckDB has DuckDB read the same conditions: those of the language that are SQL too.
func TestConditionsLikeDuckDB(t *testing.T) {
	python := pyenv.Python(t)
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	columns := columnsOf("i int; b bigint; f double; g double; s text; z text; ok boolean; dy date; ts timestamp; m map<text, text>; p frozen<place>; x blob")
	rows := [][]any{make([]any, len(columns))} // one of NULLs alone
	drawRow := rapid.Custom(func(t *rapid.T) []any {
		var row []any
		for _, c := range columns {
			v := drawValue(t, c.Type, true)
			if f, ok := v.(float64); ok && f == 0 {
				v = math.Abs(f) // DuckDB tells -0 from 0 in a list
			}
			if entries, ok := v.([]entry); ok { // A key comes once.
				slices.SortFunc(entries, func(a, b entry) int { return bytes.Compare([]byte(a.key.(string)), []byte(b.key.(string))) })
				v = slices.CompactFunc(entries, func(a, b entry) bool { return a.key == b.key })
			}
			row = append(row, v)
		}
		return row
	})
	for seed := range 100 {
		rows = append(rows, drawRow.Example(seed))
	}
	rec := recordOf(mem, columns, rows)
	defer rec.Release()

	path := filepath.Join(t.TempDir(), "rows.arrow")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w, err := ipc.NewFileWriter(file, ipc.WithSchema(rec.Schema()), ipc.WithAllocator(mem))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(rec); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	conditions := []string{
		"i >= 1 AND m['a'] = 'ab'", "i BETWEEN 0.5 AND 1.5", "i IN (1, 2.0, 0.5)", "NOT i IN (1, 100)", "i <> 1 OR b <> 1", "s < z", "s GLOB 'a*'", "s NOT GLOB '?'", "s GLOB '*''*'",
		"m['a'] IS NULL", "m[''] <> m['a']", "m IS NULL", "p.city = 'a' AND p.Zip < 2", "p IS NOT NULL", "NOT (i = 1 AND s = 'a')", "NOT (i = 1 OR s = 'a') AND ok",
		"dy >= '1970-01-02'", "dy BETWEEN '1970-01-01' AND '1970-01-02'", "ts < '1970-01-01T00:00:00Z'", "ts IN ('1970-01-01T00:00:00Z', '1970-01-02T00:00:00Z')", "f = f", "f > 1", "f >= g",
	}
	drawText := rapid.Custom(func(t *rapid.T) string { return drawCondition(t, columns, 3).text })
	for seed := 0; len(conditions) < 500; seed++ {
		if text := drawText.Example(seed); !notSQL.MatchString(text) {
			conditions = append(conditions, text)
		}
	}
	asked, err := json.Marshal(conditions)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), python, "-c", askDuckDB, path)
	var problems bytes.Buffer
	command.Stdin, command.Stderr = bytes.NewReader(asked), &problems
	answered, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &problems)
	}
	var answers [][]int
	if err := json.Unmarshal(answered, &answers); err != nil {
		t.Fatal(err)
	}
	telling := 0
	for i, condition := range conditions {
		if got := kept(t, mustFilter(t, condition, columns), rec); !slices.Equal(got, answers[i]) {
			t.Errorf("%s wants rows %v, by DuckDB %v", condition, got, answers[i])
		}
		if len(answers[i]) > 0 && len(answers[i]) < len(rows) {
			telling++
		}
	}
	if telling < len(conditions)/2 {
		t.Errorf("only %d of %d conditions want some rows and not all", telling, len(conditions))
	}
}
