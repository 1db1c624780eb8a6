package recycle

import (
	"math/bits"
	"sync"

	"github.com/apache/arrow/go/v17/arrow/memory"
)

// Allocator is an Arrow allocator that hands released buffers out again. The
// builders of a read ask for the same sizes record after record.
//
// Buffers may be freed from any goroutine: a consumer may have retained the
// record.
type Allocator struct {
	mu   sync.Mutex
	free [recycledClasses][][]byte // by the power of two of their capacity
}

const (
	// recycledClasses bounds the recycled buffers to below 64 MiB.
	recycledClasses = 26
	// keptPerClass bounds what is kept of each size: more than the columns of
	// a wide table that are of one size.
	keptPerClass = 64
)

var _ memory.Allocator = (*Allocator)(nil)

// New returns an allocator that has nothing to hand out yet.
func New() *Allocator { return &Allocator{} }

// Allocate gives size zeroed bytes.
func (a *Allocator) Allocate(size int) []byte {
	class := bits.Len(uint(max(size-1, 63))) // powers of two from 64
	if class >= recycledClasses {
		return memory.DefaultAllocator.Allocate(size)
	}
	a.mu.Lock()
	if n := len(a.free[class]); n > 0 {
		b := a.free[class][n-1]
		a.free[class] = a.free[class][:n-1]
		a.mu.Unlock()
		b = b[:size]
		clear(b)
		return b
	}
	a.mu.Unlock()
	return memory.DefaultAllocator.Allocate(1 << class)[:size]
}

// Reallocate grows or shrinks a buffer; bytes that are added are zero.
func (a *Allocator) Reallocate(size int, b []byte) []byte {
	if size <= cap(b) {
		if size > len(b) {
			clear(b[len(b):size])
		}
		return b[:size]
	}
	grown := a.Allocate(size)
	copy(grown, b)
	a.Free(b)
	return grown
}

// Free takes a buffer back.
func (a *Allocator) Free(b []byte) {
	class := bits.Len(uint(cap(b))) - 1
	if cap(b) < 64 || class >= recycledClasses || cap(b) != 1<<class {
		return
	}
	a.mu.Lock()
	if len(a.free[class]) < keptPerClass {
		a.free[class] = append(a.free[class], b[:0])
	}
	a.mu.Unlock()
}
