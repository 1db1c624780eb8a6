package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"manifest/scan"
)

// written gives a ledger with a header and n receipts, each committed before the next.
func written(t testing.TB, n int) []byte {
	t.Helper()
	file := &memory{}
	l, err := begin(file, testHeader())
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := l.Commit(t.Context(), testReceipt(i)); err != nil {
			t.Fatal(err)
		}
	}
	return file.data
}

// lineStarts gives the offset of every line of data.
func lineStarts(data []byte) []int {
	starts := []int{0}
	for i, c := range data[:len(data)-1] {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

func TestTornEndIsCutOff(t *testing.T) {
	whole := written(t, 3)
	last := lineStarts(whole)[3]
	for _, c := range []struct {
		name string
		data []byte
	}{
		{"first byte", whole[:last+1]},
		{"half a line", whole[:(last+len(whole))/2]},
		{"all but the line's end", whole[:len(whole)-1]},
		{"zeros", append(whole[:last:last], make([]byte, 4096)...)},
		{"zeros and then lines that were written with it", append(
			append(whole[:last:last], 0, 0, 0, '\n'), appendLine(nil, 5, 3, "receipt", []byte(`{}`))...)},
		{"one bit of the line", append(whole[:len(whole)-5:len(whole)-5], whole[len(whole)-5]^1, '"', '}', '}', '\n')},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, FileName)
			if err := os.WriteFile(path, c.data, 0o600); err != nil {
				t.Fatal(err)
			}
			torn := int64(len(c.data) - last)
			if rec, err := Read(dir); err != nil || rec.Torn != torn || len(rec.Receipts) != 2 {
				t.Errorf("read: %+v, %v", rec, err)
			}
			l := resume(t, dir)
			if l.Torn() != torn {
				t.Errorf("%d bytes are torn, not %d", l.Torn(), torn)
			}
			commit(t, l, 2)
			rec, err := Read(dir)
			if err != nil || len(rec.Receipts) != 3 || rec.Torn != 0 || rec.Resumptions[0].Torn != torn {
				t.Errorf("after resuming: %+v, %v", rec, err)
			}
		})
	}
}

func TestDamageThatNoCrashExplains(t *testing.T) {
	whole := written(t, 3)
	starts := lineStarts(whole)
	flipped := func(i int) []byte {
		data := bytes.Clone(whole)
		data[i] ^= 1
		return data
	}
	header := whole[:starts[1]]
	encode := func(r scan.Receipt) []byte {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	crossing := testReceipt(0)
	crossing.Split, crossing.Range = "other", tokens(5, 15)
	for _, c := range []struct {
		name string
		data []byte
		want string // of the message
	}{
		{"empty file", nil, "line 1 at byte 0: no header"},
		{"only a torn header", header[:len(header)-1], "line 1 at byte 0: no header"},
		{"other file", []byte("PAR1\n"), "line 1 at byte 0: no header"},
		{"header gone", whole[starts[1]:], "line 1 at byte 0: numbered 2"},
		{"bad header", flipped(40), "line 1 at byte 0: damaged"},
		{"bad checksum", flipped(starts[1] + 12), "line 2 at byte " + itoa(starts[1]) + ": damaged"},
		{"bad payload", flipped(starts[2] + 60), "line 3 at byte " + itoa(starts[2]) + ": damaged"},
		{"checksum in capitals", capitals(whole, starts), "damaged"},
		{"line gone", append(whole[:starts[1]:starts[1]], whole[starts[2]:]...), "line 2 at byte " + itoa(starts[1]) + ": numbered 3"},
		{"line twice", append(whole[:starts[2]:starts[2]], whole[starts[1]:]...), "line 3 at byte " + itoa(starts[2]) + ": numbered 2"},
		{"second header", appendLine(bytes.Clone(header), 2, 1, kindHeader, []byte(`{}`)), "line 2"},
		{"no JSON", appendLine(bytes.Clone(header), 2, 1, kindReceipt, []byte(`{`)), "line 2"},
		{"more durable than written", appendLine(bytes.Clone(header), 2, 2, kindResult, []byte(`1`)), "2 durable"},
		{"receipt without a range", appendLine(bytes.Clone(header), 2, 1, kindReceipt, []byte(`{"split":"s"}`)), "holds no token"},
		{"overlap", appendLine(bytes.Clone(whole), 5, 4, kindReceipt, encode(crossing)), `is (0, 10] and "other" is (5, 15]`},
		{"header of no run", appendLine(nil, 1, 0, kindHeader, []byte(`{"format":1}`)), "no run id"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parse(c.data)
			if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error is %v, want %q", err, c.want)
			}
			dir := t.TempDir()
			path := filepath.Join(dir, FileName)
			if err := os.WriteFile(path, c.data, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Resume(dir, testHeader()); !errors.Is(err, ErrCorrupt) {
				t.Errorf("resume: %v", err)
			}
			if left, err := os.ReadFile(path); err != nil || !bytes.Equal(left, c.data) {
				t.Errorf("a corrupt ledger was changed (%v)", err)
			}
		})
	}
}

func TestLaterFormatIsNotRead(t *testing.T) {
	data := appendLine(nil, 1, 0, kindHeader, []byte(`{"format":2}`))
	if _, err := parse(data); !errors.Is(err, ErrFormat) || errors.Is(err, ErrCorrupt) {
		t.Errorf("error is %v", err)
	}
}

func itoa(n int) string { return string(mustJSON(n)) }

func mustJSON(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

// capitals writes the first checksum that has letters in capitals: the same
// number, but not what is written.
func capitals(whole []byte, starts []int) []byte {
	data := bytes.Clone(whole)
	for _, s := range starts {
		sum := data[s+len(checksumStart) : s+len(checksumStart)+checksumLen]
		if upper := bytes.ToUpper(sum); !bytes.Equal(upper, sum) && s != starts[len(starts)-1] {
			copy(sum, upper)
			break
		}
	}
	return data
}
