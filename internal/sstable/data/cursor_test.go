package data

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"
	"testing/fstest"

	"manifest/internal/cqltype"
	"manifest/internal/sstable/chunk"
	"manifest/internal/sstable/component"
	"manifest/internal/sstable/fault"
	"manifest/internal/sstable/primitive"
	"manifest/internal/sstable/statistics"
	"manifest/tokenrange"
)

// open gives a cursor over content, as that of an SSTable that is not compressed,
// with right checksums.
func open(t testing.TB, version string, h *statistics.Header, content []byte) *Cursor {
	t.Helper()
	return openWindow(t, version, h, content, 64)
}

// openWindow is the same with so many bytes read at once.
func openWindow(t testing.TB, version string, h *statistics.Header, content []byte, step int) *Cursor {
	t.Helper()
	const length = 64
	crc := binary.BigEndian.AppendUint32(nil, length)
	for at := 0; at < len(content); at += length {
		crc = binary.BigEndian.AppendUint32(crc, crc32.ChecksumIEEE(content[at:min(at+length, len(content))]))
	}
	fsys := fstest.MapFS{}
	for name, b := range map[string][]byte{"Data.db": content, "CRC.db": crc, "Statistics.db": nil, "TOC.txt": []byte("Data.db\nCRC.db\nStatistics.db\nTOC.txt\n")} {
		fsys[version+"-1-big-"+name] = &fstest.MapFile{Data: b}
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
	uses := func(n int) []Use {
		us := make([]Use, n)
		for i := range us {
			us[i] = Use{Ordinal: i, Wanted: i%2 == 0, DroppedAt: primitive.NoTimestamp}
		}
		return us
	}
	l := NewLayout(h, sets[0].Version, tokenrange.Murmur3, uses(len(h.Static)), uses(len(h.Regular)))
	return l.NewCursor(f.NewWindow(chunk.WindowOptions{Step: step}))
}

func typ(t testing.TB, s string) *cqltype.Type {
	t.Helper()
	ty, err := cqltype.Parse(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return ty
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestUsers reads a partition that Cassandra 3.0 wrote: users('frodo'), 50 bytes.
func TestUsers(t *testing.T) {
	h := &statistics.Header{
		MinTimestamp: 1455937221199050, Key: []*cqltype.Type{typ(t, "text")},
		Regular: []statistics.Column{{Name: "birth_year", Type: typ(t, "bigint")}, {Name: "gender", Type: typ(t, "text")}, {Name: "password", Type: typ(t, "text")}, {Name: "state", Type: typ(t, "text")}},
	}
	content := unhex(t, `0005 66726f646f  7fffffff 8000000000000000
		24 1c 13 00
		08 00000000000007c1  08 04 6d616c65  08 05 7061737340  08 02 4341
		01`)
	c := open(t, "ma", h, content)
	defer c.Close()
	if ok, err := c.NextPartition(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	// The token is that of Cassandra for this key.
	if string(c.Key()) != "frodo" || c.Token() != tokenrange.Int64Token(6564497868996989420) || !c.PartitionDeletion().IsLive() {
		t.Errorf("partition %q, %s, %v", c.Key(), c.Token(), c.PartitionDeletion())
	}
	if kind, err := c.Next(); kind != RowKind || err != nil {
		t.Fatal(kind, err)
	}
	var row Row
	if err := c.Row(&row); err != nil {
		t.Fatal(err)
	}
	if row.Liveness != (Liveness{1455937221199050, 0, primitive.NoDeletionTime}) || len(row.Cells) != 4 {
		t.Errorf("row %+v", row)
	}
	for i, want := range []string{"\x00\x00\x00\x00\x00\x00\x07\xc1", "male", "pass@", "CA"} {
		if cell := row.Cells[i]; string(cell.Value) != want || cell.Column != int32(i) || cell.Timestamp != 1455937221199050 || !cell.Live(0) || cell.Path != nil {
			t.Errorf("cell %d: %+v", i, cell)
		}
	}
	if kind, err := c.Next(); kind != End || err != nil {
		t.Error(kind, err)
	}
	if ok, err := c.NextPartition(); ok || err != nil {
		t.Error(ok, err)
	}
}

// sample is a header with something of everything.
func sample(t testing.TB) *statistics.Header {
	return &statistics.Header{
		MinTimestamp: 1000, MinLocalDeletionTime: 500, MinTTL: 10,
		Key:        []*cqltype.Type{typ(t, "int")},
		Clustering: []statistics.ClusteringType{{Type: typ(t, "int")}, {Type: typ(t, "text"), Descending: true}},
		Static:     []statistics.Column{{Name: "s", Type: typ(t, "int")}},
		Regular:    []statistics.Column{{Name: "a", Type: typ(t, "int")}, {Name: "b", Type: typ(t, "text")}, {Name: "m", Type: typ(t, "map<int, int>")}},
	}
}

// The pieces of a partition of that table, by hand from the grammar.
const (
	head   = "0004 00000001 80"      // key 1, live
	static = "80 01 01 00 "          // a static row without columns, of which all are missing
	noStat = "84 01 03 00 05 01 "    // liveness at 1005; the one static column is missing
	row1   = "24 00 00000001 01 62 " // clustering (1, "b"), liveness, all columns
)

// withSize puts the size of what is behind it, and a size of the one before, in
// front of a row's body.
func withSize(body string) string {
	n := len(strings.Join(strings.Fields(body), "")) / 2
	return fmt.Sprintf("%02x 00 %s", n+1, body)
}

// walk reads everything and gives what Next found in a word each.
func walk(c *Cursor) (string, error) {
	var b strings.Builder
	var row Row
	for {
		ok, err := c.NextPartition()
		if !ok || err != nil {
			return b.String(), err
		}
		fmt.Fprintf(&b, "P%x ", c.Key())
		if c.HasStatic() {
			if err := c.Static(&row); err != nil {
				return b.String(), err
			}
			fmt.Fprintf(&b, "S%d ", len(row.Cells))
		}
		for kind := Marker; kind != End; {
			if kind, err = c.Next(); err != nil {
				return b.String(), err
			}
			switch kind {
			case RowKind:
				if err := c.Row(&row); err != nil {
					return b.String(), err
				}
				fmt.Fprintf(&b, "R%q", c.Position().Values)
				for _, cell := range row.Cells {
					fmt.Fprintf(&b, ",%d@%d/%d/%d:%x=%x", cell.Column, cell.Timestamp, cell.TTL, cell.LocalDeletionTime%1e15, cell.Path, cell.Value)
				}
				for _, d := range row.ComplexDeletions {
					fmt.Fprintf(&b, ",%d!%d", d.Column, d.Time.MarkedForDeleteAt)
				}
				if !row.Deletion.IsLive() {
					fmt.Fprintf(&b, "!%d/%d", row.Deletion.MarkedForDeleteAt, row.Deletion.LocalDeletionTime)
				}
				b.WriteByte(' ')
			case Marker:
				fmt.Fprintf(&b, "M%d%q ", c.Position().Bound, c.Position().Values)
			}
		}
	}
}

const staticSize = "80 01 02 00 01 " // a static row: size 2, its one column missing

func TestWalk(t *testing.T) {
	never := int64(primitive.NoDeletionTime % int64(1e15))
	for _, c := range []struct{ name, content, want string }{
		{"empty partition", head + staticSize + "01", "P00000001 S0 "},
		{"static cell", head + "a0 01 " + withSize("00 07 0000002a") + "01", "P00000001 S1 "},
		{
			"cells of every kind",
			head + staticSize + row1 + withSize(
				"03"+ // liveness at 1003
					"08 00000007"+ // a = 7 at the row's time
					"01 05 09"+ // b deleted at 1005, local 509: with an empty value that the flags do not tell
					"00"+
					"02"+ // two cells of m
					"08 04 00000001 04 00000002"+ // m[1] = 2 at the row's time
					"06 06 0a 05 04 00000002") + // m[2] empty, at 1006, expiring at 510 after 15
				"01",
			fmt.Sprintf(`P00000001 S0 R["\x00\x00\x00\x01" "b"],0@1003/0/%d:=00000007,1@1005/0/509:=,2@1003/0/%d:00000001=00000002,2@1006/15/510:00000002= `, never, never),
		},
		{
			"expiring row whose cells expire with it",
			head + staticSize + "2c 00 00000001 01 62 " + withSize("03 05 14"+"1a 00000007"+"1e"+"00") + "01",
			`P00000001 S0 R["\x00\x00\x00\x01" "b"],0@1003/15/520:=00000007,1@1003/15/520:= `,
		},
		{
			"row deletion beside newer cells, and a complex deletion",
			head + staticSize + "70 00 00000001 01 62 " + withSize("02 03"+"00 05 00000007"+"04 06"+"01 02 00") + "01",
			fmt.Sprintf(`P00000001 S0 R["\x00\x00\x00\x01" "b"],0@1005/0/%d:=00000007,1@1006/0/%d:=,2!1001!1002/503 `, never, never),
		},
		{
			"subset, empty and null clustering values",
			head + staticSize + "04 06 " + withSize("00 06"+"08 00000007") + "04 04 00000001 " + withSize("00 07") + "01",
			fmt.Sprintf(`P00000001 S0 R["" ""],0@1000/0/%d:=00000007 R["\x00\x00\x00\x01" ""] `, never),
		},
		{
			"markers: start, boundary, end of a prefix, and no values",
			head + staticSize + "02 01 0001 00 00000001 00 00 05 05" + "02 02 0001 00 00000003 00 00 05 05 06 06" + "02 06 0002 00 00000003 01 61 00 00 06 06" +
				"02 01 0001 00 00000009 00 00 07 07" + "02 06 0000 00 00 07 07" + "01",
			`P00000001 S0 M1["\x00\x00\x00\x01"] M2["\x00\x00\x00\x03"] M6["\x00\x00\x00\x03" "a"] M1["\x00\x00\x00\t"] M6[] `,
		},
		{"two partitions in token order", head + staticSize + "01" + "0004 000010dd 80" + staticSize + "01", "error"},
		{"two partitions", "0004 000010dd 80" + staticSize + "01" + head + staticSize + "01", "P000010dd S0 P00000001 S0 "},
	} {
		c2 := open(t, "oa", sample(t), unhex(t, c.content))
		got, err := walk(c2)
		if c.want == "error" {
			if !errors.Is(err, fault.ErrCorrupt) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if got != c.want || err != nil {
			t.Errorf("%s:\n got %s\nwant %s\n%v", c.name, got, c.want, err)
		}
		c2.Close()
	}
}

func TestWalkRefuses(t *testing.T) {
	for _, c := range []struct{ name, content, text string }{
		{"no end of partition", head + staticSize, "content ends"},
		{"cut key", "0004 0000", "content ends"},
		{"cut deletion", "0004 00000001 00", "content ends"},
		{"unknown deletion", "0004 00000001 81", "deletion time"},
		{"no static row", head + "01 00", "no static row"},
		{"static flag on a later row", head + staticSize + "a4 01 00 00000001 01 62" + withSize("00"), "unknown flags"},
		{"unknown extension", head + staticSize + "a4 04 00 00000001 01 62" + withSize("00"), "unknown flags"},
		{"TTL without timestamp", head + staticSize + "28 00 00000001 01 62" + withSize("00"), "unknown flags"},
		{"marker with other flags", head + staticSize + "06 01 0001", "unknown flags"},
		{"end of partition with other flags", head + staticSize + "21", "unknown flags"},
		{"row longer than the file", head + staticSize + row1 + "7f 00 00 01", "a row of 127 bytes"},
		{"row longer than what is left of the file", head + staticSize + row1 + "12 00 00 01", "content ends"},
		{"row longer than its cells", head + staticSize + row1 + withSize("00 08 00000001 0c 00 ff") + "01", "1 bytes after"},
		{"row shorter than its cells", head + staticSize + row1 + withSize("00 08 000000") + "01", "ends inside"},
		{"row size too small for what is in it", head + staticSize + row1 + "00 00 01", "a row of 0 bytes"},
		{"unknown cell flag", head + staticSize + row1 + withSize("00 28 00000001 0c 00") + "01", "unknown flags 0x28"},
		{"cell deleted and expiring", head + staticSize + row1 + withSize("00 0b 01 01 00000001 0c 00") + "01", "unknown flags 0xb"},
		{"row's TTL of a row without", head + staticSize + row1 + withSize("00 1a 00000001 0c 00") + "01", "unknown flags 0x1a"},
		{"row's time of a row without", head + staticSize + "20 00 00000001 01 62" + withSize("08 00000001 0c 00") + "01", "unknown flags 0x8"},
		{"more cells than bytes", head + staticSize + row1 + withSize("00 08 00000001 0c 7f") + "01", "127 cells"},
		{"subset of unknown columns", head + staticSize + "04 00 00000001 01 62" + withSize("00 08"), "more columns are missing"},
		{"rows out of order", head + staticSize + "04 00 00000001 01 62 " + withSize("00 07") + "04 00 00000001 01 63 " + withSize("00 07") + "01", "does not come after"},
		{"row twice", head + staticSize + "04 00 00000001 01 62 " + withSize("00 07") + "04 00 00000001 01 62 " + withSize("00 07") + "01", "does not come after"},
		{"clustering value both empty and null", head + staticSize + "04 03 01 62 " + withSize("00 07") + "01", "both empty and null"},
		{"marker of a row's kind", head + staticSize + "02 04 0001 00 00000001 00 00 05 05 01", "marker of kind 4"},
		{"marker with too many values", head + staticSize + "02 01 0003 00 00000001 00 00 05 05 01", "3 values"},
		{"end without start", head + staticSize + "02 06 0001 00 00000001 00 00 05 05 01", "closes outside"},
		{"start inside", head + staticSize + "02 01 0001 00 00000001 00 00 05 05 02 01 0001 00 00000002 00 00 05 05", "opens inside"},
		{"end of another time", head + staticSize + "02 01 0001 00 00000001 00 00 05 05 02 06 0001 00 00000002 00 00 06 05 01", "closes as"},
		{"partition ends inside a range tombstone", head + staticSize + "02 01 0001 00 00000001 00 00 05 05 01", "ends inside"},
		{"partition twice", head + staticSize + "01" + head + staticSize + "01", "do not come after"},
	} {
		cursor := open(t, "oa", sample(t), unhex(t, c.content))
		_, err := walk(cursor)
		var f *fault.Error
		if !errors.Is(err, fault.ErrCorrupt) || !strings.Contains(fmt.Sprint(err), c.text) || !errors.As(err, &f) || f.File == "" {
			t.Errorf("%s: %v, want corruption that says %q", c.name, err, c.text)
		}
		cursor.Close()
	}
}

// wideHeader has n int columns.
func wideHeader(t testing.TB, n int) *statistics.Header {
	h := &statistics.Header{Key: []*cqltype.Type{typ(t, "int")}}
	for i := range n {
		h.Regular = append(h.Regular, statistics.Column{Name: fmt.Sprintf("c%03d", i), Type: typ(t, "int")})
	}
	return h
}

func TestSubset(t *testing.T) {
	for _, c := range []struct {
		name    string
		columns int
		subset  string
		want    []int32 // present; nil is an error
	}{
		{"bit map", 5, "1a", []int32{0, 2}},
		{"bit map of none missing", 3, "00", []int32{0, 1, 2}},
		{"bit map of 63", 63, "ff 7ffffffffffffffe", []int32{0}},
		{"bit past the last column", 5, "20", nil},
		{"few present of 64", 64, "3e 03 3f", []int32{3, 63}},
		{"present not ascending", 64, "3e 03 03", nil},
		{"present out of range", 64, "3e 03 40", nil},
		{"more missing than there are", 64, "41", nil},
		{"all missing of 70", 70, "46", []int32{}},
		{"31 of 64 present are listed as present", 64, "21" + hexRange(0, 31), int32s(0, 31)},
		{"32 of 64 present are listed as missing", 64, "20" + hexRange(0, 32), int32s(32, 64)},
		{"34 of 69 present are listed as missing", 69, "23" + hexRange(0, 35), int32s(35, 69)},
	} {
		h := wideHeader(t, c.columns)
		body := "00 " + c.subset
		for range c.want {
			body += "08 00000001"
		}
		b := unhex(t, body)
		content := append(unhex(t, "0004 00000001 80 04"), primitive.AppendUvint(nil, uint64(len(b)+1))...)
		content = append(append(append(content, 0), b...), 1)
		cursor := open(t, "oa", h, content)
		if _, err := cursor.NextPartition(); err != nil {
			t.Fatal(err)
		}
		if _, err := cursor.Next(); err != nil {
			t.Fatal(err)
		}
		var row Row
		err := cursor.Row(&row)
		if c.want == nil {
			if !errors.Is(err, fault.ErrCorrupt) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		got := []int32{}
		for _, cell := range row.Cells {
			got = append(got, cell.Column)
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) || err != nil {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
}

func hexRange(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "%02x", i)
	}
	return b.String()
}

func int32s(from, to int32) []int32 {
	var s []int32
	for i := from; i < to; i++ {
		s = append(s, i)
	}
	return s
}

// TestPlain compares the short way with the whole row.
func TestPlain(t *testing.T) {
	content := unhex(t, head+staticSize+row1+withSize("03 08 00000007 08 01 78 01 08 04 00000001 04 00000002")+"01")
	c := open(t, "oa", sample(t), content)
	defer c.Close()
	if _, err := c.NextPartition(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Next(); err != nil {
		t.Fatal(err)
	}
	if !c.CanPlain() {
		t.Fatal("the row has a liveness and nothing else")
	}
	var row Row
	if err := c.Plain(&row); err != nil {
		t.Fatal(err)
	}
	// The columns at even places are wanted: a and m.
	if len(row.Cells) != 2 || row.Cells[0].Column != 0 || row.Cells[1].Column != 2 {
		t.Errorf("cells %+v", row.Cells)
	}
	if kind, err := c.Next(); kind != End || err != nil {
		t.Error(kind, err)
	}
}

func TestComparePositions(t *testing.T) {
	cs := open(t, "oa", sample(t), nil).layout.Comparators()
	one, two := []byte{0, 0, 0, 1}, []byte{0, 0, 0, 2}
	at := func(b Bound, values ...[]byte) Position { return Position{values, b} }
	ascending := []Position{
		at(InclusiveStart),                   // before everything
		at(RowBound, nil, nil),               // null first
		at(InclusiveStart, []byte{}),         // the prefix ("")
		at(RowBound, []byte{}, []byte("a")),  //
		at(ExclusiveEnd, one),                // before all of (1)
		at(RowBound, one, []byte("b")),       // the second column descends
		at(InclusiveStart, one, []byte("a")), //
		at(RowBound, one, []byte("a")),       //
		at(InclusiveEnd, one, []byte("a")),   //
		at(RowBound, one, []byte{}),          // empty is last in a descending column
		at(InclusiveEndExclusiveStart, one),  // behind all of (1)
		at(ExclusiveEndInclusiveStart, two),  //
		at(RowBound, two, []byte("b")),       //
		at(ExclusiveStart, two),              //
		at(InclusiveEnd),                     // behind everything
	}
	for i, a := range ascending {
		for j, b := range ascending {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if got := cs.Compare(a, b); got != want {
				t.Errorf("%v and %v: %d, want %d", a, b, got, want)
			}
		}
	}
	if cs.Compare(at(ExclusiveEnd, one), at(InclusiveStart, one)) != 0 || cs.Compare(at(InclusiveEnd, one), at(ExclusiveStart, one)) != 0 {
		t.Error("where one range ends and the next starts is one place")
	}
}

// FuzzCursor reads content that no writer made, with right checksums.
func FuzzCursor(f *testing.F) {
	for _, content := range []string{
		head + staticSize + row1 + withSize("03 08 00000007 01 05 09 00 02 08 04 00000001 04 00000002 06 06 0a 05 04 00000002") + "01",
		head + staticSize + "02 01 0001 00 00000001 00 00 05 05" + "02 06 0000 00 00 05 05" + "01",
		head + noStat + "01", head + static + "01",
	} {
		f.Add(byte(0), unhex(f, content))
		f.Add(byte(1), unhex(f, strings.Replace(content, "80", "7fffffff8000000000000000", 1)))
	}
	f.Fuzz(func(t *testing.T, version byte, content []byte) {
		for _, h := range []*statistics.Header{sample(t), wideHeader(t, 70)} {
			c := open(t, []string{"oa", "nb"}[version%2], h, content)
			first, err := walk(c)
			c.Close()
			if err != nil && !errors.Is(err, fault.ErrCorrupt) {
				t.Errorf("neither read nor corrupt: %v", err)
			}
			// Passing over rows must find the same ends as reading them.
			c = open(t, []string{"oa", "nb"}[version%2], h, content)
			rows := 0
			for {
				ok, e := c.NextPartition()
				if !ok || e != nil {
					break
				}
				rows++
			}
			c.Close()
			if want := strings.Count(first, "P"); err == nil && rows != want {
				t.Errorf("%d partitions passed over, %d read", rows, want)
			}
		}
	})
}
