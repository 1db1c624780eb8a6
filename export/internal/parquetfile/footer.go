package parquetfile

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

const magic = "PAR1"

// tailBytes is the fixed end of a file: the footer's length and the magic.
const tailBytes = 8

// footer is the description of a file: what its page index and footer say.
type footer struct {
	meta      format.FileMetaData
	rowGroups []rowGroup
}

// rowGroup is one row group with the page index of its columns. Offsets are
// those in the file that it was read from or is written to.
type rowGroup struct {
	meta    format.RowGroup
	columns []format.ColumnIndex // empty NullPages: the column has none
	offsets []format.OffsetIndex
}

// readFooter reads the description of a file of the given size. It touches the
// page index and the footer only.
func readFooter(r io.ReaderAt, size int64) (*footer, error) {
	var end [tailBytes]byte
	if size < int64(len(magic)+tailBytes) {
		return nil, fmt.Errorf("file of %d bytes: %w", size, ErrFormat)
	}
	if _, err := r.ReadAt(end[:], size-tailBytes); err != nil {
		return nil, fmt.Errorf("read end of file: %w", err)
	}
	length := int64(binary.LittleEndian.Uint32(end[:4]))
	if string(end[4:]) != magic || length > size-int64(len(magic)+tailBytes) {
		return nil, fmt.Errorf("end of file is not that of a finished file: %w", ErrFormat)
	}
	f := new(footer)
	if err := readThrift(r, size-tailBytes-length, length, &f.meta); err != nil {
		return nil, fmt.Errorf("read footer: %w", err)
	}
	for i := range f.meta.RowGroups {
		g := rowGroup{meta: f.meta.RowGroups[i]}
		g.columns = make([]format.ColumnIndex, len(g.meta.Columns))
		g.offsets = make([]format.OffsetIndex, len(g.meta.Columns))
		for c := range g.meta.Columns {
			chunk := &g.meta.Columns[c]
			if chunk.ColumnIndexOffset > 0 {
				if err := readThrift(r, chunk.ColumnIndexOffset, int64(chunk.ColumnIndexLength), &g.columns[c]); err != nil {
					return nil, fmt.Errorf("read column index: %w", err)
				}
			}
			if err := readThrift(r, chunk.OffsetIndexOffset, int64(chunk.OffsetIndexLength), &g.offsets[c]); err != nil {
				return nil, fmt.Errorf("read offset index: %w", err)
			}
		}
		f.rowGroups = append(f.rowGroups, g)
	}
	return f, nil
}

func readThrift(r io.ReaderAt, offset, length int64, into any) error {
	if offset <= 0 || length <= 0 || length > math.MaxInt32 {
		return fmt.Errorf("%d bytes at %d: %w", length, offset, ErrFormat)
	}
	b := make([]byte, length)
	if _, err := r.ReadAt(b, offset); err != nil {
		return err
	}
	return thrift.Unmarshal(new(thrift.CompactProtocol), b, into)
}

// write writes the page index and the footer to w, where offset bytes are
// already, and gives the number of bytes written.
func (f *footer) write(w io.Writer, offset int64) (int64, error) {
	out := &counter{w: w, n: offset}
	f.meta.RowGroups = make([]format.RowGroup, len(f.rowGroups))
	f.meta.NumRows = 0
	for i, g := range f.rowGroups {
		g.meta.Ordinal = int16(i)
		g.meta.Columns = slices.Clone(g.meta.Columns)
		f.meta.RowGroups[i] = g.meta
		f.meta.NumRows += g.meta.NumRows
	}
	for i, g := range f.rowGroups {
		for c := range g.columns {
			chunk := &f.meta.RowGroups[i].Columns[c]
			chunk.ColumnIndexOffset, chunk.ColumnIndexLength = 0, 0
			if len(g.columns[c].NullPages) == 0 {
				continue
			}
			n, err := writeThrift(out, &g.columns[c])
			if err != nil {
				return 0, fmt.Errorf("write column index: %w", err)
			}
			chunk.ColumnIndexOffset, chunk.ColumnIndexLength = out.n-n, int32(n)
		}
	}
	for i, g := range f.rowGroups {
		for c := range g.offsets {
			n, err := writeThrift(out, &g.offsets[c])
			if err != nil {
				return 0, fmt.Errorf("write offset index: %w", err)
			}
			chunk := &f.meta.RowGroups[i].Columns[c]
			chunk.OffsetIndexOffset, chunk.OffsetIndexLength = out.n-n, int32(n)
		}
	}
	n, err := writeThrift(out, &f.meta)
	if err != nil {
		return 0, fmt.Errorf("write footer: %w", err)
	}
	end := binary.LittleEndian.AppendUint32(nil, uint32(n))
	if _, err := out.Write(append(end, magic...)); err != nil {
		return 0, fmt.Errorf("write end of file: %w", err)
	}
	return out.n - offset, nil
}

func writeThrift(w io.Writer, v any) (int64, error) {
	b, err := thrift.Marshal(new(thrift.CompactProtocol), v)
	if err != nil {
		return 0, err
	}
	n, err := w.Write(b)
	return int64(n), err
}

// counter counts the bytes that went through it.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// shift moves the offsets of a row group by so many bytes.
func (g *rowGroup) shift(delta int64) {
	g.meta.FileOffset += delta
	for c := range g.meta.Columns {
		m := &g.meta.Columns[c].MetaData
		m.DataPageOffset += delta
		if m.DictionaryPageOffset > 0 {
			m.DictionaryPageOffset += delta
		}
		pages := g.offsets[c].PageLocations
		for p := range pages {
			pages[p].Offset += delta
		}
	}
}

// span gives the bytes [start, end) of the file that hold the row group's
// pages. Files of this package have nothing else in between.
func (g *rowGroup) span() (start, end int64, err error) {
	start = math.MaxInt64
	total := int64(0)
	for c := range g.meta.Columns {
		m := &g.meta.Columns[c].MetaData
		from := m.DataPageOffset
		if m.DictionaryPageOffset > 0 {
			from = min(from, m.DictionaryPageOffset)
		}
		start = min(start, from)
		end = max(end, from+m.TotalCompressedSize)
		total += m.TotalCompressedSize
	}
	if start < int64(len(magic)) || end-start != total {
		return 0, 0, fmt.Errorf("columns of a row group are not side by side: %w", ErrFormat)
	}
	return start, end, nil
}
