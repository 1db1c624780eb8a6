package trainset

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow/array"
	"golang.org/x/sync/errgroup"

	"manifest/export"
	"manifest/tokenrange"
)

// pieceRows is the number of rows that are encoded as one piece: a row group, so that pieces are strung together as they are.
const pieceRows = 131_072

// recordRows is the number of rows in a record on its way to a file.
const recordRows = 8192

// batch is final rows on their way: read in order, then proven, then encoded, by one goroutine after the other.
type batch struct {
	piece       *piece
	first, last bool // of the piece
	bytes       []byte
	ends        []int // of rows in bytes
}

var batches = sync.Pool{New: func() any { return new(batch) }}

func (b *batch) add(value []byte) {
	b.bytes = append(b.bytes, value...)
	b.ends = append(b.ends, len(b.bytes))
}

// each calls f for the rows, which are valid until the batch is freed.
func (b *batch) each(f func(value []byte) error) error {
	from := 0
	for _, end := range b.ends {
		if err := f(b.bytes[from:end]); err != nil {
			return err
		}
		from = end
	}
	return nil
}

func (b *batch) free() {
	*b = batch{bytes: b.bytes[:0], ends: b.ends[:0]}
	batches.Put(b)
}

// piece is rows that are encoded together.
type piece struct {
	split *splitData
	id    string
	// batches has room for all of them: whoever proves rows waits for an encoder only before a piece begins.
	batches chan *batch
}

// encode takes the images in order, proves that nothing is in two splits, and encodes them in pieces:
//
//	fillBatches ──> proveBatches ──> encodePiece, several at a time
func (w *writing) encode(ctx context.Context, images finalImages, splits []*splitData) error {
	stages, ctx := errgroup.WithContext(ctx)
	encoders, encoding := errgroup.WithContext(ctx)
	// A piece of rows of some 300 bytes takes 50 MiB until it is encoded.
	encoders.SetLimit(int(max(1, min(int64(w.builder.opts.Parallelism), w.builder.opts.Memory/4/(64<<20)))))
	read := make(chan *batch, 2)
	stages.Go(func() error {
		defer close(read)
		return w.fillBatches(ctx, images, splits, read)
	})
	stages.Go(func() error {
		err := w.proveBatches(read, func(p *piece) error {
			encoders.Go(func() error { return w.encodePiece(encoding, p) })
			return context.Cause(encoding)
		})
		if err != nil {
			return err // which ends the encoders
		}
		if w.out.Proof, err = w.prover.Prove(ctx); err != nil { // while the last pieces are encoded
			return err
		}
		return encoders.Wait()
	})
	err := stages.Wait()
	_ = encoders.Wait() // where it was not waited for, an error of theirs comes from another one
	return err
}

// fillBatches fills batches with the images in order.
func (w *writing) fillBatches(ctx context.Context, images finalImages, splits []*splitData, to chan<- *batch) error {
	var at *batch
	rows := 0  // of the piece
	usual := 0 // bytes of the largest batch yet
	send := func(last bool) error {
		if at == nil {
			return nil
		}
		at.last = last
		usual = max(usual, len(at.bytes))
		select {
		case to <- at:
			at = nil
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	var p *piece
	err := images(ctx, func(number int, final []byte) error {
		split := splits[number]
		if p != nil && (p.split != split || rows == pieceRows) {
			if err := send(true); err != nil {
				return err
			}
			p = nil
		}
		if at != nil && len(at.ends) == recordRows {
			if err := send(false); err != nil {
				return err
			}
		}
		if at == nil {
			at = batches.Get().(*batch)
			at.bytes = slices.Grow(at.bytes, usual)
			if p == nil {
				p = &piece{split: split, id: fmt.Sprintf("%08d", len(split.pieces)), batches: make(chan *batch, pieceRows/recordRows)}
				split.pieces = append(split.pieces, p.id)
				rows, at.first = 0, true
			}
			at.piece = p
		}
		at.add(final)
		rows++
		return nil
	})
	if err != nil {
		return err
	}
	return send(true)
}

// proveBatches hands rows to the prover, and then to the encoder of their piece, which begin starts.
func (w *writing) proveBatches(from <-chan *batch, begin func(*piece) error) error {
	var cells [][]byte
	var hash []byte
	for b := range from {
		p := b.piece
		err := b.each(func(value []byte) error {
			d, c, err := parseFinal(cells, value)
			if err != nil {
				return err
			}
			cells, hash = c, hash[:0]
			if h := w.builder.plan.hash; h != nil {
				if hash, _, err = h.text(hash, cells); err != nil {
					return err
				}
			}
			return w.prover.Add(cells[idCell], d.Group, hash, p.split.name)
		})
		if err != nil {
			return err
		}
		if b.first {
			if err := begin(p); err != nil {
				return err
			}
		}
		last := b.last
		p.batches <- b
		if last {
			close(p.batches)
		}
	}
	return nil
}

// encodePiece writes a piece as a part of the dataset of its split.
func (w *writing) encodePiece(ctx context.Context, p *piece) error {
	builder := array.NewRecordBuilder(w.buffers, w.builder.plan.Schema())
	defer builder.Release()
	var cells [][]byte
	var buf []byte
	return writePiece(ctx, p.split.dataset, p.id, func(part *export.Part) error {
		for {
			var b *batch
			select {
			case b = <-p.batches:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			if b == nil {
				return nil
			}
			err := b.each(func(value []byte) error {
				d, c, err := parseFinal(cells, value)
				if err != nil {
					return err
				}
				cells = c
				if w.builder.weight != 0 {
					d.Weight = w.builder.weight
				}
				buf, err = w.builder.plan.buildRow(builder, cells, d, p.split.name, buf)
				return err
			})
			if err != nil {
				return err
			}
			b.free()
			if err := writeRecord(ctx, part, builder); err != nil {
				return err
			}
		}
	})
}

// writePiece writes a part of a dataset.
func writePiece(ctx context.Context, d *export.Dataset, id string, write func(*export.Part) error) error {
	part, err := d.Begin(ctx, tokenrange.Split{ID: id})
	if err != nil {
		return err
	}
	if err := write(part); err != nil {
		part.Abort()
		return err
	}
	if err := part.Commit(ctx); err != nil {
		part.Abort()
		return err
	}
	return nil
}

// writeRecord writes what has been built.
func writeRecord(ctx context.Context, part *export.Part, builder *array.RecordBuilder) error {
	rec := builder.NewRecord()
	defer rec.Release()
	return part.Write(ctx, rec)
}
