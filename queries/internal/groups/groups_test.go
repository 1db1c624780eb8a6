package groups

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"manifest/queries/internal/accumulate"
	"manifest/queries/internal/vector"
)

// columnsOf turns rows of values into vectors.
func columnsOf(kinds []vector.Kind, rows [][]vector.Value) []*vector.Vector {
	columns := make([]*vector.Vector, len(kinds))
	for c, kind := range kinds {
		v := &vector.Vector{Kind: kind, Len: len(rows)}
		for i, row := range rows {
			x := row[c]
			v.Ints, v.Floats = append(v.Ints, x.Int), append(v.Floats, x.Float)
			v.Starts = append(v.Starts, int32(len(v.Data)))
			v.Data = append(v.Data, x.Bytes...)
			v.Ends = append(v.Ends, int32(len(v.Data)))
			if x.Null && v.Null == nil {
				v.Null = make([]bool, len(rows))
			}
			if x.Null {
				v.Null[i] = true
			}
		}
		columns[c] = v
	}
	return columns
}

func TestKeyBytes(t *testing.T) {
	shape := Shape{Kinds: []vector.Kind{vector.Date, vector.Text, vector.UUID}, Mark: 7, MarkAt: 1}
	row := []vector.Value{{Int: 1}, {Bytes: []byte("a\x00")}, {Null: true}}
	key := shape.Append(nil, columnsOf(shape.Kinds, [][]vector.Value{row}), 0)
	if got, want := hex.EncodeToString(key), "0180000001"+"07"+"01"+"6100ff00"+"00"; got != want {
		t.Errorf("key %s, want %s", got, want)
	}
	if mark, err := MarkOf(key, shape.Kinds[:1]); err != nil || mark != 7 {
		t.Errorf("mark %d, error %v", mark, err)
	}
}

// The key is the example of docs/format/partials.md.
func TestDocumentedKey(t *testing.T) {
	shape := Shape{Kinds: []vector.Kind{vector.Text, vector.Int32}}
	row := []vector.Value{{Bytes: []byte("cam-1")}, {Int: 640}}
	key := shape.Append(nil, columnsOf(shape.Kinds, [][]vector.Value{row}), 0)
	if got, want := hex.EncodeToString(key), "00"+"0163616d2d3100"+"0180000280"; got != want {
		t.Errorf("key %s, want %s", got, want)
	}
}

// value draws a value of which there are few, NULL and the ends of the range among them.
func value(kind vector.Kind) *rapid.Generator[vector.Value] {
	return rapid.Custom(func(t *rapid.T) vector.Value {
		which := rapid.IntRange(0, 4).Draw(t, kind.String())
		if which == 0 {
			return vector.Value{Null: true}
		}
		switch kind.Physical() {
		case vector.Ints:
			shift := 64 - 8*kind.Width()
			return vector.Value{Int: []int64{0, 1, math.MinInt64 >> shift, math.MaxInt64 >> shift}[which-1]}
		case vector.Floats:
			return vector.Value{Float: []float64{math.Copysign(0, -1), 0, -1.5, math.NaN()}[which-1]}
		}
		if kind.Width() > 0 {
			return vector.Value{Bytes: bytes.Repeat([]byte{byte(which)}, kind.Width())}
		}
		return vector.Value{Bytes: []byte([]string{"", "\x00", "a", "a\x00b"}[which-1])}
	})
}

// compareValues is the order of keys: NULL first, then the order of the type, in which the two zeros are one.
func compareValues(kind vector.Kind, a, b vector.Value) int {
	switch {
	case a.Null || b.Null:
		return btoi(b.Null) - btoi(a.Null)
	case kind.Physical() == vector.Ints:
		return cmp.Compare(a.Int, b.Int)
	case kind.Physical() == vector.Floats:
		if a.Float != a.Float || b.Float != b.Float {
			return btoi(a.Float != a.Float) - btoi(b.Float != b.Float)
		}
		return cmp.Compare(a.Float, b.Float)
	}
	return bytes.Compare(a.Bytes, b.Bytes)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func compareRows(kinds []vector.Kind, a, b []vector.Value) int {
	for i, kind := range kinds {
		if c := compareValues(kind, a[i], b[i]); c != 0 {
			return c
		}
	}
	return 0
}

var allKinds = []vector.Kind{
	vector.Boolean, vector.Int8, vector.Int16, vector.Int32, vector.Int64, vector.Date, vector.Time, vector.Timestamp, vector.Float32,
	vector.Float64, vector.Text, vector.Blob, vector.UUID, vector.TimeUUID, vector.Inet, vector.Varint, vector.Decimal,
}

// Rows are of one group if and only if their values are equal, and the keys of groups order as the values do and give them back.
func TestTableAgreesWithValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kinds := rapid.SliceOfN(rapid.SampledFrom(allKinds), 0, 5).Draw(t, "kinds")
		shape := Shape{Kinds: kinds, Mark: 3, MarkAt: rapid.IntRange(0, min(1, len(kinds))).Draw(t, "mark at")}
		table := NewTable(shape)
		for range rapid.IntRange(1, 2).Draw(t, "uses") {
			n := rapid.IntRange(1, 300).Draw(t, "rows")
			rows := make([][]vector.Value, n)
			for i := range rows {
				rows[i] = make([]vector.Value, len(kinds))
				for c, kind := range kinds {
					rows[i][c] = value(kind).Draw(t, "value")
				}
			}
			groups := make([]uint32, n)
			columns := columnsOf(kinds, rows)
			cut := rapid.IntRange(0, n).Draw(t, "cut")
			table.Find(columns, groups, 0, cut)
			table.Find(columns, groups, cut, n)
			checkGroups(t, table, shape, rows, groups)
			table.Reset(rapid.SampledFrom([]int{0, 1 << 30}).Draw(t, "keep"))
			if table.Len() != 0 {
				t.Fatalf("%d groups after a reset", table.Len())
			}
		}
	})
}

func checkGroups(t *rapid.T, table *Table, shape Shape, rows [][]vector.Value, groups []uint32) {
	first := map[uint32]int{}
	for i, g := range groups {
		if int(g) > len(first) || int(g) >= table.Len() {
			t.Fatalf("row %d is of group %d, with %d before", i, g, len(first))
		}
		at, known := first[g]
		if !known {
			first[g], at = i, i
		}
		if compareRows(shape.Kinds, rows[at], rows[i]) != 0 {
			t.Fatalf("rows %d and %d are of one group", at, i)
		}
	}
	if len(first) != table.Len() {
		t.Fatalf("%d groups, %d in use", table.Len(), len(first))
	}
	values := make([]vector.Value, len(shape.Kinds))
	for a, rowA := range first {
		if err := shape.Decode(table.Key(int(a)), values); err != nil {
			t.Fatal(err)
		}
		if compareRows(shape.Kinds, values, rows[rowA]) != 0 {
			t.Fatalf("the key of %v reads as %v", rows[rowA], values)
		}
		for b, rowB := range first {
			if got, want := bytes.Compare(table.Key(int(a)), table.Key(int(b))), compareRows(shape.Kinds, rows[rowA], rows[rowB]); got != want {
				t.Fatalf("keys of %v and %v order %d, want %d", rows[rowA], rows[rowB], got, want)
			}
		}
	}
}

func TestManyGroups(t *testing.T) {
	kinds := []vector.Kind{vector.Text, vector.Int32}
	table := NewTable(Shape{Kinds: kinds})
	const texts, numbers = 300, 200
	rows := make([][]vector.Value, 0, texts)
	groups := make([]uint32, texts)
	for range 2 {
		for n := range int64(numbers) {
			rows = rows[:0]
			for i := range texts {
				rows = append(rows, []vector.Value{{Bytes: fmt.Appendf(nil, "text %d", i)}, {Int: n}})
			}
			table.Find(columnsOf(kinds, rows), groups, 0, texts)
			for i, g := range groups {
				if int(g) != int(n)*texts+i {
					t.Fatalf("text %d and %d are group %d", i, n, g)
				}
			}
		}
	}
	if table.Len() != texts*numbers {
		t.Errorf("%d groups, want %d", table.Len(), texts*numbers)
	}
	if size := table.Size(); size < texts*numbers*24 {
		t.Errorf("size %d", size)
	}
	for _, keep := range []int{1 << 30, 100} {
		table.Reset(keep)
		if size, held := table.Size(), table.allocated(); size != 0 || held > keep {
			t.Errorf("size %d and %d bytes held after a reset that keeps %d", size, held, keep)
		}
	}
}

// FuzzDecode reads arbitrary bytes as a key: an error, or values.
func FuzzDecode(f *testing.F) {
	shape := Shape{Kinds: allKinds, MarkAt: 1}
	null := make([]vector.Value, len(allKinds))
	full := make([]vector.Value, len(allKinds))
	for i, kind := range allKinds {
		null[i].Null = true
		full[i].Bytes = make([]byte, kind.Width())
	}
	for _, row := range [][]vector.Value{null, full} {
		f.Add(shape.Append(nil, columnsOf(allKinds, [][]vector.Value{row}), 0))
	}
	f.Fuzz(func(t *testing.T, key []byte) {
		values := make([]vector.Value, len(allKinds))
		if err := shape.Decode(key, values); err != nil {
			return
		}
		rows := [][]vector.Value{values}
		again := make([]vector.Value, len(allKinds))
		if err := shape.Decode(shape.Append(nil, columnsOf(allKinds, rows), 0), again); err != nil || compareRows(allKinds, values, again) != 0 {
			t.Errorf("%v reads back as %v, error %v", values, again, err)
		}
	})
}

func TestGroups(t *testing.T) {
	kinds := []vector.Kind{vector.Text}
	g, err := New(Shape{Kinds: kinds}, []accumulate.Aggregate{{Func: "count", Rows: true}, {Func: "sum", Kind: vector.Int32}})
	if err != nil {
		t.Fatal(err)
	}
	keys := columnsOf(kinds, [][]vector.Value{{{Bytes: []byte("a")}}, {{Bytes: []byte("b")}}, {{Bytes: []byte("a")}}})
	numbers := columnsOf([]vector.Kind{vector.Int32}, [][]vector.Value{{{Int: 1}}, {{Int: 2}}, {{Int: 4}}})
	if err := g.Add(keys, []*vector.Vector{nil, numbers[0]}, 0, 3); err != nil {
		t.Fatal(err)
	}
	if ids := []int{g.ID(0), g.ID(1), g.ID(2)}; !slices.Equal(ids, []int{0, 1, 0}) || g.Len() != 2 {
		t.Errorf("rows are of groups %v, of %d", ids, g.Len())
	}
	merged, err := accumulate.NewStates([]accumulate.Aggregate{{Func: "count", Rows: true}, {Func: "sum", Kind: vector.Int32}})
	if err != nil {
		t.Fatal(err)
	}
	merged.Grow(1)
	for i := range g.Len() {
		if err := merged.Merge(0, g.AppendState(nil, i, false)); err != nil {
			t.Fatal(err)
		}
	}
	n, _ := merged[0].Result(0, 0)
	sum, _ := merged[1].Result(0, 0)
	if n.Int != 3 || sum.Int != 7 {
		t.Errorf("%d rows, sum %d", n.Int, sum.Int)
	}
	if err := merged.Merge(0, append(g.AppendState(nil, 0, false), 0)); err == nil {
		t.Error("a state with a byte too many merges")
	}
	g.Reset(0)
	if g.Len() != 0 {
		t.Errorf("%d groups after a reset", g.Len())
	}
}

func BenchmarkFind(b *testing.B) {
	const rows = vector.BlockRows
	for name, kinds := range map[string][]vector.Kind{
		"date-int":      {vector.Date, vector.Int32},
		"text-date":     {vector.Text, vector.Date},
		"text-date-int": {vector.Text, vector.Date, vector.Int32},
		"unpacked":      {vector.Timestamp, vector.Int64, vector.Int64},
	} {
		b.Run(name, func(b *testing.B) {
			blocks := make([][]*vector.Vector, 16)
			for k := range blocks {
				data := make([][]vector.Value, rows)
				for i := range data {
					row := make([]vector.Value, len(kinds))
					x := (k*rows + i) * 2654435761 >> 7
					for c := range kinds {
						row[c] = vector.Value{Int: int64(x >> (4 * c) % 200), Bytes: fmt.Appendf(nil, "device-%04d", x%200)}
					}
					data[i] = row
				}
				blocks[k] = columnsOf(kinds, data)
			}
			table, groups := NewTable(Shape{Kinds: kinds}), make([]uint32, rows)
			k := 0
			for b.Loop() {
				table.Find(blocks[k%len(blocks)], groups, 0, rows)
				k++
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
			b.ReportMetric(float64(table.Len()), "groups")
		})
	}
}
