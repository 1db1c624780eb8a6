package data

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"manifest/internal/cqltype"
	"manifest/internal/sstable/primitive"
	"manifest/internal/sstable/statistics"
	"manifest/tokenrange"
)

// imagesHeader is that of a table without a clustering key. Of its columns, those
// at even places are wanted.
func imagesHeader() *statistics.Header {
	native := func(k cqltype.Kind) *cqltype.Type { return &cqltype.Type{Kind: k} }
	text := native(cqltype.Text)
	return &statistics.Header{
		MinTimestamp: 1000, MinLocalDeletionTime: 500, MinTTL: 10, Key: []*cqltype.Type{native(cqltype.Int)},
		Regular: []statistics.Column{
			{Name: "a", Type: native(cqltype.Int)}, {Name: "b", Type: text}, {Name: "c", Type: text},
			{Name: "m", Type: &cqltype.Type{Kind: cqltype.Map, Elems: []*cqltype.Type{text, text}}},
		},
	}
}

// readPartition gives in words what a partition has, of whose key c has read the
// head: of a plain row the wanted values.
func readPartition(c *Cursor, row *Row) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%x", c.Key())
	if !c.PartitionDeletion().IsLive() {
		fmt.Fprintf(&b, " deleted at %d", c.PartitionDeletion().MarkedForDeleteAt)
	}
	for {
		kind, err := c.Next()
		if err != nil || kind == End {
			return b.String(), err
		}
		if kind == Marker {
			b.WriteString(" marker")
			continue
		}
		read := c.Row
		if c.PartitionDeletion().IsLive() && c.CanPlain() {
			read = c.Plain
		} else {
			b.WriteString(" row")
		}
		if err := read(row); err != nil {
			return b.String(), err
		}
		for _, cell := range row.Cells {
			fmt.Fprintf(&b, " %d=%x", cell.Column, cell.Value)
			if cell.LocalDeletionTime != primitive.NoDeletionTime || cell.Timestamp != row.Liveness.Timestamp || cell.Path != nil {
				fmt.Fprintf(&b, "@%d/%d/%d:%x", cell.Timestamp, cell.TTL, cell.LocalDeletionTime, cell.Path)
			}
		}
	}
}

// readAll reads a cursor to its end, one partition after the other; between them,
// if ReadRun is to be used, runs of at most so many rows with tokens below one.
func readAll(c *Cursor, rows int, below tokenrange.Token) (all []string, runs int, err error) {
	defer c.Close()
	var row Row
	var run Run
	for {
		ok, err := c.NextPartition()
		if !ok || err != nil {
			return all, runs, err
		}
		text, err := readPartition(c, &row)
		all = append(all, text)
		if err != nil {
			return all, runs, err
		}
		for rows > 0 {
			at := c.Offset()
			c.ReadRun(&run, below, rows, 1<<20)
			if run.Len() == 0 {
				if c.Offset() != at {
					return all, runs, fmt.Errorf("a run of nothing moves from %d to %d", at, c.Offset())
				}
				break
			}
			runs += run.Len()
			for i, key := range run.Keys {
				text := fmt.Sprintf("%x", key.Of(run.View))
				for o, values := range run.Values {
					if values != nil && values[i] != cqltype.NullSpan {
						text += fmt.Sprintf(" %d=%x", o, values[i].Of(run.View))
					}
				}
				all = append(all, text)
			}
			last := run.Keys[len(run.Keys)-1].Of(run.View)
			if !slices.Equal(c.Key(), last) || !c.Token().Less(below) {
				return all, runs, fmt.Errorf("at key %x, token %s behind a run up to %x, below %s", c.Key(), c.Token(), last, below)
			}
		}
	}
}

// cell writes a cell of a column, of length -1 a text; a plain one as an INSERT does.
func cell(t *rapid.T, plain bool, b []byte, length int) []byte {
	value := func() {
		n := length
		if n < 0 {
			n = rapid.SampledFrom([]int{0, 1, 30, 127, 128, 300}).Draw(t, "length")
			b = primitive.AppendUvint(b, uint64(n))
		}
		b = append(b, slices.Repeat([]byte{byte(len(b))}, n)...)
	}
	kind := -1
	if !plain {
		kind = rapid.IntRange(0, 9).Draw(t, "cell")
	}
	switch kind {
	case 0: // a tombstone of the row's time
		return append(b, cellDeleted|cellUseRowTimestamp|cellEmptyValue, 7)
	case 1: // one of its own
		return append(b, cellDeleted|cellEmptyValue, 9, 7)
	case 2: // expiring
		b = append(b, cellExpiring|cellUseRowTimestamp, 7, 5)
		value()
	case 3: // empty
		return append(b, cellEmptyValue|cellUseRowTimestamp)
	case 4: // of its own time
		b = append(b, 0, 3)
		value()
	default:
		b = append(b, cellUseRowTimestamp)
		value()
	}
	return b
}

// imagePartition writes a partition, most of them with one plain row.
func imagePartition(t *rapid.T, b []byte, unsigned bool, key uint32) []byte {
	plain := rapid.IntRange(0, 3).Draw(t, "plain") > 0
	oneOf := func(n int, what string) int { // 0 to n of what is not plain
		if plain {
			return n
		}
		return rapid.IntRange(0, n).Draw(t, what)
	}
	b = binary.BigEndian.AppendUint32(append(b, 0, 4), key)
	deleted := oneOf(5, "partition") == 0
	switch {
	case unsigned && !deleted:
		b = append(b, 0x80)
	case unsigned:
		b = append(b, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 9)
	case deleted:
		b = append(b, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 9)
	default:
		b = append(b, 0x7f, 0xff, 0xff, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0)
	}
	if oneOf(5, "rows") == 0 {
		return append(b, endOfPartition)
	}
	flags, body := byte(hasTimestamp), primitive.AppendUvint(nil, uint64(rapid.SampledFrom([]int{0, 5, 1 << 20}).Draw(t, "time")))
	switch oneOf(6, "row") {
	case 0:
		flags |= hasTTL
		body = append(body, 4, 20)
	case 1:
		flags |= hasDeletion
		body = append(body, 0, 1)
	case 2:
		flags, body = 0, nil
	}
	missing := byte(rapid.SampledFrom([]int{0, 0, 0, 1, 2, 4, 7, 8, 15}).Draw(t, "missing"))
	if missing == 0 {
		flags |= hasAllColumns
	} else {
		body = append(body, missing)
	}
	complexDeletion := rapid.Bool().Draw(t, "complex deletion")
	if complexDeletion {
		flags |= hasComplexDeletion
	}
	for i, length := range []int{4, -1, -1} {
		if missing>>i&1 == 0 {
			body = cell(t, plain, body, length)
		}
	}
	if missing&8 == 0 {
		if complexDeletion {
			body = append(body, 1, 1)
		}
		body = append(body, 1, cellUseRowTimestamp, 1, 'k', 2, 'v', 'w')
	}
	if flags&hasTimestamp == 0 {
		// Without a time of the row, the cells have none.
		flags, body = flags&^hasAllColumns, []byte{15}
	}
	before := primitive.AppendUvint(nil, uint64(rapid.SampledFrom([]int{0, 30, 200, 20000}).Draw(t, "size before")))
	b = primitive.AppendUvint(append(b, flags), uint64(len(body)+len(before)))
	return append(append(append(b, before...), body...), endOfPartition)
}

// TestRunsAreWhatPartitionsAre reads content in runs and one by one: sound
// content, and with bytes changed in it, where both must find the same fault.
func TestRunsAreWhatPartitionsAre(t *testing.T) {
	inRuns := 0
	rapid.Check(t, func(rt *rapid.T) {
		version := rapid.SampledFrom([]string{"nb", "oa"}).Draw(rt, "version")
		keys := rapid.SliceOfN(rapid.Uint32(), 1, 40).Draw(rt, "keys")
		token := func(key uint32) tokenrange.Token {
			return tokenrange.Murmur3.Token(binary.BigEndian.AppendUint32(nil, key))
		}
		slices.SortFunc(keys, func(a, b uint32) int { return token(a).Compare(token(b)) })
		if rapid.IntRange(0, 3).Draw(rt, "ordered") > 0 {
			keys = slices.Compact(keys)
		}
		var content []byte
		for _, key := range keys {
			content = imagePartition(rt, content, version == "oa", key)
		}
		for range rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(rt, "changes") {
			content[rapid.IntRange(0, len(content)-1).Draw(rt, "at")] = byte(rapid.IntRange(0, 255).Draw(rt, "byte"))
		}
		below := token(rapid.Uint32().Draw(rt, "below"))
		if rapid.Bool().Draw(rt, "to the end") {
			below = tokenrange.Murmur3.Ring().End
		}
		step := rapid.SampledFrom([]int{64, 256, 1 << 20}).Draw(rt, "step")
		want, _, wantErr := readAll(openWindow(t, version, imagesHeader(), content, step), 0, below)
		got, n, err := readAll(openWindow(t, version, imagesHeader(), content, step), rapid.SampledFrom([]int{1, 2, 1000}).Draw(rt, "run"), below)
		inRuns += n
		if !slices.Equal(got, want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			rt.Fatalf("in runs:\n%s\n%v\none by one:\n%s\n%v", strings.Join(got, "\n"), err, strings.Join(want, "\n"), wantErr)
		}
	})
	if inRuns == 0 {
		t.Error("no partition was read in a run")
	}
}

// byHand are two partitions of which the second can be a run: of the first all
// columns are missing.
var byHand = "0004 000010dd 80  04 " + withSize("00 0f") + " 01" +
	"0004 00000001 80  24 " + withSize("05  08 00000007  08 01 78  08 28 "+strings.Repeat("79", 40)+" 00") + "01"

// TestRunByHand reads a run that the grammar spells out: it cannot begin with the
// first partition, which has none before to come after.
func TestRunByHand(t *testing.T) {
	content := unhex(t, byHand)
	c := openWindow(t, "oa", imagesHeader(), content, 1<<20)
	defer c.Close()
	var run Run
	last := tokenrange.Murmur3.Ring().End
	if c.ReadRun(&run, last, 10, 1000); run.Len() != 0 {
		t.Errorf("a run of %v at the start", run.Keys)
	}
	if ok, err := c.NextPartition(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if c.ReadRun(&run, last, 10, 1000); run.Len() != 0 {
		t.Errorf("a run of %v inside of a partition", run.Keys)
	}
	if text, err := readPartition(c, new(Row)); text != "000010dd" || err != nil {
		t.Fatal(text, err)
	}
	c.ReadRun(&run, last, 10, 1000)
	value := func(s cqltype.Span) string { return string(s.Of(run.View)) }
	if run.Len() != 1 || value(run.Keys[0]) != "\x00\x00\x00\x01" || run.Bytes != 4+4+40 || value(run.Values[0][0]) != "\x00\x00\x00\x07" ||
		run.Values[1] != nil || value(run.Values[2][0]) != strings.Repeat("y", 40) {
		t.Errorf("run of keys %v, values %v, %d bytes, in %x", run.Keys, run.Values, run.Bytes, run.View)
	}
	if ok, err := c.NextPartition(); ok || err != nil {
		t.Error(ok, err)
	}
}

// FuzzRuns reads content that no writer made in runs and one by one.
func FuzzRuns(f *testing.F) {
	f.Add(byte(0), unhex(f, byHand))
	f.Add(byte(1), unhex(f, strings.ReplaceAll(byHand, " 80 ", " 7fffffff8000000000000000 ")))
	f.Fuzz(func(t *testing.T, version byte, content []byte) {
		v, last := []string{"oa", "nb"}[version%2], tokenrange.Murmur3.Ring().End
		want, _, wantErr := readAll(openWindow(t, v, imagesHeader(), content, 1<<20), 0, last)
		got, _, err := readAll(openWindow(t, v, imagesHeader(), content, 1<<20), 1000, last)
		if !slices.Equal(got, want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("in runs:\n%s\n%v\none by one:\n%s\n%v", strings.Join(got, "\n"), err, strings.Join(want, "\n"), wantErr)
		}
	})
}
