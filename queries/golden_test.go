package queries

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the results in testdata")

// section is a part of a file in testdata: "-- head", then lines.
type section struct {
	head  string
	lines []string
}

func parseSections(text string) []section {
	var sections []section
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if head, ok := strings.CutPrefix(line, "-- "); ok {
			sections = append(sections, section{head: head})
		} else if len(sections) == 0 {
			sections = append(sections, section{lines: []string{line}})
		} else {
			last := &sections[len(sections)-1]
			last.lines = append(last.lines, line)
		}
	}
	return sections
}

func (s section) content() []string {
	return slices.DeleteFunc(slices.Clone(s.lines), func(line string) bool { return strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") })
}

// TestGolden runs the files in testdata. Each is a table, its rows in token order, queries, and their results:
//
//	-- table KEYSPACE.NAME      lines: column | type | kind
//	-- rows                     the first line has the names of columns; rows of a partition stand together
//	-- by, -- agg               the lists; a query is run after agg
//	-- statistic NAME [TOP]     the same for a named statistic
//	-- columns                  that are read
//	-- result TABLE             the first line has the names and types of columns
//	-- error                    in place of results
//
// Every query is run over one split, over several, and with so little memory that groups spill after every few rows.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files, error %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			g := golden{t: t}
			for _, s := range parseSections(string(text)) {
				g.section(s, &got)
			}
			if *update {
				if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got.String() != string(text) {
				t.Errorf("got\n%s", got.String())
			}
		})
	}
}

// maxSplits and maxSpills are how many splits a file's rows make and how often they spill: every time a file is made.
const (
	maxSplits = 10
	maxSpills = 40
)

// golden is what has been read of a file.
type golden struct {
	t     *testing.T
	table Table
	rows  rows
	spec  Spec
}

// section runs a section and writes it with the result of its query.
func (g *golden) section(s section, w *strings.Builder) {
	head, argument, _ := strings.Cut(s.head, " ")
	if head == "columns" || head == "result" || head == "error" {
		return
	}
	if s.head != "" {
		fmt.Fprintf(w, "-- %s\n", s.head)
	}
	for _, line := range s.lines {
		fmt.Fprintln(w, line)
	}
	switch lines := s.content(); head {
	case "table":
		g.table = tableOf(g.t, argument, lines...)
	case "rows":
		g.parseRows(lines)
	case "by":
		g.spec.By = strings.Join(lines, "")
	case "agg":
		g.spec.Agg = strings.Join(lines, "")
		q, err := Compile(g.table, g.spec)
		g.query(q, err, w)
	case "statistic":
		name, top, _ := strings.Cut(argument, " ")
		n, _ := strconv.Atoi(top)
		statistic, err := Lookup(name)
		if err != nil {
			g.t.Fatal(err)
		}
		q, err := statistic.Compile(g.table, NamedOptions{TopPairs: n})
		g.query(q, err, w)
	}
}

func (g *golden) parseRows(lines []string) {
	g.rows = nil
	names := cells(lines[0])
	schema := schemaOf(g.t, g.table, names)
	for _, line := range lines[1:] {
		row := map[string]any{}
		for i, cell := range cells(line) {
			row[names[i]] = parseCell(g.t, schema.Field(i).Type, cell)
		}
		g.rows = append(g.rows, row)
	}
}

func cells(line string) []string {
	parts := strings.Split(line, "|")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

// query runs a query in several ways and writes its result.
func (g *golden) query(q *Query, err error, w *strings.Builder) {
	if err != nil {
		fmt.Fprintf(w, "-- error\n%v\n\n", err)
		return
	}
	fmt.Fprintf(w, "-- columns\n%s\n\n", strings.Join(q.Columns(), ", "))
	partitions := g.table.partitions(g.rows)
	var several, oneByOne [][]rows
	for some := range slices.Chunk(partitions, 1+len(partitions)/maxSplits) {
		several = append(several, some)
		var records []rows
		for few := range slices.Chunk(slices.Concat(some...), 1+len(g.rows)/maxSpills) {
			records = append(records, few)
		}
		oneByOne = append(oneByOne, records)
	}
	var first outcome
	var firstErr error
	for i, p := range []plan{
		{splits: [][]rows{partitions}},
		{splits: several, attempt: true},
		{splits: oneByOne, memory: 1},
		{splits: [][]rows{slices.Concat(oneByOne...)}, memory: 1},
	} {
		got, err := p.run(g.t, q, g.table)
		if i == 0 {
			first, firstErr = got, err
		}
		if (err == nil) != (firstErr == nil) || string(got.bytes) != string(first.bytes) {
			g.t.Errorf("%s: plan %d gives\n%v, error %v\nand not\n%v, error %v", q, i, got.tables, err, first.tables, firstErr)
		}
	}
	if firstErr != nil {
		fmt.Fprintf(w, "-- error\n%v\n\n", firstErr)
		return
	}
	for _, table := range q.Tables() {
		fmt.Fprintf(w, "-- result %s\n", table.Name)
		var head []string
		for _, f := range table.Schema.Fields() {
			head = append(head, f.Name+" "+f.Type.String())
		}
		fmt.Fprintln(w, strings.Join(head, " | "))
		for _, line := range first.tables[table.Name] {
			fmt.Fprintln(w, line)
		}
		fmt.Fprintln(w)
		delete(first.tables, table.Name)
	}
	if len(first.tables) > 0 {
		g.t.Errorf("%s: rows of other tables: %v", q, slices.Collect(maps.Keys(first.tables)))
	}
}

// partitions cuts rows where the partition key changes.
func (t Table) partitions(rs rows) []rows {
	key := func(r map[string]any) string {
		var b strings.Builder
		for _, c := range t.Columns {
			if c.Kind == PartitionKey {
				fmt.Fprintf(&b, "%v\x00", r[c.Name])
			}
		}
		return b.String()
	}
	var partitions []rows
	for i, r := range rs {
		if i == 0 || key(r) != key(rs[i-1]) {
			partitions = append(partitions, nil)
		}
		last := len(partitions) - 1
		partitions[last] = append(partitions[last], r)
	}
	return partitions
}
