package parquetfile

import (
	"iter"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/parquet-go/parquet-go/format"
	"golang.org/x/sync/errgroup"
)

// groupWriter turns rows into one row group after another.
type groupWriter struct {
	out     *counter
	leaves  []*chunkWriter
	tasks   int
	tempDir string
	spill   *spill // nil keeps pages in memory
}

func newGroupWriter(l *layout, opts Options) *groupWriter {
	g := &groupWriter{tasks: opts.Parallelism, tempDir: opts.TempDir}
	for _, leaf := range l.leaves {
		g.leaves = append(g.leaves, newChunkWriter(leaf, opts))
	}
	return g
}

// open starts a file on out.
func (g *groupWriter) open(out *counter) error {
	g.out = out
	if g.tempDir != "" {
		s, err := newSpill(g.tempDir)
		if err != nil {
			return err
		}
		g.spill = s
	}
	for _, w := range g.leaves {
		w.open(g.spill)
	}
	return nil
}

func (g *groupWriter) close() error {
	if g.spill == nil {
		return nil
	}
	s := g.spill
	g.spill = nil
	return s.close()
}

func (g *groupWriter) writeRows(rec arrow.Record, from, to int) error {
	return g.each(func(w *chunkWriter) error { return w.write(rec.Column(w.leaf.column), from, to) })
}

// end ends the row group, which has rows, and begins the next.
func (g *groupWriter) end() (rowGroup, error) {
	if err := g.each((*chunkWriter).endPage); err != nil {
		return rowGroup{}, err
	}
	made := rowGroup{meta: format.RowGroup{FileOffset: g.out.n}}
	for _, w := range g.leaves {
		if err := w.end(g.out); err != nil {
			return rowGroup{}, err
		}
		c := &w.chunk
		made.meta.NumRows = c.rows
		made.meta.TotalByteSize += c.meta.TotalUncompressedSize
		made.meta.TotalCompressedSize += c.meta.TotalCompressedSize
		made.meta.Columns = append(made.meta.Columns, format.ColumnChunk{MetaData: c.meta})
		made.columns = append(made.columns, c.columnIndex)
		made.offsets = append(made.offsets, c.offsetIndex)
		w.begin()
	}
	if g.spill != nil {
		g.spill.reset()
	}
	return made, nil
}

// each calls f for every leaf, for at most tasks columns at a time. Leaves of one
// column take turns, because they read the same arrays, and an Arrow array that
// is asked for its number of nulls keeps it.
func (g *groupWriter) each(f func(*chunkWriter) error) error {
	if g.tasks <= 1 {
		for _, w := range g.leaves {
			if err := f(w); err != nil {
				return err
			}
		}
		return nil
	}
	var group errgroup.Group
	group.SetLimit(g.tasks)
	sameColumn := func(a, b *chunkWriter) bool { return a.leaf.column == b.leaf.column }
	for column := range chunkBy(g.leaves, sameColumn) {
		group.Go(func() error {
			for _, w := range column {
				if err := f(w); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// chunkBy gives the runs of s whose neighbours are the same.
func chunkBy[T any](s []T, same func(a, b T) bool) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		for start, i := 0, 1; i <= len(s); i++ {
			if i < len(s) && same(s[i-1], s[i]) {
				continue
			}
			if !yield(s[start:i]) {
				return
			}
			start = i
		}
	}
}
