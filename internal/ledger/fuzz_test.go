package ledger

import (
	"bytes"
	"errors"
	"hash/crc32"
	"strconv"
	"testing"

	"manifest/scan"
)

// FuzzReader gives the reader anything at all. It must not panic, and must take
// in no line whose checksum is wrong, recomputed here in another way.
func FuzzReader(f *testing.F) {
	whole := written(f, 3)
	f.Add(whole)
	f.Add(whole[:len(whole)-1])
	f.Add(appendLine(bytes.Clone(whole), 5, 4, kindResult, []byte(`{"complete":true}`)))
	f.Add(append(bytes.Clone(whole), 0, '\n'))
	f.Add(withEverything(f))
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parse(data)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrFormat) {
				t.Fatalf("error of no kind: %v", err)
			}
			return
		}
		if int(c.size)+int(c.record.Torn) != len(data) {
			t.Fatalf("%d bytes read and %d torn of %d", c.size, c.record.Torn, len(data))
		}
		lines := bytes.SplitAfter(data[:c.size], []byte("\n"))
		if len(lines) != int(c.lines)+1 || len(lines[c.lines]) != 0 {
			t.Fatalf("%d lines in %q, not %d", len(lines)-1, data[:c.size], c.lines)
		}
		for _, line := range lines[:c.lines] {
			sum, err := strconv.ParseUint(string(line[11:19]), 16, 32)
			body := line[21 : len(line)-1]
			if err != nil || uint32(sum) != crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)) {
				t.Fatalf("line %q was taken in (%v)", line, err)
			}
		}
		// What has been read can be gone on with, and then read again.
		file := &memory{data: bytes.Clone(data)}
		l, err := goOn(file, file.data, c.record.Header)
		if err != nil {
			t.Fatalf("resume: %v", err)
		}
		if again, err := parse(file.data); err != nil || again.record.Torn != 0 || len(again.covered.sorted) != len(l.Receipts()) {
			t.Fatalf("after resuming: %v", err)
		}
	})
}

// withEverything gives a ledger with a line of each kind and every field.
func withEverything(t testing.TB) []byte {
	t.Helper()
	file := &memory{}
	l, err := begin(file, testHeader())
	if err != nil {
		t.Fatal(err)
	}
	full := testReceipt(1)
	full.Consistency, full.Retries, full.First, full.Last = "QUORUM", 1, "k=1", "k=2"
	full.Files, full.Digest = []scan.PartFile{{Name: "p", Bytes: 1, Digest: "d"}}, "d"
	full.Largest = []scan.Partition{{Key: "k=1", Token: full.Range.End, Rows: 1, Bytes: 2}}
	gone := testReceipt(2)
	for _, err := range []error{
		l.Commit(t.Context(), full),
		l.Commit(t.Context(), gone),
		l.Withdraw(Withdrawal{Split: gone.Split, Range: gone.Range, Reason: "gone"}),
		l.record(kindResumed, Resumption{At: testTime, Tool: "1"}),
		l.Finish(map[string]bool{"complete": false}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return file.data
}

// FuzzSealed gives the reader lines whose checksum is right and whose text is not.
func FuzzSealed(f *testing.F) {
	for line := range bytes.SplitSeq(written(f, 2), []byte("\n")) {
		if len(line) > bodyStart {
			f.Add(line[bodyStart:])
		}
	}
	for line := range bytes.SplitSeq(withEverything(f), []byte("\n")) {
		if len(line) > bodyStart {
			f.Add(line[bodyStart:])
		}
	}
	f.Add([]byte(`"seq":3,"durable":2,"withdrawn":{"split":"no such split","range":{"start":"0","end":"10"}}}`))
	f.Add([]byte(`"seq":3,"durable":2,"receipt":{"split":"a","range":{"start":"20","end":"30"},"files":[{"name":"a","bytes":-1}],"largest":[{"token":"-1"}]}}`))
	f.Add([]byte(`"seq":2,"durable":1,"receipt":{"range":{"start":"9","end":"1"}}}`))
	header := written(f, 1)
	f.Fuzz(func(t *testing.T, body []byte) {
		if bytes.ContainsRune(body, '\n') {
			return
		}
		data := append(bytes.Clone(header), checksumStart+checksum(body)+checksumEnd...)
		data = append(append(data, body...), '\n')
		c, err := parse(data)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatalf("error of no kind: %v", err)
			}
			return
		}
		if c.lines != 3 || c.record.Torn != 0 {
			t.Fatalf("a line in order was taken for torn: %q", body)
		}
	})
}
