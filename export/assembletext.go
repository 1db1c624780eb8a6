package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"manifest/export/internal/textfile"
)

// text strings the parts together, and begins the next file with the first row
// past each equal share of the bytes.
func (a *assembly) text(ctx context.Context) error {
	opts := a.dataset.opts
	var bytes, rows int64
	for _, p := range a.parts {
		bytes += p.Bytes
		rows += p.Rows
	}
	t := &textAssembly{assembly: a, splitter: textfile.Splitter{Format: a.dataset.textFormat()}}
	t.total, t.files = bytes, fileCount(rows, bytes, opts.Shards, opts.ShardBytes)
	buf := make([]byte, 256<<10)
	for _, p := range a.parts {
		if err := t.part(ctx, p, buf); err != nil {
			return err
		}
	}
	return t.endFile()
}

// textAssembly is where the assembly of text files has come to.
type textAssembly struct {
	*assembly
	splitter textfile.Splitter
	files    int64 // wanted
	total    int64 // bytes of all parts
	at       int64 // bytes of parts so far
	open     *shard
}

func (t *textAssembly) part(ctx context.Context, p partInfo, buf []byte) (err error) {
	file, err := os.Open(t.dataset.partPath(p.Split))
	if err != nil {
		return fmt.Errorf("open part: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	var rows int64
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := file.Read(buf)
		for data := buf[:n]; len(data) > 0; {
			used, ended, err := t.copy(data)
			if err != nil {
				return err
			}
			rows += ended
			data = data[used:]
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("read part of split %s: %w", p.Split, err)
		}
	}
	if rows != p.Rows {
		return fmt.Errorf("part of split %s has %d rows, not %d: %w", p.Split, rows, p.Rows, ErrPart)
	}
	return nil
}

// copy copies data up to the end of the open file.
func (t *textAssembly) copy(data []byte) (used int, rows int64, err error) {
	if t.open == nil {
		f, err := t.create(len(t.shards))
		if err != nil {
			return 0, 0, err
		}
		t.shards = append(t.shards, shard{file: f})
		t.open = &t.shards[len(t.shards)-1]
		if err := t.header(f); err != nil {
			return 0, 0, err
		}
	}
	share := int64(float64(t.total) / float64(t.files) * float64(len(t.shards)))
	used, rows, end := t.splitter.Next(data, share-t.at)
	if _, err := t.open.file.Write(data[:used]); err != nil {
		return 0, 0, fmt.Errorf("write %s: %w", t.open.file.name, err)
	}
	t.at += int64(used)
	t.open.rows += rows
	if end && int64(len(t.shards)) < t.files {
		return used, rows, t.endFile()
	}
	return used, rows, nil
}

func (t *textAssembly) endFile() error {
	if t.open == nil {
		return nil
	}
	f := t.open.file
	t.open = nil
	return f.finish()
}

// header writes what a file of the format begins with.
func (a *assembly) header(f *atomicFile) error {
	opts := a.dataset.opts
	if opts.Format != CSV {
		return nil
	}
	if _, err := f.Write(textfile.Header(textfile.CSV, a.dataset.Schema(), opts.Text.internal())); err != nil {
		return fmt.Errorf("write %s: %w", f.name, err)
	}
	return nil
}
