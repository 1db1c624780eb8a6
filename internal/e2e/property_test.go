package e2e

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"manifest/internal/casstest"
)

// The main property: whatever the cluster looks like and however a table is read, what comes out is what the other client reads.
//
// One function runs after the other, so that beside the shared cluster no more than three servers run at a time.

func TestOneNodeWithManyTokens(t *testing.T) {
	s := newSite(t, casstest.Own(t, casstest.Options{}), "e2e_property", fmt.Sprintf(simpleReplication, 1))
	d := newDraws(t)
	t.Run("exports", func(t *testing.T) { s.checkExports(t, d, s.tables) })
	t.Run("statistics", func(t *testing.T) { s.checkStatistics(t, d) })
	t.Run("extras", func(t *testing.T) { s.checkExtras(t) })
	t.Run("selections", func(t *testing.T) { s.checkSelections(t, d) })
	t.Run("readers", func(t *testing.T) { s.checkReaders(t) })
	t.Run("snapshots", func(t *testing.T) { s.checkSnapshots(t, d, s.tables) })
}

func TestOneNodeWithOneToken(t *testing.T) {
	s := newSite(t, casstest.Own(t, casstest.Options{VNodes: 1, Auth: true}), "e2e_property", fmt.Sprintf(networkReplication, 1))
	t.Run("exports", func(t *testing.T) { s.checkExports(t, newDraws(t), s.tables) })
	t.Run("login", func(t *testing.T) { s.checkLogin(t) })
}

func TestThreeNodesWithManyTokens(t *testing.T) {
	testThreeNodes(t, sharedCluster(t), simpleReplication)
}

func TestThreeNodesWithOneToken(t *testing.T) {
	testThreeNodes(t, casstest.Own(t, casstest.Options{Nodes: 3, VNodes: 1}), networkReplication)
}

// testThreeNodes reads with every number of replicas: each table with one of them, those of many partitions with all. The tables are loaded
// with three; that a node keeps rows which are no longer its own changes no answer, since only replicas are asked.
func testThreeNodes(t *testing.T, c *casstest.Cluster, replication string) {
	s := newSite(t, c, "E2e_Property", fmt.Sprintf(replication, 3))
	d := newDraws(t)
	many := append([]string{"edges", "statics"}, imageTables...)
	once := d.IntN(3)
	for _, replicas := range []int{3, 2, 1} {
		t.Run(fmt.Sprintf("%d replicas", replicas), func(t *testing.T) {
			if replicas < 3 {
				s.setReplication(t, fmt.Sprintf(replication, replicas))
			}
			var tables []string
			for i, table := range s.tables {
				if long() || slices.Contains(many, table) || (i+once)%3 == replicas%3 {
					tables = append(tables, table)
				}
			}
			s.checkExports(t, d, tables)
			if replicas != 2 {
				// Snapshots of all nodes hold each row three times. With one replica, one of
				// them is read.
				t.Run("snapshots", func(t *testing.T) { s.checkSnapshots(t, d, many) })
			}
			if replicas == 2 || long() {
				t.Run("statistics", func(t *testing.T) { s.checkNamed(t, d) })
			}
		})
	}
}

// TestOneNodeWithRandomPartitioner has other tokens: hashes of 127 bits.
func TestOneNodeWithRandomPartitioner(t *testing.T) {
	onlyLong(t)
	s := newSite(t, casstest.Own(t, casstest.Options{Partitioner: "RandomPartitioner"}), "e2e_property", fmt.Sprintf(simpleReplication, 1))
	d := newDraws(t)
	s.checkExports(t, d, s.tables)
	s.checkStatistics(t, d)
}

// TestOneNodeWithOrderedPartitioner has tokens that are the keys themselves, of which no plan can be made: it is refused by name.
func TestOneNodeWithOrderedPartitioner(t *testing.T) {
	s, _ := newImageSite(t, casstest.Own(t, casstest.Options{Partitioner: "ByteOrderedPartitioner"}), "e2e_property", 10)
	fault{args: []string{"export", "--table", s.flag("image_metadata"), "--out", "OUT"}, code: exitUsage,
		says: []string{"ByteOrderedPartitioner"}}.check(t, s.shared...)
}

func (s *site) setReplication(t *testing.T, replication string) {
	t.Helper()
	session, err := s.cluster.Session("")
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	statement := "ALTER KEYSPACE " + quoted(s.keyspace) + " WITH replication = " + replication
	if err := session.Query(statement).WithContext(t.Context()).Exec(); err != nil {
		t.Fatal(err)
	}
}

// checkExports exports each table in random ways.
func (s *site) checkExports(t *testing.T, d draws, tables []string) {
	for _, table := range tables {
		rounds := 1
		if long() {
			rounds = 8
		}
		if s.rows[table] > 50_000 {
			rounds = 2 // the other programs take their time
		}
		t.Run(table, func(t *testing.T) {
			for range rounds {
				s.checkExport(t, d, table)
			}
			if s.hasMurmur3() && (d.IntN(4) == 0 || long()) {
				s.checkPieces(t, d, table)
			}
		})
	}
}

// checkExport exports a table in a random way and compares the rows.
func (s *site) checkExport(t *testing.T, d draws, table string) {
	t.Helper()
	e := exported{table: table, format: pick(d, "jsonl", "jsonl", "jsonl", "parquet", "arrow", "csv"), dir: filepath.Join(scratch(t), "out")}
	flags := append(d.reading(s.rows[table]), "--shards", strconv.Itoa(d.IntN(6)), "--consistency", pick(d, "LOCAL_QUORUM", "LOCAL_ONE", "ALL"))
	e.commands = []string{s.export(t, e, e.dir, flags...)}
	e.dirs = []string{e.dir}
	s.compare(t, e)
}

// checkPieces cuts the ring in a random way and compares the rows of all pieces together.
func (s *site) checkPieces(t *testing.T, d draws, table string) {
	t.Helper()
	cuts := make([]int64, 1+d.IntN(5))
	for i := range cuts {
		if cuts[i] = int64(d.Uint64()); d.IntN(4) == 0 {
			cuts[i] = pick(d, s.edges...)
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	if last := len(cuts) - 1; cuts[last] == math.MaxInt64 { // behind it is nothing, and asking for that is a mistake
		cuts[last]--
	}
	e := exported{table: table, format: pick(d, "jsonl", "parquet")}
	base := scratch(t)
	piece := func(bounds ...string) {
		dir := filepath.Join(base, strconv.Itoa(len(e.dirs)))
		e.dirs = append(e.dirs, dir)
		e.commands = append(e.commands, s.export(t, e, dir, append(d.reading(s.rows[table]), bounds...)...))
	}
	start := func(i int) string { return "--token-start=" + strconv.FormatInt(cuts[i], 10) }
	end := func(i int) string { return "--token-end=" + strconv.FormatInt(cuts[i], 10) }
	last := len(cuts) - 1
	around := d.IntN(2) == 0 // one piece goes around the end of the ring
	if around {
		piece(start(last), end(0))
	} else {
		piece(end(0))
	}
	for i := range last {
		piece(start(i), end(i+1))
	}
	if !around {
		piece(start(last))
	}
	e.anyOrder = around
	s.compare(t, e)
}

// exported is a table that was exported, perhaps in pieces.
type exported struct {
	table    string
	format   string
	dir      string
	dirs     []string
	commands []string // that did it, for messages
	anyOrder bool
	columns  []string // all if none
	where    string   // which rows, in Python; all if empty
	shape    map[string]string
}

// export exports a table and returns the command.
func (s *site) export(t *testing.T, e exported, dir string, flags ...string) string {
	t.Helper()
	args := append([]string{"export", "--table", s.flag(e.table), "--out", dir, "--format", e.format, "--progress", "none"}, flags...)
	o := s.command(args...).run(t)
	if o.code != exitDone {
		t.Fatalf("export failed: %s", o)
	}
	checkDataset(t, dir, e.format)
	return o.command
}

// comparison is the worker's answer: rows that only one of the two has, and whatever else is wrong.
type comparison struct {
	Rows     int      `json:"rows"`
	Missing  []string `json:"missing"`
	Extra    []string `json:"extra"`
	InOrder  bool     `json:"in_order"`
	Problems []string `json:"problems"`
}

// compare compares the files with the rows that the other client read.
func (s *site) compare(t *testing.T, e exported) {
	t.Helper()
	s.compareWith(t, e, s.full(e.table))
}

// compareWith compares the files with the rows that the worker keeps under a name.
func (s *site) compareWith(t *testing.T, e exported, name string) {
	t.Helper()
	c := ask[comparison](t, s.worker, "compare", map[string]any{
		"table": name, "dirs": e.dirs, "format": e.format, "columns": e.columns, "where": e.where, "shape": e.shape,
	})
	if len(c.Missing)+len(c.Extra)+len(c.Problems) > 0 {
		t.Errorf("%s\nmissing rows: %s\nextra rows: %s\nproblems: %s", strings.Join(e.commands, "\n"),
			strings.Join(c.Missing, "\n  "), strings.Join(c.Extra, "\n  "), strings.Join(c.Problems, "\n  "))
	} else if !c.InOrder && !e.anyOrder {
		t.Errorf("%s\nthe rows are not in token order", strings.Join(e.commands, "\n"))
	}
}
