package statistics

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"manifest/internal/sstable/component"
	"manifest/internal/sstable/fault"
	"manifest/internal/sstable/primitive"
)

// writer puts values together as Cassandra's serializers do.
type writer struct{ bytes.Buffer }

func (w *writer) i32(v int32)   { binary.Write(w, binary.BigEndian, v) }
func (w *writer) i64(v int64)   { binary.Write(w, binary.BigEndian, v) }
func (w *writer) f64(v float64) { binary.Write(w, binary.BigEndian, v) }
func (w *writer) uvint(v uint64) {
	w.Write(primitive.AppendUvint(nil, v))
}
func (w *writer) vbytes(s string) { w.uvint(uint64(len(s))); w.WriteString(s) }
func (w *writer) utf(s string)    { binary.Write(w, binary.BigEndian, uint16(len(s))); w.WriteString(s) }

func vbytes(s string) []byte {
	var w writer
	w.vbytes(s)
	return w.Bytes()
}

const marshal = "org.apache.cassandra.db.marshal."

func validationPart() []byte {
	var w writer
	w.utf("org.apache.cassandra.dht.Murmur3Partitioner")
	w.f64(0.01)
	return w.Bytes()
}

func headerPart(change func(*writer)) []byte {
	var w writer
	w.uvint(7)
	w.uvint(8)
	w.uvint(9)
	w.vbytes(marshal + "CompositeType(" + marshal + "UTF8Type," + marshal + "SimpleDateType)")
	w.uvint(2)
	w.vbytes(marshal + "ReversedType(" + marshal + "TimestampType)")
	w.vbytes(marshal + "TimeUUIDType")
	w.uvint(1)
	w.vbytes("owner")
	w.vbytes(marshal + "UTF8Type")
	w.uvint(3)
	w.vbytes("height")
	w.vbytes(marshal + "Int32Type")
	w.vbytes("tags")
	w.vbytes(marshal + "FrozenType(" + marshal + "SetType(" + marshal + "UTF8Type))")
	w.vbytes("attributes")
	w.vbytes(marshal + "MapType(" + marshal + "UTF8Type," + marshal + "UTF8Type)")
	if change != nil {
		change(&w)
	}
	return w.Bytes()
}

// statsPart is STATS of the versions me, nb and oa.
func statsPart(version string) []byte {
	v := component.Version{Format: component.Big, Name: version}
	var w writer
	for _, counts := range [][]int64{{3, 4}, {1}} { // histograms of partition sizes and cells
		w.i32(int32(len(counts)))
		for i, c := range counts {
			w.i64(int64(i))
			w.i64(c)
		}
	}
	w.i64(-1)
	w.i32(0) // commit log position
	w.i64(100)
	w.i64(200) // timestamps
	w.i32(5)
	w.i32(6) // local deletion times
	w.i32(30)
	w.i32(40) // TTLs
	w.f64(0.5)
	w.i32(100)
	w.i32(1) // tombstones
	if v.HasUnsignedDeletionTime() {
		w.i64(5)
		w.i32(9)
	} else {
		w.f64(5)
		w.i64(9)
	}
	w.i32(2)    // level
	w.i64(1234) // repaired at
	if v.HasImprovedMinMax() {
		w.uvint(2)
		w.vbytes(marshal + "Int32Type")
		w.vbytes(marshal + "UTF8Type")
		for range 2 {
			w.Write([]byte{1, 0, 2, 0}) // kind, count, all present
			w.Write([]byte{0, 0, 0, 1, 1, 'x'})
		}
	} else {
		for range 2 {
			w.i32(1)
			w.utf("clustering")
		}
	}
	w.WriteByte(0)
	w.i64(77) // cells
	w.i64(55) // rows
	w.i64(-1)
	w.i32(0)
	w.i32(1)
	w.Write(make([]byte, 24))
	if v.HasPendingRepair() {
		w.WriteByte(1)
		w.Write(make([]byte, 16))
		w.WriteByte(0)
	}
	if v.HasOriginatingHostID() {
		w.WriteByte(1)
		w.Write(make([]byte, 16))
	}
	if v.HasKeyRange() {
		w.WriteByte(0)
		w.vbytes("first")
		w.vbytes("last")
		w.f64(math.NaN())
	}
	return w.Bytes()
}

// file puts components together, with right checksums.
func file(version string, parts map[int32][]byte) []byte {
	sums := component.Version{Format: component.Big, Name: version}.HasMetadataChecksum()
	var w writer
	sum := func(b []byte) {
		if sums {
			binary.Write(&w, binary.BigEndian, crc32.ChecksumIEEE(b))
		}
	}
	var table writer
	table.i32(int32(len(parts)))
	w.Write(table.Bytes())
	sum(table.Bytes())
	at := 4 + 8*len(parts)
	if sums {
		at += 8
	}
	for typ := range int32(4) {
		if b, ok := parts[typ]; ok {
			table.i32(typ)
			table.i32(int32(at))
			at += len(b)
			if sums {
				at += 4
			}
		}
	}
	w.Write(table.Bytes()[4:])
	sum(table.Bytes())
	for typ := range int32(4) {
		if b, ok := parts[typ]; ok {
			w.Write(b)
			sum(b)
		}
	}
	return w.Bytes()
}

func set(t testing.TB, version string, content []byte) *component.Set {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, b := range map[string][]byte{"Data.db": nil, "Statistics.db": content, "TOC.txt": []byte("Data.db\nStatistics.db\nTOC.txt\n")} {
		fsys[version+"-1-big-"+name] = &fstest.MapFile{Data: b}
	}
	sets, err := component.Find(t.Context(), component.FS(fsys))
	if err != nil {
		t.Fatal(err)
	}
	return sets[0]
}

func parts(version string) map[int32][]byte {
	return map[int32][]byte{validation: validationPart(), compaction: {1, 2, 3}, stats: statsPart(version), header: headerPart(nil)}
}

func TestRead(t *testing.T) {
	for _, version := range []string{"me", "na", "nb", "oa"} {
		s, err := Read(t.Context(), set(t, version, file(version, parts(version))))
		if err != nil {
			t.Fatal(version, err)
		}
		h := s.Header
		if s.Partitioner != "org.apache.cassandra.dht.Murmur3Partitioner" || h.MinTimestamp != 1442880000000007 || h.MinLocalDeletionTime != 1442880008 || h.MinTTL != 9 {
			t.Errorf("%s: %q %+v", version, s.Partitioner, h)
		}
		var all []string
		for _, k := range h.Key {
			all = append(all, k.String())
		}
		for _, c := range h.Clustering {
			all = append(all, fmt.Sprint(c.Type, c.Descending))
		}
		for _, c := range append(append([]Column{}, h.Static...), h.Regular...) {
			all = append(all, fmt.Sprint(c.Name, " ", c.Type, c.Complex()))
		}
		want := "text|date|timestamp true|timeuuid false|owner text false|height int false|tags frozen<set<text>> false|attributes map<text, text> true"
		if got := strings.Join(all, "|"); strings.ReplaceAll(got, "  ", " ") != want {
			t.Errorf("%s: columns %s", version, got)
		}
		st := s.Stats
		if st == nil {
			t.Fatalf("%s: no stats", version)
		}
		if st.Partitions != 7 || st.Cells != 77 || st.Rows != 55 || st.MinTimestamp != 100 || st.MaxTimestamp != 200 || st.MaxLocalDeletionTime != 6 || st.MaxTTL != 40 || st.Tombstones != 9 ||
			st.RepairedAt != 1234 || st.Level != 2 || st.CompressionRatio != 0.5 {
			t.Errorf("%s: stats %+v", version, st)
		}
		if version == "oa" && (string(st.FirstKey) != "first" || string(st.LastKey) != "last") {
			t.Errorf("keys %q to %q", st.FirstKey, st.LastKey)
		}
	}
}

// TestStatsOfOthers reads STATS that are not as their version says: without them
// the rest is read all the same.
func TestStatsOfOthers(t *testing.T) {
	p := parts("nb")
	p[stats] = append(p[stats], make([]byte, 29)...)
	s, err := Read(t.Context(), set(t, "nb", file("nb", p)))
	if err != nil || s.Stats == nil || s.Stats.Rows != 55 {
		t.Errorf("bytes behind the end: %v, %v", s, err)
	}
	p[stats] = p[stats][:60]
	if s, err := Read(t.Context(), set(t, "nb", file("nb", p))); err != nil || s.Stats != nil {
		t.Errorf("cut: %v, %v", s, err)
	}
	delete(p, stats)
	if s, err := Read(t.Context(), set(t, "nb", file("nb", p))); err != nil || s.Stats != nil {
		t.Errorf("none: %v, %v", s, err)
	}
}

func TestReadRefuses(t *testing.T) {
	with := func(typ int32, b []byte) []byte {
		p := parts("nb")
		p[typ] = b
		return file("nb", p)
	}
	without := func(typ int32) []byte {
		p := parts("nb")
		delete(p, typ)
		return file("nb", p)
	}
	for _, c := range []struct {
		name    string
		content []byte
		text    string
	}{
		{"empty", nil, "count of components"},
		{"no HEADER", without(header), "no component of type 3"},
		{"no VALIDATION", without(validation), "no component of type 0"},
		{"bytes after the last column", with(header, headerPart(func(w *writer) { w.WriteByte(0) })), "1 bytes after the last column"},
		{"cut header", with(header, headerPart(func(w *writer) { w.Truncate(w.Len() - 3) })), "HEADER"},
		{"unknown type", with(header, bytes.Replace(headerPart(nil), []byte("Int32Type"), []byte("Foo32Type"), 1)), "Foo32Type"},
		{"column twice", with(header, bytes.Replace(headerPart(nil), []byte("\x05owner"), []byte("\x04tags"), 1)), `column "tags" occurs twice`},
		{"reversed column", with(header, bytes.Replace(headerPart(nil), vbytes(marshal+"Int32Type"), vbytes(marshal+"ReversedType("+marshal+"Int32Type)"), 1)), "reversed"},
		{"partitioner cut", with(validation, validationPart()[:20]), "VALIDATION"},
	} {
		_, err := Read(t.Context(), set(t, "nb", c.content))
		if err == nil || !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), "Statistics.db") {
			t.Errorf("%s: %v, want %q", c.name, err, c.text)
		}
	}
	if _, err := Read(t.Context(), set(t, "nb", with(header, bytes.Replace(headerPart(nil), []byte("Int32Type"), []byte("Foo32Type"), 1)))); !errors.Is(err, fault.ErrUnsupported) {
		t.Errorf("unknown type: %v", err)
	}
}

// TestEveryBitAndByte damages a file with checksums.
func TestEveryBitAndByte(t *testing.T) {
	whole := file("oa", parts("oa"))
	for bit := range 8 * len(whole) {
		b := bytes.Clone(whole)
		b[bit/8] ^= 1 << (bit % 8)
		if _, err := Read(t.Context(), set(t, "oa", b)); !errors.Is(err, fault.ErrCorrupt) {
			t.Errorf("bit %d: %v", bit, err)
		}
	}
	for n := range whole {
		if _, err := Read(t.Context(), set(t, "oa", whole[:n])); !errors.Is(err, fault.ErrCorrupt) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
}

// FuzzRead reads components that no writer made, with right checksums.
func FuzzRead(f *testing.F) {
	f.Add(byte(0), headerPart(nil), statsPart("oa"))
	f.Add(byte(1), headerPart(nil), statsPart("nb"))
	f.Add(byte(2), headerPart(nil), statsPart("me"))
	f.Fuzz(func(t *testing.T, v byte, head, st []byte) {
		version := []string{"oa", "nb", "me"}[v%3]
		content := file(version, map[int32][]byte{validation: validationPart(), stats: st, header: head})
		s, err := Read(t.Context(), set(t, version, content))
		if err == nil && len(s.Header.Key) == 0 {
			t.Error("a header without a key")
		}
	})
}
