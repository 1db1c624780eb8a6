package index

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"manifest/internal/sstable/component"
	"manifest/internal/sstable/fault"
	"manifest/internal/sstable/primitive"
	"manifest/tokenrange"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestNodes has a node of each type, by hand from the description of the format.
func TestNodes(t *testing.T) {
	const at = 1 << 40
	type child struct {
		c     byte
		delta int64
	}
	for _, c := range []struct {
		name     string
		hex      string
		children []child
		value    int64
		has      bool
	}{
		{"PAYLOAD_ONLY", "02 1234", nil, 0x1234, true},
		{"PAYLOAD_ONLY negative", "01 ff", nil, -1, true},
		{"PAYLOAD_ONLY with a hash", "09 aa fffe", nil, -2, true},
		{"PAYLOAD_ONLY of 8 bytes", "0f aa 8000000000000000", nil, math.MinInt64, true},
		{"SINGLE_NOPAYLOAD_4", "1b 61", []child{{0x61, 0xb}}, 0, false},
		{"SINGLE_8", "20 61 fe", []child{{0x61, 0xfe}}, 0, false},
		{"SINGLE_8 with a payload", "21 61 fe 05", []child{{0x61, 0xfe}}, 5, true},
		{"SINGLE_NOPAYLOAD_12", "3a bc 61", []child{{0x61, 0xabc}}, 0, false},
		{"SINGLE_16", "40 61 fedc", []child{{0x61, 0xfedc}}, 0, false},
		{"SPARSE_8", "50 02 6163 01ff", []child{{0x61, 1}, {0x63, 0xff}}, 0, false},
		{"SPARSE_12", "60 03 616263 abc def 123 0", []child{{0x61, 0xabc}, {0x62, 0xdef}, {0x63, 0x123}}, 0, false},
		{"SPARSE_12 with a payload", "61 02 6163 abc def 07", []child{{0x61, 0xabc}, {0x63, 0xdef}}, 7, true},
		{"SPARSE_16", "70 02 6163 0102 ffff", []child{{0x61, 0x102}, {0x63, 0xffff}}, 0, false},
		{"SPARSE_24", "80 02 6163 010203 ffffff", []child{{0x61, 0x10203}, {0x63, 0xffffff}}, 0, false},
		{"SPARSE_40", "90 01 61 0102030405", []child{{0x61, 0x102030405}}, 0, false},
		{"DENSE_12", "a0 61 02 abc 000 123 0", []child{{0x61, 0xabc}, {0x63, 0x123}}, 0, false},
		{"DENSE_16", "b0 61 02 0102 0000 0304", []child{{0x61, 0x102}, {0x63, 0x304}}, 0, false},
		{"DENSE_24 with a payload", "c9 61 00 010203 aa 8001", []child{{0x61, 0x10203}}, -0x7fff, true},
		{"DENSE_32", "d0 fe 01 01020304 00000001", []child{{0xfe, 0x1020304}, {0xff, 1}}, 0, false},
		{"DENSE_40", "e0 00 00 0102030405", []child{{0, 0x102030405}}, 0, false},
		{"DENSE_LONG", "f0 00 00 0000010203040506", []child{{0, 0x10203040506}}, 0, false},
	} {
		b := unhex(t, c.hex)
		n, err := parseNode(b, at)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []child
		for i := range n.children {
			if ch, position := n.child(i); position != -1 {
				got = append(got, child{ch, at - position})
			}
		}
		if len(got) != len(c.children) {
			t.Errorf("%s: children %v", c.name, got)
			continue
		}
		for i := range got {
			if got[i] != c.children[i] {
				t.Errorf("%s: children %x, want %x", c.name, got, c.children)
			}
		}
		if c.has != (n.flags != 0) || c.has && n.value() != c.value {
			t.Errorf("%s: payload %x", c.name, n.payload)
		}
		for cut := range b {
			if _, err := parseNode(b[:cut], at); err == nil {
				t.Errorf("%s cut to %d bytes is a node", c.name, cut)
			}
		}
	}
	for name, s := range map[string]string{"no children": "50 00", "bytes past 255": "b0 ff 01 0001 0001"} {
		if _, err := parseNode(unhex(t, s), at); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func open(t testing.TB, version string, files map[string][]byte) (Index, error) {
	t.Helper()
	format := "big"
	if version == "da" {
		format = "bti"
	}
	fsys := fstest.MapFS{}
	toc := "Data.db\nStatistics.db\n"
	for name, b := range files {
		toc += name + "\n"
		fsys[version+"-1-"+format+"-"+name] = &fstest.MapFile{Data: b}
	}
	for name, b := range map[string][]byte{"Data.db": nil, "Statistics.db": nil, "TOC.txt": []byte(toc)} {
		fsys[version+"-1-"+format+"-"+name] = &fstest.MapFile{Data: b}
	}
	sets, err := component.Find(t.Context(), component.FS(fsys))
	if err != nil {
		t.Fatal(err)
	}
	return Open(t.Context(), sets[0], tokenrange.Murmur3)
}

// bigFiles makes Index.db of keys in their order, every second in Summary.db.
func bigFiles(keys ...string) map[string][]byte {
	var index, offsets, entries []byte
	var sampled int
	for i := range keys {
		if i%2 == 0 {
			sampled++
		}
	}
	for i, k := range keys {
		if i%2 == 0 {
			offsets = binary.LittleEndian.AppendUint32(offsets, uint32(4*sampled+len(entries)))
			entries = binary.LittleEndian.AppendUint64(append(entries, k...), uint64(len(index)))
		}
		index = append(binary.BigEndian.AppendUint16(index, uint16(len(k))), k...)
		index = primitive.AppendUvint(index, uint64(1000*i))
		if i == 1 { // a long partition: header length, live deletion, two blocks and their offsets
			block := append([]byte{5, 0x80, 2, 1, 2, 3}, 0, 0, 0, 0, 0, 0, 0, 2)
			index = append(primitive.AppendUvint(index, uint64(len(block))), block...)
			continue
		}
		index = append(index, 0)
	}
	summary := binary.BigEndian.AppendUint32(nil, 128)
	summary = binary.BigEndian.AppendUint32(summary, uint32(sampled))
	summary = binary.BigEndian.AppendUint64(summary, uint64(len(offsets)+len(entries)))
	summary = append(summary, 0, 0, 0, 128, 0, 0, 0, 2)
	summary = append(append(summary, offsets...), entries...)
	for _, k := range []string{keys[0], keys[len(keys)-1]} {
		summary = append(binary.BigEndian.AppendUint32(summary, uint32(len(k))), k...)
	}
	return map[string][]byte{"Index.db": index, "Summary.db": summary}
}

// inOrder are keys in the order of their tokens, which are those of the fixtures
// of other readers for 1, frodo.
var inOrder = []string{"\x00\x00\x10\xdd", "\x00\x00\x00\x01", "frodo", "1"}

func TestInOrder(t *testing.T) {
	for i, want := range []int64{-9223297786983086897, -4069959284402364209, 6564497868996989420, 8213365047359667313} {
		if got := tokenrange.Murmur3.Token([]byte(inOrder[i])); got != tokenrange.Int64Token(want) {
			t.Errorf("token of %x: %s, want %d", inOrder[i], got, want)
		}
	}
}

func all(ix Index, after int64) (keys []string, offsets []int64, err error) {
	entries, err := ix.From(tokenrange.Int64Token(after))
	if err != nil {
		return nil, nil, err
	}
	for {
		e, err := entries.Next()
		if err == io.EOF {
			return keys, offsets, nil
		}
		if err != nil {
			return nil, nil, err
		}
		keys, offsets = append(keys, string(e.Key)), append(offsets, e.Offset)
	}
}

func TestBig(t *testing.T) {
	ix, err := open(t, "oa", bigFiles(inOrder...))
	if err != nil {
		t.Fatal(err)
	}
	defer ix.Close()
	for i, key := range inOrder {
		token, _ := tokenrange.Murmur3.Token([]byte(key)).Int64()
		for _, after := range []int64{token - 1, token, token + 1} {
			keys, offsets, err := all(ix, after)
			if err != nil {
				t.Fatal(err)
			}
			// The entries behind the token are there, and at most those of one sample more.
			first := i
			if after >= token {
				first++
			}
			if len(keys) < 4-first || len(keys) > 4-first+2 || offsets[len(offsets)-1] != 3000 {
				t.Errorf("from %d: %q at %d", after, keys, offsets)
			}
		}
	}
	if ix, err := open(t, "oa", map[string][]byte{"Index.db": bigFiles(inOrder...)["Index.db"]}); ix != nil || err != nil {
		t.Errorf("without Summary.db: %v, %v", ix, err)
	}
	if _, err := open(t, "oa", nil); !errors.Is(err, fault.ErrMissing) {
		t.Errorf("without Index.db: %v", err)
	}
}

func TestBigRefuses(t *testing.T) {
	for name, change := range map[string]func(f map[string][]byte){
		"keys out of order":         func(f map[string][]byte) { f["Index.db"] = bigFiles(inOrder[1], inOrder[0])["Index.db"] },
		"cut inside an entry":       func(f map[string][]byte) { f["Index.db"] = f["Index.db"][:len(f["Index.db"])-1] },
		"cut between entries":       func(f map[string][]byte) { f["Index.db"] = f["Index.db"][:len(f["Index.db"])-2-1-2-1] },
		"another key than sampled":  func(f map[string][]byte) { f["Index.db"][2] ^= 1 },
		"block index too long":      func(f map[string][]byte) { f["Index.db"][8+6+2] ^= 0x10 },
		"position does not ascend":  func(f map[string][]byte) { f["Index.db"][8+6] = 0 },
		"summary: wrong size":       func(f map[string][]byte) { f["Summary.db"][15]++ },
		"summary: no entries":       func(f map[string][]byte) { f["Summary.db"][7] = 0 },
		"summary: cut":              func(f map[string][]byte) { f["Summary.db"] = f["Summary.db"][:len(f["Summary.db"])-1] },
		"summary: another last key": func(f map[string][]byte) { f["Summary.db"][len(f["Summary.db"])-1]++ },
		"summary: position too far": func(f map[string][]byte) { f["Summary.db"][24+8+4+2] = 0xff },
		"summary: offset too far":   func(f map[string][]byte) { f["Summary.db"][24+1] = 0xff },
	} {
		f := bigFiles(inOrder...)
		change(f)
		ix, err := open(t, "oa", f)
		for _, after := range []int64{math.MinInt64, 0, math.MaxInt64} {
			if err == nil {
				_, _, err = all(ix, after)
			}
		}
		if !errors.Is(err, fault.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// trieFiles makes tries by hand: three partitions told apart by the first byte
// of their tokens, the second of them a long one.
func trieFiles() map[string][]byte {
	var p []byte
	leaf := func(payload ...byte) byte {
		at := byte(len(p))
		p = append(append(p, 8|byte(len(payload)-1), 0xaa), payload...)
		return at
	}
	// Tokens -2^63..., 0..., 2^62... begin with 00, 80, c0 when they are unsigned.
	a, b, c := leaf(0xff), leaf(0x00), leaf(0xf8, 0x2f) // ^0 = Data 0; Rows 0; ^0x7d0 = Data 2000
	at := byte(len(p))
	p = append(p, 0x50, 3, 0x00, 0x80, 0xc0, at-a, at-b, at-c)
	root := int64(len(p))
	p = append(p, 0x10|byte(root-int64(at)), separator)
	end := int64(len(p))
	p = append(p, 0, 1, 'a', 0, 1, 'c')
	for _, v := range []int64{end, 3, root} {
		p = binary.BigEndian.AppendUint64(p, uint64(v))
	}
	rows := append([]byte{0, 1, 'b'}, primitive.AppendUvint(nil, 1000)...)
	rows = append(rows, 5, 4, 0x80) // its trie 3 bytes before, 4 blocks, live
	return map[string][]byte{"Partitions.db": p, "Rows.db": rows}
}

func TestTrie(t *testing.T) {
	ix, err := open(t, "da", trieFiles())
	if err != nil {
		t.Fatal(err)
	}
	defer ix.Close()
	for _, c := range []struct {
		after int64
		want  []int64
	}{
		{math.MinInt64, []int64{0, 1000, 2000}},
		{-1 << 62, []int64{1000, 2000}},
		{0, []int64{1000, 2000}}, // the path says only that the token begins with 80
		{1 << 60, []int64{2000}},
		{1 << 62, []int64{2000}},
		{math.MaxInt64 - 1, nil},
		{math.MaxInt64, nil},
	} {
		keys, offsets, err := all(ix, c.after)
		if err != nil || len(offsets) != len(c.want) {
			t.Errorf("from %d: %d, %v", c.after, offsets, err)
			continue
		}
		for i, o := range offsets {
			if want := map[int64]string{1000: "b"}[o]; o != c.want[i] || keys[i] != want {
				t.Errorf("from %d: %q at %d", c.after, keys[i], o)
			}
		}
	}
	if _, err := open(t, "da", map[string][]byte{"Partitions.db": nil}); !errors.Is(err, fault.ErrMissing) {
		t.Errorf("without Rows.db: %v", err)
	}
}

// TestTrieEveryBit flips bits: what is found may be wrong, for there are no
// checksums, but it ascends, ends, and is as much as the file says.
func TestTrieEveryBit(t *testing.T) {
	for _, name := range []string{"Partitions.db", "Rows.db"} {
		whole := trieFiles()[name]
		for bit := range 8 * len(whole) {
			f := trieFiles()
			f[name][bit/8] ^= 1 << (bit % 8)
			ix, err := open(t, "da", f)
			if err != nil {
				continue
			}
			if _, offsets, err := all(ix, math.MinInt64); err == nil && len(offsets) != 3 {
				t.Errorf("%s, bit %d: %d partitions", name, bit, len(offsets))
			}
			ix.Close()
		}
	}
}

func FuzzBig(f *testing.F) {
	files := bigFiles(inOrder...)
	f.Add(files["Index.db"], files["Summary.db"], int64(0))
	f.Fuzz(func(t *testing.T, index, summary []byte, after int64) {
		ix, err := open(t, "nb", map[string][]byte{"Index.db": index, "Summary.db": summary})
		if err != nil {
			return
		}
		defer ix.Close()
		_, offsets, err := all(ix, after)
		for i := range offsets {
			if err == nil && i > 0 && offsets[i] <= offsets[i-1] {
				t.Error("offsets do not ascend")
			}
		}
	})
}

func FuzzTrie(f *testing.F) {
	files := trieFiles()
	f.Add(files["Partitions.db"], files["Rows.db"], int64(0))
	f.Fuzz(func(t *testing.T, partitions, rows []byte, after int64) {
		ix, err := open(t, "da", map[string][]byte{"Partitions.db": partitions, "Rows.db": rows})
		if err != nil {
			return
		}
		defer ix.Close()
		_, offsets, err := all(ix, after)
		for i := range offsets {
			if err == nil && i > 0 && offsets[i] <= offsets[i-1] {
				t.Error("offsets do not ascend")
			}
		}
	})
}
