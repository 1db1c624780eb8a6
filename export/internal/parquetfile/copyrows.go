package parquetfile

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"
)

// take writes the rows of a slice, from the chunk of the leaf in the slice's row
// group: by copying its pages as they are where that makes good pages, else by
// decoding and encoding them again.
func (w *chunkWriter) take(s Slice) error {
	if w.canCopy(s) {
		if err := w.copyPages(s); err != nil {
			return fmt.Errorf("column %s: copy pages: %w", w.leaf.name(), err)
		}
		return nil
	}
	chunks := s.File.pages.RowGroups()[s.RowGroup].ColumnChunks()
	return w.copyRows(chunks[w.leaf.index], s.From, s.To)
}

// smallPage is the share of a full page below which pages are packed together.
const smallPage = 8

// canCopy says whether the pages of a slice can stand in another chunk: without a
// dictionary, of which a chunk has one, whole, and not too small.
func (w *chunkWriter) canCopy(s Slice) bool {
	g := &s.File.footer.rowGroups[s.RowGroup]
	m := &g.meta.Columns[w.leaf.index].MetaData
	pages := int64(len(g.offsets[w.leaf.index].PageLocations))
	whole := s.From == 0 && s.To == g.meta.NumRows
	large := smallPage*g.meta.NumRows >= pages*int64(w.pageRows) || smallPage*m.TotalUncompressedSize >= pages*int64(w.pageBytes)
	return w.dict == nil && m.DictionaryPageOffset == 0 && whole && large
}

// copyPages appends the pages of a chunk that has nothing but data pages.
func (w *chunkWriter) copyPages(s Slice) error {
	if err := w.endPage(); err != nil {
		return err
	}
	g := &s.File.footer.rowGroups[s.RowGroup]
	m := &g.meta.Columns[w.leaf.index].MetaData
	buf := freePages.Get().(*page)
	defer freePages.Put(buf)
	for _, at := range g.offsets[w.leaf.index].PageLocations {
		buf.out = slices.Grow(buf.out[:0], int(at.CompressedPageSize))[:at.CompressedPageSize]
		if _, err := s.File.data.ReadAt(buf.out, at.Offset); err != nil {
			return err
		}
		if err := w.keep(buf.out, w.chunk.rows+at.FirstRowIndex); err != nil {
			return err
		}
	}
	w.chunk.rows += g.meta.NumRows
	w.chunk.addChunk(w.leaf, m, &g.columns[w.leaf.index])
	return nil
}

// copyRows writes the rows [from, to) of a chunk of another file.
func (w *chunkWriter) copyRows(chunk parquet.ColumnChunk, from, to int64) (err error) {
	pages := chunk.Pages()
	defer func() { err = errors.Join(err, pages.Close()) }()
	if err := pages.SeekToRow(from); err != nil {
		return fmt.Errorf("column %s: go to row %d: %w", w.leaf.name(), from, err)
	}
	left := to - from
	for left > 0 {
		page, err := pages.ReadPage()
		if err != nil {
			return fmt.Errorf("column %s: %d rows are missing: %w", w.leaf.name(), left, err)
		}
		rows := page.NumRows()
		if rows > left {
			whole := page
			page = whole.Slice(0, left)
			rows = left
			err = w.copyPage(page)
			parquet.Release(whole)
		} else {
			err = w.copyPage(page)
			parquet.Release(page)
		}
		if err != nil {
			return err
		}
		left -= rows
	}
	return nil
}

// copyPage writes a page's rows. Its values are taken as an Arrow array, those of a
// dictionary as they are numbered there.
func (w *chunkWriter) copyPage(page parquet.Page) error {
	arr, numbers, err := pageArray(page)
	if err != nil {
		return fmt.Errorf("column %s: %w", w.leaf.name(), err)
	}
	defer arr.Release()
	s := &w.shredder.slots
	s.reset()
	rep, def := page.RepetitionLevels(), page.DefinitionLevels()
	next := int32(0)
	for k := range int(page.NumValues()) {
		var r byte
		if w.leaf.maxRep > 0 {
			r = rep[k]
		}
		d := w.leaf.maxDef
		if d > 0 {
			d = def[k]
		}
		index := int32(ended)
		if d == w.leaf.maxDef {
			index = next
			if numbers != nil {
				index = numbers[next]
			}
			next++
		}
		s.add(r, d, index)
	}
	return w.writeSlots(s, arr)
}

// pageArray gives the values of a page without nulls, in the page's memory; or
// those of its dictionary, and the numbers of the page's values in it.
func pageArray(page parquet.Page) (arr arrow.Array, numbers []int32, err error) {
	if dict := page.Dictionary(); dict != nil {
		data := page.Data()
		numbers = data.Int32()
		if numbers == nil {
			numbers = []int32{}
		}
		page = dict.Page()
	}
	values := page.Data()
	var typ arrow.DataType
	var n int
	buffers := make([]*memory.Buffer, 2, 3)
	plain, offsets := values.Data()
	buffers[1] = memory.NewBufferBytes(plain)
	switch values.Kind() {
	case encoding.Boolean:
		return booleans(page)
	case encoding.Int32:
		typ, n = arrow.PrimitiveTypes.Int32, len(plain)/4
	case encoding.Int64:
		typ, n = arrow.PrimitiveTypes.Int64, len(plain)/8
	case encoding.Float:
		typ, n = arrow.PrimitiveTypes.Float32, len(plain)/4
	case encoding.Double:
		typ, n = arrow.PrimitiveTypes.Float64, len(plain)/8
	case encoding.FixedLenByteArray:
		width := page.Type().Length()
		typ, n = &arrow.FixedSizeBinaryType{ByteWidth: width}, len(plain)/width
	case encoding.ByteArray:
		typ, n = arrow.BinaryTypes.Binary, max(len(offsets)-1, 0)
		buffers[1] = memory.NewBufferBytes(arrow.Uint32Traits.CastToBytes(offsets))
		buffers = append(buffers, memory.NewBufferBytes(plain))
	default:
		return nil, nil, fmt.Errorf("values of kind %v: %w", values.Kind(), ErrFormat)
	}
	data := array.NewData(typ, n, buffers, nil, 0, 0)
	defer data.Release()
	return array.MakeFromData(data), numbers, nil
}

// booleans gives the values of a page of booleans, whose bits may begin anywhere in
// a byte.
func booleans(page parquet.Page) (arrow.Array, []int32, error) {
	values := make([]parquet.Value, page.NumValues())
	if n, err := page.Values().ReadValues(values); n < len(values) {
		return nil, nil, fmt.Errorf("read values: %w", err)
	}
	b := array.NewBooleanBuilder(memory.DefaultAllocator)
	defer b.Release()
	for _, v := range values {
		if !v.IsNull() {
			b.Append(v.Boolean())
		}
	}
	return b.NewArray(), nil, nil
}

// clone copies what shift changes.
func (g rowGroup) clone() rowGroup {
	g.meta.Columns = slices.Clone(g.meta.Columns)
	g.offsets = slices.Clone(g.offsets)
	for c := range g.offsets {
		g.offsets[c].PageLocations = slices.Clone(g.offsets[c].PageLocations)
	}
	return g
}

func sameElement(a, b *format.SchemaElement) bool { return reflect.DeepEqual(a, b) }
