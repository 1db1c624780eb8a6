package merge

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"manifest/internal/cqltype"
	"manifest/internal/sstable/data"
	"manifest/internal/sstable/order"
	"manifest/internal/sstable/primitive"
)

const never = primitive.NoDeletionTime

func live(timestamp int64, value string) data.Cell {
	return data.Cell{Timestamp: timestamp, LocalDeletionTime: never, Value: []byte(value)}
}

func tombstone(timestamp, local int64) data.Cell {
	return data.Cell{Timestamp: timestamp, LocalDeletionTime: local, Value: []byte{}}
}

func expiring(timestamp, expires int64, ttl int32, value string) data.Cell {
	return data.Cell{Timestamp: timestamp, LocalDeletionTime: expires, TTL: ttl, Value: []byte(value)}
}

// TestReconcile has the cells of each pair in the order of who wins: the rules of
// Cells.resolveRegular since CASSANDRA-14592.
func TestReconcile(t *testing.T) {
	for _, c := range []struct {
		name          string
		winner, loser data.Cell
	}{
		{"later write", live(2, "a"), live(1, "b")},
		{"later write over tombstone", live(2, "a"), tombstone(1, 9)},
		{"tombstone over live of the same time", tombstone(1, 9), live(1, "z")},
		{"expiring over live of the same time", expiring(1, 9, 5, "a"), live(1, "z")},
		{"tombstone over expiring of the same time", tombstone(1, 1), expiring(1, 9, 5, "z")},
		{"later expiration", expiring(1, 10, 9, "a"), expiring(1, 9, 5, "z")},
		{"later tombstone", tombstone(1, 10), tombstone(1, 9)},
		{"shorter TTL of the same end", expiring(1, 10, 4, "a"), expiring(1, 10, 5, "z")},
		{"larger value", live(1, "b"), live(1, "a")},
		{"larger value by unsigned bytes", live(1, "\xff"), live(1, "\x7f")},
		{"longer value", live(1, "ab"), live(1, "a")},
		{"larger value of expiring cells", expiring(1, 10, 4, "b"), expiring(1, 10, 4, "a")},
	} {
		if !supersedes(&c.winner, &c.loser) || supersedes(&c.loser, &c.winner) {
			t.Errorf("%s: the wrong one wins", c.name)
		}
	}
}

// TestLiveness is the same for LivenessInfo.supersedes.
func TestLiveness(t *testing.T) {
	for _, c := range []struct {
		name          string
		winner, loser data.Liveness
	}{
		{"any over none", data.Liveness{Timestamp: 1, Expires: never}, data.NoLiveness},
		{"later write", data.Liveness{Timestamp: 2, Expires: never}, data.Liveness{Timestamp: 1, TTL: 5, Expires: 9}},
		{"expiring over one that does not", data.Liveness{Timestamp: 1, TTL: 5, Expires: 9}, data.Liveness{Timestamp: 1, Expires: never}},
		{"later expiration", data.Liveness{Timestamp: 1, TTL: 9, Expires: 10}, data.Liveness{Timestamp: 1, TTL: 5, Expires: 9}},
		{"shorter TTL of the same end", data.Liveness{Timestamp: 1, TTL: 4, Expires: 10}, data.Liveness{Timestamp: 1, TTL: 5, Expires: 10}},
		{"expired of a view", data.Liveness{Timestamp: 1, TTL: primitive.ExpiredTTL, Expires: 2}, data.Liveness{Timestamp: 1, TTL: 5, Expires: 10}},
	} {
		if !livenessSupersedes(c.winner, c.loser) || livenessSupersedes(c.loser, c.winner) {
			t.Errorf("%s: the wrong one wins", c.name)
		}
	}
	if (data.Liveness{Timestamp: 1, TTL: primitive.ExpiredTTL, Expires: math.MaxInt64 - 1}).Live(0) {
		t.Error("the expired liveness of a view is live")
	}
}

// context makes a counter's context.
func context(global []int, shards ...[3]int64) []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(len(global)))
	for _, i := range global {
		b = binary.BigEndian.AppendUint16(b, uint16(i-1<<15))
	}
	for _, s := range shards {
		b = binary.BigEndian.AppendUint64(append(b, make([]byte, 8)...), uint64(s[0]))
		b = binary.BigEndian.AppendUint64(b, uint64(s[1]))
		b = binary.BigEndian.AppendUint64(b, uint64(s[2]))
	}
	return b
}

// TestCounters has the rules of CounterContext.merge.
func TestCounters(t *testing.T) {
	for _, c := range []struct {
		name     string
		contexts [][]byte
		want     int64
	}{
		{"one", [][]byte{context([]int{0}, [3]int64{1, 5, 42})}, 42},
		{"nodes add up", [][]byte{context([]int{0, 1}, [3]int64{1, 5, 42}, [3]int64{2, 1, -2})}, 40},
		{"the later clock of a node", [][]byte{context([]int{0}, [3]int64{1, 5, 42}), context([]int{0}, [3]int64{1, 6, 1})}, 1},
		{"the larger count of the same clock", [][]byte{context([]int{0}, [3]int64{1, 5, 42}), context([]int{0}, [3]int64{1, 5, 43})}, 43},
		{"global over remote", [][]byte{context([]int{0}, [3]int64{1, 5, 42}), context(nil, [3]int64{1, 9, 1})}, 42},
		{"remote: the later clock", [][]byte{context(nil, [3]int64{1, 5, 42}), context(nil, [3]int64{1, 9, 1})}, 1},
		{"nodes of different SSTables", [][]byte{context([]int{0}, [3]int64{1, 5, 42}), context([]int{1}, [3]int64{1, 4, 1}, [3]int64{3, 9, 100})}, 142},
		{"overflow wraps", [][]byte{context([]int{0, 1}, [3]int64{1, 5, math.MaxInt64}, [3]int64{2, 1, 1})}, math.MinInt64},
	} {
		for range 2 {
			var shards []shard
			for _, b := range c.contexts {
				var err error
				if shards, err = appendShards(shards, b); err != nil {
					t.Fatal(err)
				}
			}
			if got := total(shards); got != c.want {
				t.Errorf("%s: %d, want %d", c.name, got, c.want)
			}
			slices.Reverse(c.contexts)
		}
	}
	for name, b := range map[string][]byte{
		"empty": {}, "cut": {0, 1}, "part of a shard": make([]byte, 2+31), "mark of no shard": context([]int{3}, [3]int64{1, 1, 1}), "negative count of marks": {0x80, 0},
	} {
		if _, err := appendShards(nil, b); !errors.Is(err, errCounter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	local := context([]int{1 << 15}, [3]int64{1, 1, 1})
	if _, err := appendShards(nil, local); !errors.Is(err, errLocalShard) {
		t.Errorf("local shard: %v", err)
	}
}

// testColumns are a simple column, one of a map, one that no one wants.
func testColumns() []Column {
	return []Column{
		{Name: "v", Wanted: true},
		{Name: "m", Wanted: true, Path: order.Of(&cqltype.Type{Kind: cqltype.Blob})},
		{Name: "other"},
	}
}

func at(column int32, path string, c data.Cell) data.Cell {
	c.Column = column
	if path != "" {
		c.Path = []byte(path)
	}
	return c
}

func TestRows(t *testing.T) {
	liveness := data.Liveness{Timestamp: 10, Expires: never}
	none := data.NoLiveness
	for _, c := range []struct {
		name    string
		rows    []data.Row
		active  primitive.DeletionTime
		strict  bool
		visible bool
		want    string
	}{
		{"a row without cells", []data.Row{{Liveness: liveness}}, primitive.Live, false, true, ""},
		{"deleted liveness", []data.Row{{Liveness: liveness}}, primitive.DeletionTime{MarkedForDeleteAt: 10}, false, false, ""},
		{"expired liveness", []data.Row{{Liveness: data.Liveness{Timestamp: 10, TTL: 5, Expires: 100}}}, primitive.Live, false, false, ""},
		{"liveness that expires later", []data.Row{{Liveness: data.Liveness{Timestamp: 10, TTL: 5, Expires: 101}}}, primitive.Live, false, true, ""},
		{"only a cell that no one wants", []data.Row{{Liveness: none, Cells: []data.Cell{at(2, "", live(1, "x"))}}}, primitive.Live, false, true, ""},
		{"only a dead cell that no one wants", []data.Row{{Liveness: none, Cells: []data.Cell{at(2, "", expiring(1, 100, 5, "x"))}}}, primitive.Live, false, false, ""},
		{"strict: a view's row needs its liveness", []data.Row{{Liveness: none, Cells: []data.Cell{at(0, "", live(1, "x"))}}}, primitive.Live, true, false, ""},
		{
			"columns from different versions",
			[]data.Row{{Liveness: liveness, Cells: []data.Cell{at(0, "", live(5, "old"))}}, {Liveness: none, Cells: []data.Cell{at(0, "", live(6, "new")), at(1, "k", live(6, "e"))}}},
			primitive.Live, false, true, "v=new m[k]=e ",
		},
		{
			"row deletion and what came after",
			[]data.Row{
				{Liveness: liveness, Deletion: primitive.Live, Cells: []data.Cell{at(0, "", live(10, "old")), at(1, "k", live(12, "newer"))}},
				{Liveness: none, Deletion: primitive.DeletionTime{MarkedForDeleteAt: 11, LocalDeletionTime: 1}},
			},
			primitive.Live, false, true, "m[k]=newer ",
		},
		{
			"a collection overwritten",
			[]data.Row{
				{Liveness: none, Cells: []data.Cell{at(1, "a", live(5, "x")), at(1, "b", live(7, "y"))}},
				{Liveness: none, Cells: []data.Cell{at(1, "b", live(6, "z")), at(1, "c", live(7, "w"))}, ComplexDeletions: []data.ComplexDeletion{{Column: 1, Time: primitive.DeletionTime{MarkedForDeleteAt: 6}}}},
			},
			primitive.Live, false, true, "m[b]=y m[c]=w ",
		},
		{
			"a shadowable deletion undone by a later liveness",
			[]data.Row{
				{Liveness: data.Liveness{Timestamp: 12, Expires: never}, Cells: []data.Cell{at(0, "", live(9, "kept"))}},
				{Liveness: none, Deletion: primitive.DeletionTime{MarkedForDeleteAt: 11}, Shadowable: true},
			},
			primitive.Live, true, true, "v=kept ",
		},
		{
			"a shadowable deletion that holds",
			[]data.Row{{Liveness: liveness, Deletion: primitive.DeletionTime{MarkedForDeleteAt: 11}, Shadowable: true, Cells: []data.Cell{at(0, "", live(9, "gone"))}}},
			primitive.Live, true, false, "",
		},
	} {
		r := newRows(testColumns(), 100, c.strict)
		for _, reverse := range []bool{false, true} {
			versions := copies(c.rows)
			if reverse {
				slices.Reverse(versions)
			}
			visible, err := r.merge(versions, c.active)
			if got := text(r.result); err != nil || visible != c.visible || visible && got != c.want {
				t.Errorf("%s (reverse %t): %t %q, %v; want %t %q", c.name, reverse, visible, got, err, c.visible, c.want)
			}
		}
	}
}

// copies gives versions that a merge may change. A zero Deletion stands for none.
func copies(rows []data.Row) []*data.Row {
	var versions []*data.Row
	for _, r := range rows {
		r.Cells = slices.Clone(r.Cells)
		if r.Deletion == (primitive.DeletionTime{}) {
			r.Deletion = primitive.Live
		}
		versions = append(versions, &r)
	}
	return versions
}

func text(cells []data.Cell) string {
	cells = slices.Clone(cells)
	slices.SortStableFunc(cells, func(a, b data.Cell) int { return int(a.Column - b.Column) })
	var s string
	for _, c := range cells {
		s += testColumns()[c.Column].Name
		if c.Path != nil {
			s += fmt.Sprintf("[%s]", c.Path)
		}
		s += fmt.Sprintf("=%s ", c.Value)
	}
	return s
}

// TestMergeIsOneOfAll checks that versions merge to the same in any order, with
// any of them twice, and that the answer is the one found cell by cell.
func TestMergeIsOneOfAll(t *testing.T) {
	cell := rapid.Custom(func(t *rapid.T) data.Cell {
		timestamp := rapid.Int64Range(1, 4).Draw(t, "timestamp")
		value := rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "value")
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			return tombstone(timestamp, rapid.Int64Range(90, 92).Draw(t, "local"))
		case 1:
			return expiring(timestamp, rapid.Int64Range(99, 101).Draw(t, "expires"), rapid.Int32Range(1, 2).Draw(t, "ttl"), value)
		}
		return live(timestamp, value)
	})
	deletion := rapid.Custom(func(t *rapid.T) primitive.DeletionTime {
		if rapid.Bool().Draw(t, "live") {
			return primitive.Live
		}
		return primitive.DeletionTime{MarkedForDeleteAt: rapid.Int64Range(1, 3).Draw(t, "at"), LocalDeletionTime: rapid.Int64Range(90, 91).Draw(t, "local")}
	})
	rapid.Check(t, func(t *rapid.T) {
		var rows []data.Row
		for range rapid.IntRange(1, 4).Draw(t, "versions") {
			r := data.Row{Liveness: data.NoLiveness, Deletion: deletion.Draw(t, "row deletion")}
			if rapid.Bool().Draw(t, "liveness") {
				r.Liveness = data.Liveness{Timestamp: rapid.Int64Range(1, 4).Draw(t, "inserted"), Expires: never}
			}
			if rapid.Bool().Draw(t, "v") {
				r.Cells = append(r.Cells, at(0, "", cell.Draw(t, "cell")))
			}
			if d := deletion.Draw(t, "complex deletion"); !d.IsLive() {
				r.ComplexDeletions = append(r.ComplexDeletions, data.ComplexDeletion{Column: 1, Time: d})
			}
			for _, path := range []string{"k", "l"} {
				if rapid.Bool().Draw(t, path) {
					r.Cells = append(r.Cells, at(1, path, cell.Draw(t, "cell")))
				}
			}
			if rapid.Bool().Draw(t, "other") {
				r.Cells = append(r.Cells, at(2, "", cell.Draw(t, "cell")))
			}
			rows = append(rows, r)
		}
		active := deletion.Draw(t, "active")
		merged := newRows(testColumns(), 100, false)
		visible, err := merged.merge(copies(rows), active)
		if err != nil {
			t.Fatal(err)
		}
		want := text(merged.result)
		if wantVisible, byCell := naive(rows, active); visible != wantVisible || visible && want != byCell {
			t.Fatalf("merged to %t %q, cell by cell to %t %q", visible, want, wantVisible, byCell)
		}
		again := append(slices.Clone(rows), rows[rapid.IntRange(0, len(rows)-1).Draw(t, "twice")])
		again = rapid.Permutation(again).Draw(t, "order")
		if v, err := merged.merge(copies(again), active); err != nil || v != visible || v && text(merged.result) != want {
			t.Fatalf("merged to %t %q, in another order to %t %q, %v", visible, want, v, text(merged.result), err)
		}
	})
}

// naive finds the same for each place on its own: the latest deletion that
// applies, then the winner of what is left.
func naive(rows []data.Row, active primitive.DeletionTime) (visible bool, cells string) {
	deletedAt := active.MarkedForDeleteAt
	for _, r := range rows {
		deletedAt = max(deletedAt, r.Deletion.MarkedForDeleteAt)
	}
	for _, r := range rows {
		if r.Liveness.Timestamp > deletedAt {
			visible = true
		}
	}
	for _, place := range []struct {
		column int32
		path   string
	}{{0, ""}, {1, "k"}, {1, "l"}, {2, ""}} {
		limit := deletedAt
		for _, r := range rows {
			for _, d := range r.ComplexDeletions {
				if d.Column == place.column {
					limit = max(limit, d.Time.MarkedForDeleteAt)
				}
			}
		}
		var best *data.Cell
		for _, r := range rows {
			for _, c := range r.Cells {
				if c.Column == place.column && string(c.Path) == place.path && c.Timestamp > limit && (best == nil || supersedes(&c, best)) {
					best = &c
				}
			}
		}
		if best != nil && best.Live(100) {
			visible = true
			if place.column != 2 {
				cells += text([]data.Cell{*best})
			}
		}
	}
	return visible, cells
}

// TestEqualPathsOfDifferentBytes has paths that are equal and not the same.
func TestEqualPathsOfDifferentBytes(t *testing.T) {
	columns := []Column{{Name: "v"}, {Name: "m", Wanted: true, Path: order.Of(&cqltype.Type{Kind: cqltype.Decimal})}}
	one := at(1, "\x00\x00\x00\x01\x0a", live(1, "x"))   // 1.0
	other := at(1, "\x00\x00\x00\x02\x64", live(1, "x")) // 1.00
	r := newRows(columns, 100, false)
	for _, rows := range [][]data.Row{{{Cells: []data.Cell{one}}, {Cells: []data.Cell{other}}}, {{Cells: []data.Cell{other}}, {Cells: []data.Cell{one}}}} {
		if _, err := r.merge(copies(rows), primitive.Live); err != nil || len(r.result) != 1 || string(r.result[0].Path) != string(one.Path) {
			t.Errorf("%v, %v", r.result, err)
		}
	}
}
