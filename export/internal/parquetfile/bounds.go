package parquetfile

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// bounds are the least and the greatest of some values of one column: numbers
// (false is 0, true 1), floats, or bytes. NaN does not count.
type bounds struct {
	any                bool
	minInt, maxInt     int64
	minFloat, maxFloat float64
	minBytes, maxBytes []byte
}

func (b *bounds) reset() { b.any = false }

func (b *bounds) addInt(v int64) {
	if !b.any {
		b.any, b.minInt, b.maxInt = true, v, v
		return
	}
	b.minInt, b.maxInt = min(b.minInt, v), max(b.maxInt, v)
}

func (b *bounds) addFloat(v float64) {
	switch {
	case v != v:
	case !b.any:
		b.any, b.minFloat, b.maxFloat = true, v, v
	default:
		b.minFloat, b.maxFloat = min(b.minFloat, v), max(b.maxFloat, v)
	}
}

// addBytes compares bytes without sign, as texts, UUIDs and plain bytes are.
func (b *bounds) addBytes(v []byte) {
	if !b.any {
		b.any = true
		b.minBytes, b.maxBytes = append(b.minBytes[:0], v...), append(b.maxBytes[:0], v...)
		return
	}
	if bytes.Compare(v, b.minBytes) < 0 {
		b.minBytes = append(b.minBytes[:0], v...)
	} else if bytes.Compare(v, b.maxBytes) > 0 {
		b.maxBytes = append(b.maxBytes[:0], v...)
	}
}

// encoded gives the bounds as they stand in a file, in memory of their own.
func (b *bounds) encoded(t format.Type) (lower, upper []byte) {
	le := binary.LittleEndian
	switch t {
	case format.Boolean:
		return []byte{byte(b.minInt)}, []byte{byte(b.maxInt)}
	case format.Int32:
		return le.AppendUint32(nil, uint32(b.minInt)), le.AppendUint32(nil, uint32(b.maxInt))
	case format.Int64:
		return le.AppendUint64(nil, uint64(b.minInt)), le.AppendUint64(nil, uint64(b.maxInt))
	case format.Float:
		lower, upper := b.zeros()
		return le.AppendUint32(nil, math.Float32bits(float32(lower))), le.AppendUint32(nil, math.Float32bits(float32(upper)))
	case format.Double:
		lower, upper := b.zeros()
		return le.AppendUint64(nil, math.Float64bits(lower)), le.AppendUint64(nil, math.Float64bits(upper))
	}
	return append([]byte{}, b.minBytes...), append([]byte{}, b.maxBytes...)
}

// zeros gives the bounds of floats with the zero that bounds both zeros, as the
// format asks for.
func (b *bounds) zeros() (lower, upper float64) {
	lower, upper = b.minFloat, b.maxFloat
	if lower == 0 {
		lower = math.Copysign(0, -1)
	}
	if upper == 0 {
		upper = 0
	}
	return lower, upper
}

// addPage adds the bounds of a page to those of its chunk and to its column index,
// so that readers are not led astray: none for columns that have no sound ones, no
// NaN, no long text.
func (c *chunk) addPage(l *leaf, b *bounds, values, nulls int) {
	index := &c.columnIndex
	index.NullPages = append(index.NullPages, values == 0)
	index.NullCounts = append(index.NullCounts, int64(nulls))
	lower, upper := []byte{}, []byte{}
	if b.any && !l.noBounds {
		lower, upper = b.encoded(l.physical)
		c.extend(l, lower, upper)
		if l.physical == format.ByteArray {
			lower, upper = shortened(lower, upper)
		}
	}
	if values > 0 && (!b.any || l.noBounds || upper == nil) {
		c.unbounded = true
	}
	index.MinValues = append(index.MinValues, lower)
	index.MaxValues = append(index.MaxValues, upper)
}

// addBounds adds the bounds of another chunk and of its pages.
func (c *chunk) addBounds(l *leaf, other *format.ColumnMetaData, pages *format.ColumnIndex) {
	switch {
	case other.Statistics.MinValue != nil && other.Statistics.MaxValue != nil:
		c.extend(l, other.Statistics.MinValue, other.Statistics.MaxValue)
	case other.NumValues > other.Statistics.NullCount:
		c.unknown = true
	}
	if len(pages.NullPages) == 0 {
		c.unbounded = true
		return
	}
	index := &c.columnIndex
	index.NullPages = append(index.NullPages, pages.NullPages...)
	index.NullCounts = append(index.NullCounts, pages.NullCounts...)
	index.MinValues = append(index.MinValues, pages.MinValues...)
	index.MaxValues = append(index.MaxValues, pages.MaxValues...)
	index.RepetitionLevelHistogram = append(index.RepetitionLevelHistogram, pages.RepetitionLevelHistogram...)
	index.DefinitionLevelHistogram = append(index.DefinitionLevelHistogram, pages.DefinitionLevelHistogram...)
}

func (c *chunk) extend(l *leaf, lower, upper []byte) {
	if c.lower == nil || l.compare(lower, c.lower) < 0 {
		c.lower = lower
	}
	if c.upper == nil || l.compare(upper, c.upper) > 0 {
		c.upper = upper
	}
}

// finishBounds makes the statistics and the column index complete, or empty.
func (c *chunk) finishBounds(l *leaf) {
	s := &c.meta.Statistics
	if !c.unknown {
		s.MinValue, s.MaxValue = c.lower, c.upper
	}
	if l.physical == format.ByteArray {
		s.MinValue, s.MaxValue = shortened(s.MinValue, s.MaxValue)
	}
	if c.unbounded {
		c.columnIndex = format.ColumnIndex{}
		return
	}
	c.columnIndex.BoundaryOrder = l.orderOf(c.columnIndex)
}

// compare compares two values of the leaf, encoded as bounds are.
func (l *leaf) compare(a, b []byte) int {
	if l.physical == format.ByteArray || l.physical == format.FixedLenByteArray {
		return bytes.Compare(a, b)
	}
	kind := parquet.Kind(l.physical)
	return l.parquet.Compare(kind.Value(a), kind.Value(b))
}

// orderOf tells how the bounds of pages follow each other.
func (l *leaf) orderOf(index format.ColumnIndex) format.BoundaryOrder {
	ascending, descending := true, true
	last := -1
	for p, null := range index.NullPages {
		if null {
			continue
		}
		if last >= 0 {
			lower := l.compare(index.MinValues[last], index.MinValues[p])
			upper := l.compare(index.MaxValues[last], index.MaxValues[p])
			ascending = ascending && lower <= 0 && upper <= 0
			descending = descending && lower >= 0 && upper >= 0
		}
		last = p
	}
	switch {
	case ascending:
		return format.Ascending
	case descending:
		return format.Descending
	}
	return format.Unordered
}

// shortened gives bounds in memory of their own, short ones for long texts, and
// none when there are none so short. No minimum or maximum is nil.
func shortened(lower, upper []byte) (shortLower, shortUpper []byte) {
	if lower == nil || upper == nil {
		return nil, nil
	}
	upper = upperBound(upper)
	if upper == nil {
		return nil, nil
	}
	return bytes.Clone(lowerBound(lower)), bytes.Clone(upper)
}

// lowerBound shortens text to its longest whole-rune prefix of boundsMaxBytes.
func lowerBound(text []byte) []byte {
	if len(text) <= boundsMaxBytes {
		return text
	}
	cut := boundsMaxBytes
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut:cut]
}

// upperBound shortens text to a short text that sorts after everything that
// begins as text does, or nil when there is none.
func upperBound(text []byte) []byte {
	if len(text) <= boundsMaxBytes {
		return text
	}
	prefix := lowerBound(text)
	for len(prefix) > 0 {
		r, size := utf8.DecodeLastRune(prefix)
		head := prefix[:len(prefix)-size]
		if r == utf8.RuneError && size <= 1 {
			return nil // not UTF-8, so bounds of text make no sense
		}
		if r++; r == 0xD800 {
			r = 0xE000 // step over the surrogates, which are not runes
		}
		if r <= utf8.MaxRune {
			return utf8.AppendRune(slices.Clip(slices.Clone(head)), r)
		}
		prefix = head
	}
	return nil
}
