package schema

import (
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"manifest/internal/cqltype"
)

// literalLimit bounds the text of a value: a key may have 64 KiB.
const literalLimit = 256

// KeyText gives key columns with their serialized values as text like
// device_id='x', day_bucket=2026-01-02, for people: long ones are cut off.
func KeyText(columns []Column, values [][]byte) string {
	var b strings.Builder
	for i, c := range columns {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(c.Name)
		b.WriteByte('=')
		b.WriteString(literal(c.Type, values[i]))
	}
	return b.String()
}

// literal gives a serialized value as text for people, near to a CQL literal;
// long ones are cut off. A value that can't be decoded is shown as a blob.
func literal(t *cqltype.Type, value []byte) string {
	switch t.Kind {
	case cqltype.Text, cqltype.Ascii:
		return "'" + strings.ReplaceAll(abbreviate(string(value)), "'", "''") + "'"
	case cqltype.Blob:
		return abbreviate("0x" + hex.EncodeToString(value))
	case cqltype.UUID, cqltype.Timeuuid:
		if len(value) == 16 {
			return string(cqltype.AppendUUID(nil, value))
		}
	}
	field, err := t.Field("value", true)
	if err != nil {
		return abbreviate("0x" + hex.EncodeToString(value))
	}
	builder := array.NewBuilder(memory.DefaultAllocator, field.Type)
	defer builder.Release()
	appender, err := cqltype.NewAppender(t, builder)
	if err != nil || appender.Append(value) != nil {
		return abbreviate("0x" + hex.EncodeToString(value))
	}
	decoded := builder.NewArray()
	defer decoded.Release()
	return abbreviate(decoded.ValueStr(0))
}

// abbreviate cuts a text off between characters.
func abbreviate(s string) string {
	if len(s) <= literalLimit {
		return s
	}
	end := literalLimit
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
