package trainset

import (
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"manifest/internal/rowform"
)

// accepting decides which joined rows the sampling sees.
type accepting struct {
	builder  *Builder
	take     func(acceptedRow) error
	builders *array.RecordBuilder
	mask     []bool
	cells    [][]byte
}

// acceptedRow is a joined row on its way to the sampling; its bytes are valid during the call.
type acceptedRow struct {
	key, row []byte
	cells    [][]byte // of row
	pinned   bool
}

// newAccepting makes one that hands on what it accepts, whose builders are to be released.
func newAccepting(b *Builder, take func(acceptedRow) error) *accepting {
	return &accepting{builder: b, take: take, builders: array.NewRecordBuilder(memory.DefaultAllocator, b.plan.schema)}
}

// decide looks at the condition, and then at what else each row needs.
func (a *accepting) decide(batch *joinedBatch) error {
	p := a.builder.plan
	if p.where != nil {
		err := batch.each(func(_ int, _ joinedRow, _, row []byte) error { return rowform.BuildRow(a.builders, row) })
		if err != nil {
			return err
		}
		rec := a.builders.NewRecord()
		a.mask, err = p.where.Mask(a.mask[:0], rec)
		rec.Release()
		if err != nil {
			return err
		}
	}
	return batch.each(func(i int, r joinedRow, key, row []byte) error {
		switch {
		case r.missing:
			// What the condition says of an image without metadata means nothing.
			return a.builder.reject(key, row, ReasonNoMetadata, nil)
		case p.where != nil && !a.mask[i]:
			return nil
		}
		a.builder.counts.Matching++
		return a.accept(key, row, r.pinned)
	})
}

// accept looks at the status of a row that the condition chose.
func (a *accepting) accept(key, row []byte, pinned bool) (err error) {
	if a.cells, err = rowform.Cells(a.cells[:0], row); err != nil {
		return err
	}
	if p := a.builder.plan; p.status >= 0 {
		status := StatusNone
		if s := a.cells[p.status]; s != nil {
			status = string(s)
		}
		if !p.spec.accepts(status) {
			return a.builder.reject(key, row, reasonStatus+status, nil)
		}
	}
	a.builder.counts.Accepted++
	return a.take(acceptedRow{key, row, a.cells, pinned})
}
