package merge

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"
	"testing/fstest"

	"manifest/internal/cqltype"
	"manifest/internal/sstable/chunk"
	"manifest/internal/sstable/component"
	"manifest/internal/sstable/data"
	"manifest/internal/sstable/order"
	"manifest/internal/sstable/primitive"
	"manifest/internal/sstable/statistics"
	"manifest/tokenrange"
)

// The table of these tests: CREATE TABLE t (k int, c int, v text, PRIMARY KEY (k, c)).
var (
	header = &statistics.Header{
		Key:        []*cqltype.Type{{Kind: cqltype.Int}},
		Clustering: []statistics.ClusteringType{{Type: &cqltype.Type{Kind: cqltype.Int}}},
		Regular:    []statistics.Column{{Name: "v", Type: &cqltype.Type{Kind: cqltype.Text}}},
	}
	options = Options{
		Regular:     []Column{{Name: "v", Wanted: true}},
		Comparators: data.Comparators{order.Of(&cqltype.Type{Kind: cqltype.Int})},
	}
)

// table writes the Data.db of an SSTable.
type table struct{ b []byte }

func (w *table) partition(key uint32) {
	w.b = append(binary.BigEndian.AppendUint32(append(w.b, 0, 4), key), 0x80)
}

// row writes a row as an INSERT does.
func (w *table) row(clustering uint32, timestamp byte, value string) {
	w.b = binary.BigEndian.AppendUint32(append(w.b, 0x24, 0), clustering)
	w.b = append(w.b, byte(1+1+2+len(value)), 0, timestamp, 0x08, byte(len(value)))
	w.b = append(w.b, value...)
}

// marker writes a range tombstone's start or end.
func (w *table) marker(b data.Bound, clustering uint32, timestamp byte) {
	w.b = binary.BigEndian.AppendUint32(append(w.b, 0x02, byte(b), 0, 1, 0), clustering)
	w.b = append(w.b, 0, 0, timestamp, 0)
}

func (w *table) end() { w.b = append(w.b, 1) }

type cursorSource struct{ cursor *data.Cursor }

func (s cursorSource) Cursor() *data.Cursor         { return s.cursor }
func (s cursorSource) NextPartition() (bool, error) { return s.cursor.NextPartition() }

func (s cursorSource) Below() (tokenrange.Token, bool) { return tokenrange.Murmur3.Ring().End, true }

// source opens the SSTable.
func (w *table) source(t testing.TB) Source {
	t.Helper()
	const length = 4096
	crc := binary.BigEndian.AppendUint32(nil, length)
	for at := 0; at < len(w.b); at += length {
		crc = binary.BigEndian.AppendUint32(crc, crc32.ChecksumIEEE(w.b[at:min(at+length, len(w.b))]))
	}
	fsys := fstest.MapFS{}
	for name, b := range map[string][]byte{"Data.db": w.b, "CRC.db": crc, "Statistics.db": nil, "TOC.txt": []byte("Data.db\nCRC.db\nStatistics.db\n")} {
		fsys["oa-1-big-"+name] = &fstest.MapFile{Data: b}
	}
	sets, err := component.Find(t.Context(), component.FS(fsys))
	if err != nil {
		t.Fatal(err)
	}
	f, err := chunk.Open(t.Context(), sets[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	l := data.NewLayout(header, sets[0].Version, tokenrange.Murmur3, nil, []data.Use{{Wanted: true, DroppedAt: primitive.NoTimestamp}})
	return cursorSource{l.NewCursor(f.NewWindow(chunk.WindowOptions{}))}
}

// rowsOf gives what a merger shows.
func rowsOf(t testing.TB, sources ...Source) string {
	t.Helper()
	m := New(sources, options)
	var b strings.Builder
	for {
		ok, err := m.NextPartition()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return b.String()
		}
		for {
			ok, err := m.Next()
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			fmt.Fprintf(&b, "%d/%d=%s ", binary.BigEndian.Uint32(m.Key()), binary.BigEndian.Uint32(m.Clustering()[0]), m.Cells()[0].Value)
		}
	}
}

// keys are three keys in token order.
var keys = func() [3]uint32 {
	token := func(k uint32) tokenrange.Token {
		return tokenrange.Murmur3.Token(binary.BigEndian.AppendUint32(nil, k))
	}
	ks := [3]uint32{1, 2, 3}
	for i := range ks {
		for j := range i {
			if token(ks[i]).Less(token(ks[j])) {
				ks[i], ks[j] = ks[j], ks[i]
			}
		}
	}
	return ks
}()

func TestMerger(t *testing.T) {
	var a, b, c table
	a.partition(keys[0])
	a.row(1, 10, "a1")
	a.row(3, 10, "a3")
	a.end()
	a.partition(keys[1])
	a.row(1, 10, "only a")
	a.end()

	b.partition(keys[0])
	b.row(1, 20, "b1")
	b.row(2, 20, "b2")
	b.end()
	b.partition(keys[2])
	b.row(7, 20, "only b")
	b.end()

	c.partition(keys[0])
	c.marker(data.InclusiveStart, 2, 25)
	c.marker(data.InclusiveEnd, 2, 25)
	c.end()
	c.partition(keys[1])
	c.marker(data.InclusiveStart, 0, 5)
	c.marker(data.InclusiveEnd, 9, 5)
	c.end()

	want := fmt.Sprintf("%d/1=b1 %d/3=a3 %d/1=only a %d/7=only b ", keys[0], keys[0], keys[1], keys[2])
	for _, order := range [][]*table{{&a, &b, &c}, {&c, &b, &a}, {&b, &a, &c, &a, &b}} {
		var sources []Source
		for _, w := range order {
			sources = append(sources, w.source(t))
		}
		if got := rowsOf(t, sources...); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := rowsOf(t); got != "" {
		t.Errorf("no sources: %s", got)
	}
}

// TestMergerFollowsRanges has range tombstones of several SSTables that overlap,
// and one whose end lies behind the next row of another SSTable.
func TestMergerFollowsRanges(t *testing.T) {
	var rows, first, second table
	rows.partition(1)
	for i := range uint32(10) {
		rows.row(i, byte(10+i), fmt.Sprint(i))
	}
	rows.end()
	first.partition(1)
	first.marker(data.InclusiveStart, 1, 14)
	first.marker(data.InclusiveEnd, 7, 14)
	first.end()
	second.partition(1)
	second.marker(data.ExclusiveStart, 3, 16)
	second.marker(data.InclusiveEnd, 5, 16)
	second.marker(data.InclusiveStart, 6, 11)
	second.marker(data.InclusiveEnd, 9, 11)
	second.end()
	// Row i was written at 10+i: 1 to 4 fall to the first range, 4 and 5 to the second.
	if got := rowsOf(t, rows.source(t), first.source(t), second.source(t)); got != "1/0=0 1/6=6 1/7=7 1/8=8 1/9=9 " {
		t.Errorf("got %s", got)
	}
}

// TestNoAllocations reads rows of one SSTable and of two.
func TestNoAllocations(t *testing.T) {
	const rows = 5000
	var a, b table
	a.partition(1)
	b.partition(1)
	for i := range uint32(rows) {
		a.row(i, 10, "value of a")
		b.row(i, 11, "value of b")
	}
	a.end()
	b.end()
	for name, sources := range map[string][]Source{"one": {a.source(t)}, "two": {a.source(t), b.source(t)}} {
		m := New(sources, options)
		if ok, err := m.NextPartition(); !ok || err != nil {
			t.Fatal(ok, err)
		}
		for range 100 { // until all buffers have grown
			if ok, err := m.Next(); !ok || err != nil {
				t.Fatal(ok, err)
			}
		}
		if n := testing.AllocsPerRun(rows-200, func() {
			if ok, err := m.Next(); !ok || err != nil {
				t.Fatal(ok, err)
			}
		}); n > 0 {
			t.Errorf("%s: %v allocations for a row", name, n)
		}
	}
}
