package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"manifest/scan"
	"manifest/tokenrange"
)

func create(t *testing.T, dir string) *Ledger {
	t.Helper()
	l, err := Create(dir, testHeader())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func resume(t *testing.T, dir string) *Ledger {
	t.Helper()
	l, err := Resume(dir, testHeader())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func commit(t *testing.T, l *Ledger, splits ...int) {
	t.Helper()
	for _, i := range splits {
		if err := l.Commit(t.Context(), testReceipt(i)); err != nil {
			t.Fatal(err)
		}
	}
}

var exactTokens = cmp.Comparer(func(a, b tokenrange.Token) bool { return a == b })

func TestResumeFindsWhatWasCommitted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs", "run-1")
	l := create(t, dir)
	commit(t, l, 3, 1)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}

	l = resume(t, dir)
	commit(t, l, 2)
	want := []scan.Receipt{testReceipt(1), testReceipt(2), testReceipt(3)}
	if diff := cmp.Diff(want, l.Receipts(), exactTokens); diff != "" {
		t.Errorf("receipts (-want +got):\n%s", diff)
	}
	if want := tokenrange.NewIntervalSet(tokens(10, 40)); !l.Done().Equal(want) {
		t.Errorf("done is %v, not %v", l.Done(), want)
	}
	if got := l.Header(); got.Run != "run-1" || got.Format != 1 {
		t.Errorf("header is %+v", got)
	}

	rec, err := Read(dir) // beside the process that writes
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, rec.Receipts, exactTokens); diff != "" {
		t.Errorf("read receipts (-want +got):\n%s", diff)
	}
	if len(rec.Resumptions) != 1 || rec.Resumptions[0].Tool != "1.0" || rec.Torn != 0 {
		t.Errorf("record is %+v", rec)
	}
}

func TestFilesAreForTheirOwnerAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	create(t, dir)
	for name, want := range map[string]fs.FileMode{"": 0o700, FileName: 0o600, lockName: 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%q has mode %v, not %v", name, got, want)
		}
	}
}

func TestCreateLeavesAnotherRunAlone(t *testing.T) {
	dir := t.TempDir()
	l := create(t, dir)
	commit(t, l, 1)
	l.Close()
	if _, err := Create(dir, testHeader()); !errors.Is(err, fs.ErrExist) {
		t.Errorf("error is %v", err)
	}
	if got := resume(t, dir).Receipts(); len(got) != 1 {
		t.Errorf("%d receipts are left of 1", len(got))
	}
}

func TestCreateAfterACrashOfCreate(t *testing.T) {
	dir := t.TempDir()
	unfinished := filepath.Join(dir, FileName+".tmp")
	if err := os.WriteFile(unfinished, []byte(`{"crc32c":"0`), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Resume(dir, testHeader()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("resume: %v", err)
	}
	create(t, dir).Close()
	resume(t, dir)
	if _, err := os.Stat(unfinished); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the unfinished file is still there: %v", err)
	}
}

func TestCreateRefusesAHeaderThatNamesNoRun(t *testing.T) {
	_, err := Create(t.TempDir(), Header{
		Asked:   []tokenrange.Range{{}},
		Options: []Option{{"a", "1"}, {"a", "2"}},
	})
	for _, want := range []string{"run id", "table", "schema", "partitioner", "range", `"a"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in the error: %v", want, err)
		}
	}
}

func TestResumeNamesEveryDifference(t *testing.T) {
	dir := t.TempDir()
	create(t, dir).Close()
	before, err := os.ReadFile(filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(*Header)
		want   []Difference
	}{
		{"table", func(h *Header) { h.Table = "k.u" }, []Difference{{"table", "image_keyspace.image_metadata", "k.u"}}},
		{"schema and partitioner", func(h *Header) { h.Schema, h.Partitioner = "ff", "RandomPartitioner" }, []Difference{
			{"schema", "0a1b2c", "ff"}, {"partitioner", "Murmur3Partitioner", "RandomPartitioner"}}},
		{"less is asked", func(h *Header) { h.Asked = []tokenrange.Range{tokens(0, 5), tokens(5, 9)} }, []Difference{
			{"token ranges", "(0, 1099511627776]", "(0, 9]"}}},
		{"options", func(h *Header) { h.Options = []Option{{"where", "width > 0"}, {"consistency", "ONE"}} }, []Difference{
			{"where", "", "width > 0"}, {"consistency", "LOCAL_QUORUM", "ONE"}, {"columns", "image_id,width", ""}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := testHeader()
			c.change(&want)
			_, err := Resume(dir, want)
			mismatch, ok := errors.AsType[*MismatchError](err)
			if !ok {
				t.Fatalf("error is %v", err)
			}
			if diff := cmp.Diff(c.want, mismatch.Differences); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
			for _, d := range c.want {
				if !strings.Contains(err.Error(), d.Name) || !strings.Contains(err.Error(), d.Old) || !strings.Contains(err.Error(), d.New) {
					t.Errorf("the message does not tell %v: %v", d, err)
				}
			}
		})
	}
	after, err := os.ReadFile(filepath.Join(dir, FileName))
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the ledger was changed (%v)", err)
	}
}

func TestResumeDespiteWhatDoesNotChangeTheResult(t *testing.T) {
	dir := t.TempDir()
	create(t, dir).Close()
	want := testHeader()
	want.Run, want.Tool, want.Created = "", "2.0", testTime.AddDate(0, 0, 1)
	want.Asked = []tokenrange.Range{tokens(7, 1<<40), tokens(0, 7)}
	want.Options = []Option{{"new", ""}, want.Options[1], want.Options[0]}
	l, err := Resume(dir, want)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if got := l.Header(); got.Run != "run-1" || got.Tool != "1.0" {
		t.Errorf("header is %+v", got)
	}
}

func TestResultOfAFinishedRun(t *testing.T) {
	dir := t.TempDir()
	l := create(t, dir)
	commit(t, l, 1)
	if err := l.Finish(map[string]any{"complete": false}); err != nil {
		t.Fatal(err)
	}
	l.Close()
	if got := result(t, dir); got != `{"complete":false}` {
		t.Errorf("result is %s", got)
	}

	l = resume(t, dir) // the run goes on, so that was not its end
	if got := result(t, dir); got != "" {
		t.Errorf("result of a resumed run is %s", got)
	}
	commit(t, l, 2)
	if err := l.Finish(map[string]any{"complete": true}); err != nil {
		t.Fatal(err)
	}
	if got := result(t, dir); got != `{"complete":true}` {
		t.Errorf("result is %s", got)
	}
}

func result(t *testing.T, dir string) string {
	t.Helper()
	rec, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return string(rec.Result)
}

func TestReceiptOfTheSameRangeReplaces(t *testing.T) {
	dir := t.TempDir()
	l := create(t, dir)
	commit(t, l, 1, 2)
	again := testReceipt(1)
	again.Rows = 99
	if err := l.Commit(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := l.Receipts(); len(got) != 2 || got[0].Rows != 99 {
			t.Errorf("receipts are %+v", got)
		}
		l.Close()
		l = resume(t, dir)
	}
}

// A receipt says everything that the engine knows of a split, and says it again
// after the ledger has been closed.
func TestAReceiptKeepsAllItSays(t *testing.T) {
	dir := t.TempDir()
	l := create(t, dir)
	r := testReceipt(4)
	r.Consistency, r.Retries = "LOCAL_QUORUM", 3
	r.First, r.Last = "device_id='x', day_bucket=2026-01-02", "device_id='naïve ☃'', day_bucket=2026-01-03"
	r.Files = []scan.PartFile{{Name: "00-device-day/" + r.Split + ".part", Bytes: 4711, Digest: "99aa06d3014798d86001c324468d497f"}}
	r.Digest = "0123456789abcdef0123456789abcdef"
	r.Largest = []scan.Partition{{Key: r.First, Token: r.Range.End, Rows: 1 << 40, Bytes: 1 << 50}}
	if err := l.Commit(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	l.Close()
	if diff := cmp.Diff([]scan.Receipt{r}, resume(t, dir).Receipts(), exactTokens); diff != "" {
		t.Errorf("receipts (-want +got):\n%s", diff)
	}
}

func TestAWithdrawnReceiptCountsNoMore(t *testing.T) {
	dir := t.TempDir()
	l := create(t, dir)
	commit(t, l, 1, 2, 3)
	gone := testReceipt(2)
	if err := l.Withdraw(Withdrawal{Split: gone.Split, Range: gone.Range, Reason: "its file is not there"}); err != nil {
		t.Fatal(err)
	}
	for _, w := range []Withdrawal{
		{Split: gone.Split, Range: gone.Range},                            // once more
		{Split: testReceipt(1).Split, Range: gone.Range},                  // another split's range
		{Split: testReceipt(1).Split, Range: tokens(10, 19)},              // a part of its range
		{Split: testReceipt(7).Split, Range: testReceipt(7).Range},        // never committed
		{Split: "no split at all", Range: tokenrange.Range{}, Reason: ""}, // nothing
	} {
		if err := l.Withdraw(w); !errors.Is(err, ErrUnknownSplit) {
			t.Errorf("withdraw %+v: error is %v", w, err)
		}
	}
	for range 2 {
		if want := tokenrange.NewIntervalSet(tokens(10, 20), tokens(30, 40)); !l.Done().Equal(want) {
			t.Errorf("done is %v, not %v", l.Done(), want)
		}
		l.Close()
		l = resume(t, dir)
	}
	// What is read again is cut as the run that reads it likes.
	for _, r := range []tokenrange.Range{tokens(20, 23), tokens(23, 30)} {
		if err := l.Commit(t.Context(), scan.Receipt{Split: r.ID(), Range: r}); err != nil {
			t.Fatal(err)
		}
	}
	rec, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if want := tokenrange.NewIntervalSet(tokens(10, 40)); rec.Withdrawn != 1 || len(rec.Receipts) != 4 || !rec.Done().Equal(want) {
		t.Errorf("record is %+v", rec)
	}
}

func TestOverlappingReceiptIsRefused(t *testing.T) {
	l := create(t, t.TempDir())
	commit(t, l, 1, 2, 5) // (10, 20], (20, 30], (50, 60]
	for _, r := range []tokenrange.Range{
		tokens(10, 19), tokens(11, 20), tokens(12, 13), tokens(15, 25), tokens(0, 100), tokens(20, 31), tokens(29, 35), tokens(45, 51),
	} {
		if err := l.Commit(t.Context(), scan.Receipt{Split: r.ID(), Range: r}); !errors.Is(err, ErrOverlap) {
			t.Errorf("%v: error is %v", r, err)
		}
	}
	sameName := testReceipt(3)
	sameName.Split = testReceipt(1).Split // would have replaced the part of split 1
	if err := l.Commit(t.Context(), sameName); !errors.Is(err, ErrOverlap) {
		t.Errorf("same name: error is %v", err)
	}
	if err := l.Commit(t.Context(), scan.Receipt{Split: "none"}); !errors.Is(err, tokenrange.ErrEmptyRange) {
		t.Errorf("no range: error is %v", err)
	}
	commit(t, l, 0, 3, 4, 6) // what touches does not overlap
	if want := tokenrange.NewIntervalSet(tokens(0, 70)); !l.Done().Equal(want) {
		t.Errorf("done is %v", l.Done())
	}
}

func TestManyCommitsShareOneSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := &memory{}
		l, err := begin(file, testHeader())
		if err != nil {
			t.Fatal(err)
		}
		release := make(chan struct{})
		file.sync = func() error { <-release; return nil }
		committed := make(chan error)
		for i := range 50 {
			go func() { committed <- l.Commit(t.Context(), testReceipt(i)) }()
			if i == 0 {
				synctest.Wait() // the first is syncing, alone
			}
		}
		synctest.Wait()
		before := file.syncs
		close(release)
		for range 50 {
			if err := <-committed; err != nil {
				t.Error(err)
			}
		}
		if got := file.syncs - before; got != 2 {
			t.Errorf("50 commits took %d fsyncs, not 2", got)
		}
		if got := len(l.Receipts()); got != 50 {
			t.Errorf("%d receipts", got)
		}
	})
}

func TestOverlapWithinABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := &memory{}
		l, err := begin(file, testHeader())
		if err != nil {
			t.Fatal(err)
		}
		release := make(chan struct{})
		file.sync = func() error { <-release; return nil }
		committed := make(chan error)
		first := func(i int) { committed <- l.Commit(t.Context(), testReceipt(i)) }
		go first(9)
		synctest.Wait()
		go first(1)
		synctest.Wait()
		go func() {
			r := tokens(15, 25)
			committed <- l.Commit(t.Context(), scan.Receipt{Split: r.ID(), Range: r})
		}()
		synctest.Wait()
		close(release)
		refused := 0
		for range 3 {
			if errors.Is(<-committed, ErrOverlap) {
				refused++
			}
		}
		if c, err := parse(file.data); refused != 1 || err != nil || len(c.covered.sorted) != 2 {
			t.Errorf("%d refused, %v, %d in the ledger", refused, err, len(c.covered.sorted))
		}
	})
}

func TestCommitDespiteACancelledRun(t *testing.T) {
	l := create(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Commit(ctx, testReceipt(1)); err != nil || len(l.Receipts()) != 1 {
		t.Errorf("%v, receipts %v", err, l.Receipts())
	}
}

func TestClosedLedger(t *testing.T) {
	l := create(t, t.TempDir())
	for range 2 {
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Commit(t.Context(), testReceipt(1)); !errors.Is(err, ErrClosed) {
		t.Errorf("error is %v", err)
	}
	if err := l.Finish("done"); !errors.Is(err, ErrClosed) {
		t.Errorf("error is %v", err)
	}
}

// A reader of today must be able to read what a later version adds.
func TestUnknownFieldsAndKindsArePassedOver(t *testing.T) {
	header, err := json.Marshal(testHeader())
	if err != nil {
		t.Fatal(err)
	}
	data := appendLine(nil, 1, 0, kindHeader, bytes.Replace(header, []byte("{"), []byte(`{"colour":"red",`), 1))
	data = appendLine(data, 2, 1, "weather", []byte(`{"rain":true}`))
	data = appendLine(data, 3, 2, kindReceipt, []byte(`{"split":"s","range":{"start":"-5","end":"5"},"rows":7,"weight":"ab","colours":["x"]}`))
	c, err := parse(data)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.covered.receipts(); len(got) != 1 || got[0].Rows != 7 || got[0].Range != tokens(-5, 5) {
		t.Errorf("receipts are %+v", got)
	}
}
