package trainset

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"manifest/internal/rowform"
)

// accessor takes a value out of a joined row: the content of a cell, or a part of it.
type accessor struct {
	cell  int
	typ   arrow.DataType
	day   bool   // the UTC day of a timestamp
	first bool   // the first element of a list
	ofMap bool   // the entry of key
	key   string // of a map
}

// outType is the type of what the accessor takes.
func (a accessor) outType() arrow.DataType {
	switch {
	case a.day:
		return arrow.FixedWidthTypes.Date32
	case a.first, a.ofMap:
		return arrow.BinaryTypes.String
	}
	return a.typ
}

// content gives the content that is wanted, nil for NULL. day has room for a day.
func (a accessor) content(cells [][]byte, day *[4]byte) ([]byte, error) {
	c := cells[a.cell]
	if c == nil {
		return nil, nil
	}
	switch {
	case a.day:
		millis, err := millisOf(c)
		if err != nil {
			return nil, err
		}
		binary.LittleEndian.PutUint32(day[:], uint32(int32(floorDiv(millis, 86_400_000))))
		return day[:], nil
	case a.first:
		if len(c) == 0 {
			return nil, nil
		}
		first, _, err := rowform.Take(c)
		return first, err
	case a.ofMap:
		for len(c) > 0 {
			key, rest, err := rowform.Take(c)
			if err != nil {
				return nil, err
			}
			value, rest, err := rowform.Take(rest)
			if err != nil {
				return nil, err
			}
			if string(key) == a.key {
				return value, nil
			}
			c = rest
		}
		return nil, nil
	}
	return c, nil
}

// text appends the text of the value; ok is false for NULL.
func (a accessor) text(dst []byte, cells [][]byte) (_ []byte, ok bool, err error) {
	var day [4]byte
	c, err := a.content(cells, &day)
	if err != nil || c == nil {
		return dst, false, err
	}
	dst, err = rowform.AppendTextOf(dst, a.outType(), c)
	return dst, true, err
}

func millisOf(content []byte) (int64, error) {
	if len(content) != 8 {
		return 0, fmt.Errorf("%w: a timestamp of %d bytes", ErrInput, len(content))
	}
	return int64(binary.LittleEndian.Uint64(content)), nil
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// uriPart is a part of a template: text, or the value of a column.
type uriPart struct {
	text   string
	column string
	accessor
}

// parseURI reads a template such as s3://{object_store}/{object_key}.
func parseURI(template string) ([]uriPart, error) {
	var parts []uriPart
	rest := template
	for rest != "" {
		open := strings.IndexByte(rest, '{')
		if open < 0 {
			return append(parts, uriPart{text: rest}), nil
		}
		if open > 0 {
			parts = append(parts, uriPart{text: rest[:open]})
		}
		end := strings.IndexByte(rest[open:], '}')
		if end < 2 {
			return nil, fmt.Errorf("template %q: behind { stands no name with a }", template)
		}
		parts = append(parts, uriPart{column: rest[open+1 : open+end]})
		rest = rest[open+end+1:]
	}
	return parts, nil
}

// appendURI appends the URI of a row; ok is false where a column of it is NULL.
func (p *Plan) appendURI(dst []byte, cells [][]byte) (_ []byte, ok bool, err error) {
	parts := p.uri
	if p.spec.URI == defaultURI && bytes.Contains(cells[parts[1].cell], []byte("://")) {
		parts = parts[1:] // the store has a scheme of its own
	}
	for _, part := range parts {
		if part.column == "" {
			dst = append(dst, part.text...)
			continue
		}
		if dst, ok, err = part.accessor.text(dst, cells); !ok || err != nil {
			return dst, false, err
		}
	}
	return dst, true, nil
}
