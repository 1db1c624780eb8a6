package ledger

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"manifest/scan"
	"manifest/tokenrange"
)

// childDir, when set, makes the test binary the process that tests kill: it
// takes up the run in that directory and commits splits until it ends.
const childDir = "MANIFEST_LEDGER_CHILD_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		os.Exit(commitForever(dir))
	}
	goleak.VerifyTestMain(m)
}

// commitForever commits the splits that are not in the ledger yet, several at a
// time, and says on standard output which ones it was told are durable.
func commitForever(dir string) int {
	l, err := Resume(dir, testHeader())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println("ready")
	done := l.Done()
	next := make(chan int)
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for i := range next {
				if err := l.Commit(context.Background(), testReceipt(i)); err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				fmt.Println(i) // one write, so it is out before the next commit
			}
		})
	}
	for i := range 1 << 20 {
		if !done.ContainsRange(testReceipt(i).Range) {
			next <- i
		}
	}
	close(next)
	workers.Wait()
	return 0
}

func testHeader() Header {
	return Header{
		Format: 1, Run: "run-1", Tool: "1.0", Created: testTime,
		Table: "image_keyspace.image_metadata", Schema: "0a1b2c", Partitioner: "Murmur3Partitioner",
		Asked:   []tokenrange.Range{tokens(0, 1<<40)},
		Options: []Option{{"columns", "image_id,width"}, {"consistency", "LOCAL_QUORUM"}},
	}
}

var testTime = time.Date(2024, 6, 1, 2, 3, 4, 0, time.UTC)

func tokens(start, end int64) tokenrange.Range {
	return tokenrange.Range{Start: tokenrange.Int64Token(start), End: tokenrange.Int64Token(end)}
}

// testReceipt is of the i-th of many splits that touch.
func testReceipt(i int) scan.Receipt {
	r := tokens(int64(i)*10, int64(i)*10+10)
	return scan.Receipt{
		Split: r.ID(), Range: r, Node: "n1", Rows: int64(i), Bytes: 100, Pages: 1, Attempts: 1,
		Started: testTime, Ended: testTime.Add(time.Second),
	}
}

// memory is a log file whose writes are lost unless they were synced, and which
// fails on demand.
type memory struct {
	data   []byte
	synced int
	syncs  int
	closed bool
	// write, sync and truncate are called before the operation, which fails
	// with their error; write may have some bytes written nonetheless.
	write    func(p []byte) (n int, err error)
	sync     func() error
	truncate func() error
}

func (m *memory) Write(p []byte) (int, error) {
	if m.write != nil {
		if n, err := m.write(p); err != nil {
			m.data = append(m.data, p[:n]...)
			return n, err
		}
	}
	m.data = append(m.data, p...)
	return len(p), nil
}

func (m *memory) Sync() error {
	if m.sync != nil {
		if err := m.sync(); err != nil {
			return err
		}
	}
	m.synced = len(m.data)
	m.syncs++
	return nil
}

func (m *memory) Truncate(size int64) error {
	if m.truncate != nil {
		if err := m.truncate(); err != nil {
			return err
		}
	}
	m.data = m.data[:size]
	m.synced = min(m.synced, int(size))
	return nil
}

func (m *memory) Close() error {
	m.closed = true
	return nil
}
