package export

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"manifest/export/internal/arrowfile"
)

// arrow writes the batches of the parts again, cut to the size of batches, into
// files of equal rows.
func (a *assembly) arrow(ctx context.Context, rows int64) error {
	var bytes int64
	for _, p := range a.parts {
		bytes += p.Bytes
	}
	opts := a.dataset.opts
	bounds := fileBounds(rows, fileCount(rows, bytes, opts.Shards, opts.ShardBytes), nil)
	var w *arrowfile.Writer
	defer func() {
		if w != nil {
			w.Discard()
		}
	}()
	at := int64(0)
	for _, p := range a.parts {
		err := a.eachBatch(ctx, p, func(batch arrow.Record) error {
			for from := int64(0); from < batch.NumRows(); {
				if w == nil {
					f, err := a.create(len(a.shards))
					if err != nil {
						return err
					}
					a.shards = append(a.shards, shard{file: f})
					if w, err = arrowfile.NewWriter(f, a.dataset.Schema(), memory.DefaultAllocator, opts.Arrow.internal()); err != nil {
						return err
					}
				}
				end := bounds[len(a.shards)]
				take := min(batch.NumRows()-from, end-at)
				piece := batch.NewSlice(from, from+take)
				err := w.Write(piece)
				piece.Release()
				if err != nil {
					return err
				}
				from, at = from+take, at+take
				if at < end {
					continue
				}
				s := &a.shards[len(a.shards)-1]
				if s.rows, err = w.Close(); err != nil {
					return err
				}
				w = nil
				if err := s.file.finish(); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if at != rows {
		return fmt.Errorf("parts have %d rows, not %d: %w", at, rows, ErrPart)
	}
	return nil
}

// eachBatch calls f with the batches of a part.
func (a *assembly) eachBatch(ctx context.Context, p partInfo, f func(arrow.Record) error) (err error) {
	name := a.dataset.partPath(p.Split)
	file, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("open part: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	r, err := ipc.NewFileReader(file)
	if err != nil {
		return fmt.Errorf("open part %s: %w", name, err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for i := range r.NumRecords() {
		if err := ctx.Err(); err != nil {
			return err
		}
		batch, err := r.RecordAt(i)
		if err != nil {
			return fmt.Errorf("read batch %d of part %s: %w", i, name, err)
		}
		err = f(batch)
		batch.Release()
		if err != nil {
			return err
		}
	}
	return nil
}
