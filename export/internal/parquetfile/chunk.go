package parquetfile

import (
	"cmp"
	"slices"

	"github.com/parquet-go/parquet-go/format"
)

// chunk is the description of a column chunk in the making. Offsets of pages
// count from its first data page until it is placed.
type chunk struct {
	meta        format.ColumnMetaData
	columnIndex format.ColumnIndex
	offsetIndex format.OffsetIndex

	rows         int64
	lower, upper []byte // nil before the first value
	unbounded    bool   // some page has values but no bounds, so there is no column index
	unknown      bool   // some pages were copied from a chunk with values but no bounds
	indexed      bool   // some page has indexes of the dictionary
}

// begin starts the chunk of a leaf.
func (c *chunk) begin(l *leaf) {
	*c = chunk{meta: format.ColumnMetaData{Type: l.physical, PathInSchema: l.path, Codec: format.Zstd}}
	if l.maxRep > 0 {
		c.meta.SizeStatistics.RepetitionLevelHistogram = make([]int64, l.maxRep+1)
	}
	if l.maxDef > 0 {
		c.meta.SizeStatistics.DefinitionLevelHistogram = make([]int64, l.maxDef+1)
		c.meta.Encoding = append(c.meta.Encoding, format.RLE)
	}
}

// addLevels counts the levels of a page.
func (c *chunk) addLevels(l *leaf, rep, def []byte) {
	sizes := &c.meta.SizeStatistics
	c.columnIndex.RepetitionLevelHistogram = addHistogram(c.columnIndex.RepetitionLevelHistogram, sizes.RepetitionLevelHistogram, rep)
	c.columnIndex.DefinitionLevelHistogram = addHistogram(c.columnIndex.DefinitionLevelHistogram, sizes.DefinitionLevelHistogram, def)
}

// addHistogram appends the histogram of a page to those of the pages before it, and
// adds it to total, which is empty for a column without such levels.
func addHistogram(pages, total []int64, levels []byte) []int64 {
	if len(total) == 0 {
		return pages
	}
	start := len(pages)
	pages = append(pages, make([]int64, len(total))...)
	for _, level := range levels {
		pages[start+int(level)]++
	}
	for level, n := range pages[start:] {
		total[level] += n
	}
	return pages
}

// addSizes counts a page of either kind.
func (c *chunk) addSizes(kind format.PageType, encoding format.Encoding, headerSize, rawSize, wholeSize int) {
	c.meta.TotalUncompressedSize += int64(headerSize + rawSize)
	c.meta.TotalCompressedSize += int64(wholeSize)
	c.addPages(format.PageEncodingStats{PageType: kind, Encoding: encoding, Count: 1})
}

func (c *chunk) addPages(pages format.PageEncodingStats) {
	m := &c.meta
	if !slices.Contains(m.Encoding, pages.Encoding) {
		m.Encoding = append(m.Encoding, pages.Encoding)
		slices.Sort(m.Encoding)
	}
	for i, s := range m.EncodingStats {
		if s.PageType == pages.PageType && s.Encoding == pages.Encoding {
			m.EncodingStats[i].Count += pages.Count
			return
		}
	}
	m.EncodingStats = append(m.EncodingStats, pages)
	slices.SortFunc(m.EncodingStats, func(a, b format.PageEncodingStats) int {
		return cmp.Or(cmp.Compare(a.PageType, b.PageType), cmp.Compare(a.Encoding, b.Encoding))
	})
}

// addChunk adds what describes the pages of another chunk of the leaf, whose places
// are added one by one.
func (c *chunk) addChunk(l *leaf, other *format.ColumnMetaData, pages *format.ColumnIndex) {
	m := &c.meta
	m.NumValues += other.NumValues
	m.TotalUncompressedSize += other.TotalUncompressedSize
	m.TotalCompressedSize += other.TotalCompressedSize
	for _, s := range other.EncodingStats {
		c.addPages(s)
	}
	m.Statistics.NullCount += other.Statistics.NullCount
	sizes := &m.SizeStatistics
	sizes.UnencodedByteArrayDataBytes += other.SizeStatistics.UnencodedByteArrayDataBytes
	for level, n := range other.SizeStatistics.RepetitionLevelHistogram {
		sizes.RepetitionLevelHistogram[level] += n
	}
	for level, n := range other.SizeStatistics.DefinitionLevelHistogram {
		sizes.DefinitionLevelHistogram[level] += n
	}
	c.addBounds(l, other, pages)
}

// place moves the pages to the offset at which the first data page begins.
func (c *chunk) place(offset int64) {
	c.meta.DataPageOffset = offset
	for i := range c.offsetIndex.PageLocations {
		c.offsetIndex.PageLocations[i].Offset += offset
	}
}
