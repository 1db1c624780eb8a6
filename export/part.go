package export

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/zeebo/xxh3"

	"manifest/export/internal/arrowfile"
	"manifest/export/internal/parquetfile"
	"manifest/export/internal/shape"
	"manifest/export/internal/textfile"
)

// Part writes the rows of one split to a file in the dataset's work directory.
// It is used by one goroutine.
type Part struct {
	dataset *Dataset
	split   string
	file    *atomicFile
	writer  partWriter
	counts  shape.Counts
	read    int64
	info    partInfo // of a committed part
}

// partWriter writes the rows of a part in the dataset's format.
type partWriter interface {
	Write(arrow.Record) error
	// finish writes what is left and gives the number of rows.
	finish() (int64, error)
	// discard frees what the writer holds, in place of finish.
	discard()
}

func (d *Dataset) newPartWriter(out io.Writer) (partWriter, error) {
	switch d.opts.Format {
	case Arrow:
		w, err := arrowfile.NewWriter(out, d.Schema(), memory.DefaultAllocator, d.opts.Arrow.internal())
		return arrowPart{w}, err
	case CSV, JSONLines:
		w, err := textfile.NewWriter(out, d.textFormat(), d.Schema(), d.opts.Text.internal())
		return textPart{w}, err
	}
	return d.newParquetPart(out)
}

// parquetPart uses the writer of an earlier part again, whose buffers have the
// size that the columns need.
type parquetPart struct {
	writer *parquetfile.Writer // nil when it has been given back
	free   *sync.Pool
}

func (d *Dataset) newParquetPart(out io.Writer) (*parquetPart, error) {
	w, ok := d.parquetWriters.Get().(*parquetfile.Writer)
	var err error
	if ok {
		err = w.Reset(out)
	} else {
		w, err = parquetfile.NewWriter(out, d.Schema(), d.opts.Parquet.internal(d.opts.WorkDir))
	}
	return &parquetPart{w, &d.parquetWriters}, err
}

func (p *parquetPart) Write(rec arrow.Record) error { return p.writer.Write(rec) }

func (p *parquetPart) finish() (int64, error) {
	info, err := p.writer.Close()
	p.giveBack()
	return info.Rows, err
}

func (p *parquetPart) discard() {
	if p.writer != nil {
		p.writer.Discard()
		p.giveBack()
	}
}

func (p *parquetPart) giveBack() {
	p.free.Put(p.writer)
	p.writer = nil
}

type arrowPart struct{ *arrowfile.Writer }

func (p arrowPart) finish() (int64, error) { return p.Close() }
func (p arrowPart) discard()               { p.Discard() }

type textPart struct{ *textfile.Writer }

func (p textPart) finish() (int64, error) { return p.Close() }
func (p textPart) discard()               {}

// Write appends the rows of a record, filtered and shaped. The record is not
// kept beyond the call.
func (p *Part) Write(ctx context.Context, rec arrow.Record) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p.read += rec.NumRows()
	if f := p.dataset.opts.Filter; f != nil {
		chosen, err := f.Apply(rec)
		if err != nil {
			return fmt.Errorf("filter rows of split %s: %w", p.split, err)
		}
		defer chosen.Release()
		rec = chosen
	}
	if rec.NumRows() == 0 {
		return nil
	}
	if d := p.dataset.derive; d != nil {
		wide, err := d.Apply(memory.DefaultAllocator, rec)
		if err != nil {
			return fmt.Errorf("write rows of split %s: %w", p.split, err)
		}
		defer wide.Release()
		rec = wide
	}
	shaped, err := p.dataset.shape.Apply(memory.DefaultAllocator, rec, p.counts)
	if err != nil {
		return fmt.Errorf("write rows of split %s: %w", p.split, err)
	}
	defer shaped.Release()
	if err := p.writer.Write(shaped); err != nil {
		return fmt.Errorf("write rows of split %s: %w", p.split, err)
	}
	return nil
}

// Commit makes the part last, in place of an earlier one of the same split.
// When it fails, Abort is still to be called.
func (p *Part) Commit(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	rows, err := p.writer.finish()
	if err != nil {
		return fmt.Errorf("finish part of split %s: %w", p.split, err)
	}
	if err := p.file.finish(); err != nil {
		return fmt.Errorf("finish part: %w", err)
	}
	// The description comes first: a part without one would be worthless, while
	// a description without its part is found out by its size.
	p.info = partInfo{
		Split: p.split, Layout: p.dataset.layout, Read: p.read, Rows: rows,
		Bytes: p.file.size, Unfit: p.dataset.unfit(p.counts),
	}
	if err := p.dataset.writeInfo(p.info); err != nil {
		return err
	}
	if err := p.file.rename(); err != nil {
		return fmt.Errorf("commit part of split %s: %w", p.split, err)
	}
	if p.dataset.opts.NoSync {
		return nil
	}
	return syncDir(p.dataset.opts.WorkDir)
}

// Files calls add with the path, the size and the XXH3 hash of 128 bits (in
// hex) of each file of a committed part: its rows, and their description.
func (p *Part) Files(add func(path string, bytes int64, digest string)) {
	add(p.file.name, p.file.size, p.file.digest())
	description := p.info.encode()
	sum := xxh3.Hash128(description)
	add(p.dataset.infoPath(p.split), int64(len(description)), fmt.Sprintf("%016x%016x", sum.Hi, sum.Lo))
}

// Abort removes what was written.
func (p *Part) Abort() {
	p.writer.discard()
	p.file.abort()
}

// unfit gives the counts by column, without those of zero.
func (d *Dataset) unfit(counts shape.Counts) map[string]int64 {
	byColumn := make(map[string]int64)
	for i, n := range counts {
		if n > 0 {
			byColumn[d.Schema().Field(i).Name] += n
		}
	}
	return byColumn
}
