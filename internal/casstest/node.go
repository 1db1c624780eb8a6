package casstest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// stopGrace is how long a server may take to end by itself before it is killed.
const stopGrace = 30 * time.Second

// node is one server: its place, and its process while this process runs it.
type node struct {
	index     int
	address   string
	dir       string // empty: its files are not known here
	current   atomic.Pointer[process]
	suspended atomic.Bool
}

// running returns the node's process, or nil while it has none.
func (n *node) running() *process {
	if p := n.current.Load(); p != nil && !p.exited() {
		return p
	}
	return nil
}

func (n *node) logPath() string { return filepath.Join(n.dir, "node.log") }

// process is one run of a server. done is closed when it has ended; exit is valid then.
type process struct {
	pid    int
	done   chan struct{}
	exit   error
	events *logEvents
}

// startProcess starts java with args in the node's folder. The process lives until it ends or is killed, and no longer than this one.
func startProcess(n *node, java string, args []string) (*process, error) {
	log, err := os.OpenFile(n.logPath(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open log of node %d: %w", n.index, err)
	}
	defer log.Close()
	size, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, fmt.Errorf("find end of log of node %d: %w", n.index, err)
	}
	cmd := exec.Command(java, args...)
	cmd.Dir = n.dir
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = childAttributes()
	p := &process{done: make(chan struct{}), events: &logEvents{path: n.logPath(), start: size, offset: size}}
	started := make(chan error)
	go func() {
		// The kernel kills the child when the thread that started it ends, so this goroutine keeps its thread as long as the child lives.
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		p.exit = cmd.Wait()
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start node %d: %w", n.index, err)
	}
	p.pid = cmd.Process.Pid
	return p, nil
}

func (p *process) exited() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// signal sends a signal to the process group. A process that has ended gets none: its number may be another's by now.
func (p *process) signal(s syscall.Signal) error {
	if p.exited() {
		return ErrNodeExited
	}
	return syscall.Kill(-p.pid, s)
}

// kill ends the process at once, suspended or not, and waits for its end.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.done
}

// terminate lets the server flush and say goodbye, and kills it if that takes too long or ctx ends.
func (p *process) terminate(ctx context.Context) {
	p.signal(syscall.SIGTERM)
	p.signal(syscall.SIGCONT) // a suspended process takes the first signal only when it goes on
	timer := time.NewTimer(stopGrace)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		p.kill()
	case <-ctx.Done():
		p.kill()
	}
}

// failure returns why the process ended, with the end of what it printed.
func (p *process) failure(n *node) error {
	return fmt.Errorf("%w: node %d (%s): %v; end of its log:\n%s", ErrNodeExited, n.index, n.address, p.exit, p.events.tail(40))
}

// logEvents follows the log of one run for what no query tells: which peers the server has seen come up and go down.
type logEvents struct {
	path  string
	start int64 // where this run's log starts in the file

	mu      sync.Mutex
	offset  int64 // read up to here, always the start of a line
	up      map[string]bool
	serving bool
}

var (
	peerEvent    = regexp.MustCompile(`InetAddress /([0-9.]+):\d+ is now (UP|DOWN)`)
	servingEvent = []byte("Starting listening for CQL clients")
)

// read takes in the lines written since the last read.
func (e *logEvents) read() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	file, err := os.Open(e.path)
	if err != nil {
		return err
	}
	defer file.Close()
	text, err := io.ReadAll(io.NewSectionReader(file, e.offset, 1<<40))
	if err != nil {
		return err
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	e.offset += int64(len(text))
	for line := range bytes.Lines(text) {
		if match := peerEvent.FindSubmatch(line); match != nil {
			if e.up == nil {
				e.up = map[string]bool{}
			}
			e.up[string(match[1])] = string(match[2]) == "UP"
		}
		e.serving = e.serving || bytes.Contains(line, servingEvent)
	}
	return nil
}

// sees reports whether the server holds the peer to be up, by the lines read so far.
func (e *logEvents) sees(peer string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.up[peer]
}

// forget makes a peer count as not seen until its next event.
func (e *logEvents) forget(peer string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.up, peer)
}

func (e *logEvents) isServing() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.serving
}

// tail returns the last lines of this run.
func (e *logEvents) tail(lines int) string {
	file, err := os.Open(e.path)
	if err != nil {
		return err.Error()
	}
	defer file.Close()
	text, err := io.ReadAll(io.NewSectionReader(file, e.start, 1<<40))
	if err != nil {
		return err.Error()
	}
	return lastLines(string(text), lines)
}
