package parquetfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/parquet-go/parquet-go"
)

// File is a finished file of this package, opened for joining.
type File struct {
	name   string
	data   io.ReaderAt
	size   int64
	closer io.Closer // nil for a file that was read whole
	footer *footer
	pages  *parquet.File // of openRows
}

// RowGroupInfo describes one row group of a File.
type RowGroupInfo struct {
	Rows       int64
	Bytes      int64 // of its values, encoded but not compressed
	Compressed int64 // in the file
}

// wholeBytes is the size up to which a file is read whole at opening, so that
// many small files may be open at a time.
const wholeBytes = 256 << 10

// OpenFile opens a file and reads its footer and page index.
func OpenFile(name string) (*File, error) {
	opened, err := openData(name)
	if err != nil {
		return nil, err
	}
	if opened.footer, err = readFooter(opened.data, opened.size); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", name, err), opened.Close())
	}
	return opened, nil
}

func openData(name string) (*File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if st.Size() > wholeBytes {
		return &File{name: name, data: f, size: st.Size(), closer: f}, nil
	}
	data, err := io.ReadAll(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return &File{name: name, data: bytes.NewReader(data), size: int64(len(data))}, nil
}

// Close closes the file.
func (f *File) Close() error {
	if f.closer == nil {
		return nil
	}
	return f.closer.Close()
}

// Rows is the number of rows that the row groups of the file have.
func (f *File) Rows() int64 {
	var n int64
	for _, g := range f.footer.rowGroups {
		n += g.meta.NumRows
	}
	return n
}

// RowGroups describes the row groups in their order.
func (f *File) RowGroups() []RowGroupInfo {
	var infos []RowGroupInfo
	for _, g := range f.footer.rowGroups {
		infos = append(infos, RowGroupInfo{Rows: g.meta.NumRows, Bytes: g.meta.TotalByteSize, Compressed: g.meta.TotalCompressedSize})
	}
	return infos
}

// openRows makes rows readable, by parquet-go.
func (f *File) openRows() error {
	if f.pages != nil {
		return nil
	}
	p, err := parquet.OpenFile(f.data, f.size, parquet.SkipBloomFilters(true))
	if err != nil {
		return fmt.Errorf("open %s: %w", f.name, err)
	}
	f.pages = p
	return nil
}

// Slice is a run of rows [From, To) of one row group of a file.
type Slice struct {
	File     *File
	RowGroup int
	From, To int64
}

// Joiner writes one file from row groups of others of the same schema and
// options. It is used by one goroutine.
type Joiner struct {
	out    *counter
	layout *layout
	opts   Options
	footer *footer
	groups *groupWriter // made when row groups are packed
}

// NewJoiner starts a file on out.
func NewJoiner(out io.Writer, schema *arrow.Schema, opts Options) (*Joiner, error) {
	if err := opts.Validate(); err != nil {
		return nil, fmt.Errorf("parquet options: %w", err)
	}
	opts = opts.WithDefaults()
	l, err := newLayout(schema, opts)
	if err != nil {
		return nil, err
	}
	j := &Joiner{out: &counter{w: out}, layout: l, opts: opts}
	if _, err := io.WriteString(j.out, magic); err != nil {
		return nil, fmt.Errorf("write start of file: %w", err)
	}
	return j, nil
}

// Copy appends a row group as it is: its bytes are copied, its offsets moved.
func (j *Joiner) Copy(f *File, index int) error {
	if err := j.adopt(f); err != nil {
		return err
	}
	g := f.footer.rowGroups[index].clone()
	start, end, err := g.span()
	if err != nil {
		return fmt.Errorf("copy row group %d of %s: %w", index, f.name, err)
	}
	g.shift(j.out.n - start)
	if n, err := io.Copy(j.out, io.NewSectionReader(f.data, start, end-start)); err != nil {
		return fmt.Errorf("copy row group %d of %s: %w", index, f.name, err)
	} else if n != end-start {
		return fmt.Errorf("copy row group %d of %s: file ends early: %w", index, f.name, io.ErrUnexpectedEOF)
	}
	j.footer.rowGroups = append(j.footer.rowGroups, g)
	return nil
}

// Pack appends one row group with the rows of the given slices. It is for row
// groups that are too small or too large as they are. Pages of whole slices are
// copied, where there is no dictionary and they are not too small; all others are
// decoded and encoded again.
func (j *Joiner) Pack(ctx context.Context, slices ...Slice) error {
	if j.groups == nil {
		j.groups = newGroupWriter(j.layout, j.opts)
		if err := j.groups.open(j.out); err != nil {
			return err
		}
	}
	if err := j.adopt(slices[0].File); err != nil {
		return err
	}
	for _, s := range slices {
		if err := s.File.openRows(); err != nil {
			return err
		}
	}
	err := j.groups.each(func(w *chunkWriter) error {
		for _, s := range slices {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := w.take(s); err != nil {
				return fmt.Errorf("read row group %d of %s: %w", s.RowGroup, s.File.name, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	made, err := j.groups.end()
	if err != nil {
		return err
	}
	j.footer.rowGroups = append(j.footer.rowGroups, made)
	return nil
}

// Close writes the footer and frees what the joiner holds. It does not close
// the file under it.
func (j *Joiner) Close() (Info, error) {
	var info Info
	err := fmt.Errorf("a file joined from nothing: %w", ErrFormat)
	if j.footer != nil {
		info, err = writeEnd(j.out, j.footer, j.layout, j.opts)
	}
	return info, errors.Join(err, j.Discard())
}

// Discard frees what the joiner holds, instead of Close or after it.
func (j *Joiner) Discard() error {
	if j.groups == nil {
		return nil
	}
	g := j.groups
	j.groups = nil
	return g.close()
}

// adopt takes the schema of the first file, which is the same as the layout's,
// and checks that the others have it too.
func (j *Joiner) adopt(f *File) error {
	if j.footer == nil {
		j.footer = &footer{meta: f.footer.meta}
		if len(f.footer.meta.ColumnOrders) != len(j.layout.leaves) {
			return fmt.Errorf("join %s: %d columns, not %d: %w", f.name, len(f.footer.meta.ColumnOrders), len(j.layout.leaves), ErrSchema)
		}
	}
	want, have := j.footer.meta.Schema, f.footer.meta.Schema
	if len(want) != len(have) {
		return fmt.Errorf("join %s: its schema is another: %w", f.name, ErrSchema)
	}
	for i := range want {
		if !sameElement(&want[i], &have[i]) {
			return fmt.Errorf("join %s: column %q is another: %w", f.name, have[i].Name, ErrSchema)
		}
	}
	return nil
}
