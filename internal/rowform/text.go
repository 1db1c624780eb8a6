package rowform

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"manifest/internal/cqltype"
)

// HasText tells whether values of a type have one text: those by which rows can be grouped.
func HasText(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.STRING, arrow.BOOL, arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64, arrow.FLOAT32, arrow.FLOAT64, arrow.DATE32, arrow.TIMESTAMP:
		return true
	case arrow.FIXED_SIZE_BINARY:
		return t.(*arrow.FixedSizeBinaryType).ByteWidth == 16
	}
	return false
}

// AppendTextOf appends the text of a content that is not nil: text as it is, whole numbers in decimal, others in the shortest form that
// reads back, days as 2025-06-01, times as 2025-06-01T12:34:56.789Z, UUIDs in 36 characters.
func AppendTextOf(dst []byte, t arrow.DataType, content []byte) ([]byte, error) {
	if width, ok := t.(arrow.FixedWidthDataType); ok && len(content) != (width.BitWidth()+7)/8 {
		return dst, fmt.Errorf("%w: %d bytes for %s", ErrCorrupt, len(content), t)
	}
	le := binary.LittleEndian
	switch t.ID() {
	case arrow.STRING:
		return append(dst, content...), nil
	case arrow.BOOL:
		return strconv.AppendBool(dst, content[0] != 0), nil
	case arrow.INT8:
		return strconv.AppendInt(dst, int64(int8(content[0])), 10), nil
	case arrow.INT16:
		return strconv.AppendInt(dst, int64(int16(le.Uint16(content))), 10), nil
	case arrow.INT32:
		return strconv.AppendInt(dst, int64(int32(le.Uint32(content))), 10), nil
	case arrow.INT64:
		return strconv.AppendInt(dst, int64(le.Uint64(content)), 10), nil
	case arrow.FLOAT32:
		return strconv.AppendFloat(dst, float64(math.Float32frombits(le.Uint32(content))), 'g', -1, 32), nil
	case arrow.FLOAT64:
		return strconv.AppendFloat(dst, math.Float64frombits(le.Uint64(content)), 'g', -1, 64), nil
	case arrow.DATE32:
		return arrow.Date32(le.Uint32(content)).ToTime().AppendFormat(dst, time.DateOnly), nil
	case arrow.TIMESTAMP:
		at := arrow.Timestamp(le.Uint64(content)).ToTime(t.(*arrow.TimestampType).Unit)
		return at.AppendFormat(dst, "2006-01-02T15:04:05.000Z"), nil
	case arrow.FIXED_SIZE_BINARY:
		if len(content) == 16 {
			return cqltype.AppendUUID(dst, content), nil
		}
	}
	return dst, fmt.Errorf("%w: no text of %s", ErrType, t)
}
