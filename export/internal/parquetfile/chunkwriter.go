package parquetfile

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// chunkWriter writes the column chunk of one leaf in the open row group. Chunk
// writers of a file are independent of each other.
type chunkWriter struct {
	leaf                *leaf
	pageBytes, pageRows int

	shredder shredder
	codec    codec
	dict     *dictionary // nil for a leaf without
	pages    keptPages
	chunk    chunk
	dataSize int64 // of the kept pages

	// the open page
	rep, def []byte // of its slots, where the leaf has such levels
	slots    int
	rows     int
	cost     int // of its slots, as writeSlots counts
	values   pageValues
}

const (
	// slotCost is added to the bytes of each value when a page is measured: its
	// levels, so that a page of nulls ends too.
	slotCost = 1

	// textCost is added for the length of a text.
	textCost = 4

	// chunkRows and chunkElems bound the slots that are made at a time.
	chunkRows  = 1024
	chunkElems = 8192
)

func newChunkWriter(l *leaf, opts Options) *chunkWriter {
	w := &chunkWriter{leaf: l, pageBytes: opts.PageBytes, pageRows: opts.PageRows}
	if l.dictionary {
		w.dict = newDictionary()
	}
	return w
}

// open starts a file, whose pages go to spill, or stay in memory without one.
func (w *chunkWriter) open(spill *spill) {
	w.codec = codec{}
	w.pages.spill = spill
	w.begin()
}

// begin starts a chunk.
func (w *chunkWriter) begin() {
	w.chunk.begin(w.leaf)
	w.pages.reset()
	w.dataSize = 0
	w.values.page = 0
	w.values.dict = w.dict
	if w.dict != nil {
		w.dict.reset()
	}
	w.beginPage()
}

func (w *chunkWriter) beginPage() {
	w.rep, w.def = w.rep[:0], w.def[:0]
	w.slots, w.rows, w.cost = 0, 0, 0
	w.values.begin()
}

// write writes the rows [from, to) of an Arrow column.
func (w *chunkWriter) write(column arrow.Array, from, to int) error {
	for from < to {
		end := chunkEnd(column, from, to)
		arr, err := w.shredder.shred(w.leaf, column, from, end)
		if err != nil {
			return err
		}
		if err := w.writeSlots(&w.shredder.slots, arr); err != nil {
			return err
		}
		from = end
	}
	return nil
}

// chunkEnd is the row before which to stop so that a chunk of long lists is not
// much longer than one of plain values.
func chunkEnd(column arrow.Array, from, to int) int {
	end := min(from+chunkRows, to)
	var offsets func(int) (int64, int64)
	switch a := column.(type) {
	case *array.List:
		offsets = a.ValueOffsets
	case *array.FixedSizeList:
		offsets = a.ValueOffsets
	case *array.Map:
		offsets = a.ValueOffsets
	default:
		return end
	}
	first, _ := offsets(from)
	for end > from+1 {
		if _, last := offsets(end - 1); last-first <= chunkElems {
			break
		}
		end = from + (end-from)/2
	}
	return end
}

// writeSlots writes slots, which begin and end with whole rows or parts of them,
// whose values are in arr, and ends pages where they are full: at the first row
// that comes after a limit.
func (w *chunkWriter) writeSlots(s *slots, arr arrow.Array) error {
	width, offsets := valueSizes(arr)
	start := 0
	for k, i := range s.index {
		if s.rep[k] == 0 {
			if w.cost >= w.pageBytes || w.rows >= w.pageRows {
				if err := w.add(s, start, k, arr); err != nil {
					return err
				}
				start = k
				if err := w.endPage(); err != nil {
					return err
				}
			}
			w.rows++
		}
		w.cost += slotCost
		if i != ended {
			w.cost += width
			if offsets != nil {
				w.cost += int(offsets[i+1] - offsets[i])
			}
		}
	}
	return w.add(s, start, len(s.index), arr)
}

// valueSizes gives the bytes of each value, and the offsets where values differ.
func valueSizes(arr arrow.Array) (width int, offsets []int32) {
	switch a := arr.(type) {
	case *array.String:
		return textCost, a.ValueOffsets()
	case *array.Binary:
		return textCost, a.ValueOffsets()
	}
	if t, ok := arr.DataType().(arrow.FixedWidthDataType); ok {
		return max(t.BitWidth()/8, 1), nil
	}
	return 0, nil
}

// add puts the slots [from, to) on the open page.
func (w *chunkWriter) add(s *slots, from, to int, arr arrow.Array) error {
	if w.leaf.maxRep > 0 {
		w.rep = append(w.rep, s.rep[from:to]...)
	}
	if w.leaf.maxDef > 0 {
		w.def = append(w.def, s.def[from:to]...)
	}
	w.slots += to - from
	if err := w.values.append(arr, s.index[from:to]); err != nil {
		return fmt.Errorf("column %s: %w", w.leaf.name(), err)
	}
	return nil
}

// endPage writes the open page, if it has rows.
func (w *chunkWriter) endPage() error {
	if w.slots == 0 {
		return nil
	}
	if err := w.writeDataPage(); err != nil {
		return fmt.Errorf("column %s: %w", w.leaf.name(), err)
	}
	if w.dict != nil && len(w.dict.bytes) > dictionaryMaxBytes {
		w.values.dict = nil // for the rest of the row group
	}
	w.beginPage()
	return nil
}

func (w *chunkWriter) writeDataPage() error {
	p := freePages.Get().(*page)
	defer freePages.Put(p)
	p.raw = p.raw[:0]
	if err := p.addLevels(w.rep, w.leaf.maxRep); err != nil {
		return err
	}
	if err := p.addLevels(w.def, w.leaf.maxDef); err != nil {
		return err
	}
	encoding := format.Plain
	if w.values.dict != nil {
		encoding = format.RLEDictionary
		w.chunk.indexed = true
		if err := p.addIndexes(w.values.indexes); err != nil {
			return err
		}
	} else {
		p.raw = append(p.raw, w.values.plain...)
	}
	header := format.PageHeader{Type: format.DataPage, DataPageHeader: thrift.New(format.DataPageHeader{
		NumValues: int32(w.slots), Encoding: encoding, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE,
	})}
	whole, headerSize, err := p.finish(&w.codec, &header)
	if err != nil {
		return err
	}
	c := &w.chunk
	if err := w.keep(whole, c.rows); err != nil {
		return err
	}
	nulls := w.slots - w.values.count
	c.rows += int64(w.rows)
	c.meta.NumValues += int64(w.slots)
	c.meta.Statistics.NullCount += int64(nulls)
	c.meta.SizeStatistics.UnencodedByteArrayDataBytes += w.values.bytes
	c.addLevels(w.leaf, w.rep, w.def)
	c.addPage(w.leaf, &w.values.bounds, w.values.count, nulls)
	c.addSizes(format.DataPage, encoding, headerSize, len(p.raw), len(whole))
	return nil
}

// keep adds a page, with its header, that begins with that row of the row group.
func (w *chunkWriter) keep(whole []byte, firstRow int64) error {
	if err := w.pages.add(whole); err != nil {
		return err
	}
	w.chunk.offsetIndex.PageLocations = append(w.chunk.offsetIndex.PageLocations, format.PageLocation{
		Offset: w.dataSize, CompressedPageSize: int32(len(whole)), FirstRowIndex: firstRow,
	})
	w.dataSize += int64(len(whole))
	return nil
}

// end writes the chunk, whose last page has ended, to out: the dictionary and the
// kept pages. The description is that of the chunk in out.
func (w *chunkWriter) end(out *counter) error {
	if err := w.writeTo(out); err != nil {
		return fmt.Errorf("column %s: %w", w.leaf.name(), err)
	}
	w.chunk.finishBounds(w.leaf)
	return nil
}

func (w *chunkWriter) writeTo(out *counter) error {
	if w.chunk.indexed {
		w.chunk.meta.DictionaryPageOffset = out.n
		if err := w.writeDictionaryPage(out); err != nil {
			return err
		}
	}
	w.chunk.place(out.n)
	return w.pages.writeTo(out)
}

func (w *chunkWriter) writeDictionaryPage(out *counter) error {
	p := freePages.Get().(*page)
	defer freePages.Put(p)
	p.raw = w.dict.appendPlain(p.raw[:0], w.leaf.physical == format.ByteArray)
	header := format.PageHeader{Type: format.DictionaryPage, DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{
		NumValues: int32(w.dict.len()), Encoding: format.Plain,
	})}
	whole, headerSize, err := p.finish(new(codec), &header)
	if err != nil {
		return err
	}
	if _, err := out.Write(whole); err != nil {
		return fmt.Errorf("write dictionary: %w", err)
	}
	w.chunk.addSizes(format.DictionaryPage, format.Plain, headerSize, len(p.raw), len(whole))
	return nil
}
