package chunk

import (
	"errors"
	"fmt"

	"manifest/internal/sstable/fault"
)

// ErrTooLong means that what must be seen at once takes more memory than
// allowed: a row larger than the limit.
var ErrTooLong = errors.New("longer than the memory limit for one piece")

// WindowOptions bounds a [Window].
type WindowOptions struct {
	// Step is how many bytes of content are read at once, rounded up to whole
	// chunks. Larger steps suit storage that is slow to answer. 0 means 128 KiB.
	Step int
	// Ahead is how many steps are read and decompressed ahead, each on a
	// goroutine of its own while it lasts. 0 means that Next does it.
	Ahead int
	// MaxPiece is the most bytes that Next gives at once. 0 means 256 MiB,
	// Cassandra's limit for one value.
	MaxPiece int
}

func (o WindowOptions) withDefaults() WindowOptions {
	if o.Step == 0 {
		o.Step = 128 << 10
	}
	if o.MaxPiece == 0 {
		o.MaxPiece = 256 << 20
	}
	return o
}

// room is what a step leaves free in front of its content, for the rest of the
// step before: enough for nearly all rows.
const room = 16 << 10

// Window slides over the content of a [File]. It belongs to one goroutine.
type Window struct {
	file *File
	opts WindowOptions
	step int // bytes of content in a full step

	view   []byte // what Next gave last
	offset int64  // of the view's first byte

	read    int64 // bytes of content, over all steps
	next    int64 // the chunk at which the next step starts
	current *step // holds the view, unless long does
	free    []*step
	ahead   []*step // in order
	long    []byte  // holds views that are longer than a step
}

// step is a piece of content being read or in use.
type step struct {
	loader *loader
	buffer []byte // room, then content
	n      int    // bytes of content
	done   chan error
}

func (s *step) content() []byte { return s.buffer[room : room+s.n] }

// NewWindow returns a window at the start of the content.
func (f *File) NewWindow(opts WindowOptions) *Window {
	opts = opts.withDefaults()
	chunks := max(1, (opts.Step+f.chunk-1)/f.chunk)
	return &Window{file: f, opts: opts, step: chunks * f.chunk}
}

// Offset is the place of the view's first byte in the content.
func (w *Window) Offset() int64 { return w.offset }

// Size is the length of the content.
func (w *Window) Size() int64 { return w.file.size }

// Path is that of Data.db.
func (w *Window) Path() string { return w.file.path }

// BytesRead counts the content that steps have brought.
func (w *Window) BytesRead() int64 { return w.read }

// Next drops the first consumed bytes of the view and returns a view of at
// least need bytes, usually many more, or of all there are. It is an error if
// there are fewer than need. Views given before are not valid any more.
func (w *Window) Next(consumed, need int) ([]byte, error) {
	rest := w.view[consumed:]
	w.offset += int64(consumed)
	if int64(need) > w.file.size-w.offset {
		return nil, fault.Corruptf(w.file.path, w.offset, "%d more bytes where the content ends after %d", need, w.file.size-w.offset)
	}
	w.view = rest
	if len(rest) >= need {
		return rest, nil
	}
	if need > w.opts.MaxPiece {
		return nil, &fault.Error{File: w.file.path, Offset: w.offset, Err: fmt.Errorf("%d bytes at once: %w %d", need, ErrTooLong, w.opts.MaxPiece)}
	}
	previous := w.current
	s, err := w.take()
	if err != nil {
		return nil, err
	}
	if len(rest) <= room && len(rest)+s.n >= need {
		from := room - len(rest)
		copy(s.buffer[from:], rest)
		w.view = s.buffer[from : room+s.n]
		if cap(w.long) > 8*w.step {
			w.long = nil
		}
	} else if err := w.gather(rest, s, need); err != nil {
		return nil, err
	}
	if previous != nil {
		w.free = append(w.free, previous)
	}
	return w.view, nil
}

// gather makes a view of more than a step.
func (w *Window) gather(rest []byte, s *step, need int) error {
	if cap(w.long) < need+w.step {
		// The rest may be in the old one, which stays as it is.
		w.long = make([]byte, 0, need+w.step)
	}
	w.long = append(w.long[:0], rest...)
	w.long = append(w.long, s.content()...)
	for len(w.long) < need {
		w.free = append(w.free, w.current)
		s, err := w.take()
		if err != nil {
			return err
		}
		w.long = append(w.long, s.content()...)
	}
	w.view = w.long
	return nil
}

// take waits for the next step and makes it the current one.
func (w *Window) take() (*step, error) {
	w.current = nil
	for len(w.ahead) <= w.opts.Ahead && w.next*int64(w.file.chunk) < w.file.size {
		w.ahead = append(w.ahead, w.start())
	}
	s := w.ahead[0]
	w.ahead = w.ahead[:copy(w.ahead, w.ahead[1:])]
	if err := <-s.done; err != nil {
		w.free = append(w.free, s)
		return nil, err
	}
	w.read += int64(s.n)
	w.current = s
	return s, nil
}

// spare gives a step that is not in use.
func (w *Window) spare() *step {
	if n := len(w.free); n > 0 {
		s := w.free[n-1]
		w.free = w.free[:n-1]
		return s
	}
	if s, _ := w.file.steps.Get().(*step); s != nil && len(s.buffer) == room+w.step {
		return s
	}
	return &step{loader: w.file.newLoader(), buffer: make([]byte, room+w.step), done: make(chan error, 1)}
}

// start reads the next step, on a goroutine if there is an ahead.
func (w *Window) start() *step {
	s := w.spare()
	at := w.next
	s.n = int(min(int64(w.step), w.file.size-at*int64(w.file.chunk)))
	w.next += int64(w.step / w.file.chunk)
	if w.opts.Ahead == 0 {
		s.done <- s.loader.load(s.content(), at)
	} else {
		go func() { s.done <- s.loader.load(s.content(), at) }()
	}
	return s
}

// MoveTo makes an offset of the content the place of the view's first byte; the
// view may be empty then. It costs nothing where the offset is in the view.
func (w *Window) MoveTo(offset int64) error {
	if offset < 0 || offset > w.file.size {
		return fault.Corruptf(w.file.path, -1, "offset %d in content of %d bytes", offset, w.file.size)
	}
	if end := w.offset + int64(len(w.view)); offset >= w.offset && offset <= end {
		w.view = w.view[offset-w.offset:]
		w.offset = offset
		return nil
	}
	w.drain()
	w.next = offset / int64(w.file.chunk)
	w.offset = w.next * int64(w.file.chunk)
	w.view = nil
	if skip := int(offset - w.offset); skip > 0 {
		if _, err := w.Next(0, skip); err != nil {
			return err
		}
		w.view = w.view[skip:]
		w.offset = offset
	}
	return nil
}

// drain waits for what is being read ahead.
func (w *Window) drain() {
	for _, s := range w.ahead {
		<-s.done
		w.free = append(w.free, s)
	}
	w.ahead = w.ahead[:0]
	if w.current != nil {
		w.free = append(w.free, w.current)
		w.current = nil
	}
}

// Close waits for what is being read ahead and leaves the buffers to other
// windows of the file.
func (w *Window) Close() {
	w.drain()
	for _, s := range w.free {
		w.file.steps.Put(s)
	}
	w.free, w.view, w.long = nil, nil, nil
}
