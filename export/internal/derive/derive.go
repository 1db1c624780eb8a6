package derive

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"manifest/export/internal/textvalue"
)

// ErrColumn reports a column that can't be made.
var ErrColumn = errors.New("column can't be made of others")

// Column to make: by Template, or as the value of Map for Key.
type Column struct {
	Name string
	// Template is text with the names of columns in braces. {{ and }} are braces. A
	// scheme that it begins with is for values that have none: behind s3://, the
	// value gs://bucket stays what it is.
	Template string
	// Safe writes every byte but letters and digits of ASCII and '-' as '_' and
	// two hexadecimal digits, so that different values stay different. No text at
	// all names nothing, and is NULL.
	Safe bool
	// Map is a column of type map<text, text>.
	Map, Key string
}

// Deriver makes columns. It has no state and may be used concurrently.
type Deriver struct {
	in, out *arrow.Schema
	makers  []maker
}

// maker makes a column of a record.
type maker interface {
	make(mem memory.Allocator, rec arrow.Record) arrow.Array
}

// New plans the columns. All that can't be made are reported at once.
func New(in *arrow.Schema, columns []Column) (*Deriver, error) {
	d := &Deriver{in: in}
	fields := in.Fields()
	var errs []error
	for _, c := range columns {
		m, nullable, err := plan(in, c)
		if err == nil && in.HasField(c.Name) {
			err = fmt.Errorf("there is one of that name: %w", ErrColumn)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("column %q: %w", c.Name, err))
			continue
		}
		d.makers = append(d.makers, m)
		fields = append(fields, arrow.Field{Name: c.Name, Type: arrow.BinaryTypes.String, Nullable: nullable})
	}
	d.out = arrow.NewSchema(fields, nil)
	return d, errors.Join(errs...)
}

func plan(in *arrow.Schema, c Column) (maker, bool, error) {
	if c.Map == "" {
		return planText(in, c)
	}
	place, err := placeOf(in, c.Map)
	if err != nil {
		return nil, false, err
	}
	t, ok := in.Field(place).Type.(*arrow.MapType)
	if !ok || t.KeyType().ID() != arrow.STRING || t.ItemType().ID() != arrow.STRING {
		return nil, false, fmt.Errorf("%q is not a map of text to text: %w", c.Map, ErrColumn)
	}
	return mapValue{place, c.Key}, true, nil
}

func placeOf(in *arrow.Schema, name string) (int, error) {
	places := in.FieldIndices(name)
	if len(places) != 1 {
		return 0, fmt.Errorf("column %q is there %d times: %w", name, len(places), ErrColumn)
	}
	return places[0], nil
}

// Schema is that of the records with the new columns.
func (d *Deriver) Schema() *arrow.Schema { return d.out }

// Apply gives a record with the new columns, which the caller releases.
func (d *Deriver) Apply(mem memory.Allocator, rec arrow.Record) (arrow.Record, error) {
	if int(rec.NumCols()) != d.in.NumFields() {
		return nil, fmt.Errorf("a record of %d columns, not %d: %w", rec.NumCols(), d.in.NumFields(), ErrColumn)
	}
	columns := make([]arrow.Array, 0, d.out.NumFields())
	columns = append(columns, rec.Columns()...)
	for _, m := range d.makers {
		column := m.make(mem, rec)
		defer column.Release()
		columns = append(columns, column)
	}
	return array.NewRecord(d.out, columns, rec.NumRows()), nil
}

// textOf is a template: the text before each column, and behind the last.
type textOf struct {
	parts []part
	safe  bool
}

type part struct {
	text   string
	column int // -1: none
	value  *textvalue.Encoder
}

func planText(in *arrow.Schema, c Column) (maker, bool, error) {
	t := textOf{safe: c.Safe}
	nullable, canBeEmpty := false, c.Safe
	pieces, err := parse(c.Template)
	if err != nil {
		return nil, false, err
	}
	for _, p := range pieces {
		made := part{text: p.text, column: -1}
		canBeEmpty = canBeEmpty && p.text == ""
		if p.column != "" {
			if made.column, err = placeOf(in, p.column); err != nil {
				return nil, false, err
			}
			f := in.Field(made.column)
			nullable = nullable || f.Nullable
			canBeEmpty = canBeEmpty && (f.Type.ID() == arrow.STRING || f.Type.ID() == arrow.BINARY)
			if made.value, err = textvalue.NewEncoder(f.Type, textvalue.Options{}); err != nil {
				return nil, false, fmt.Errorf("column %q: %w", p.column, err)
			}
		}
		t.parts = append(t.parts, made)
	}
	return t, nullable || canBeEmpty, nil
}

// piece of a template: text, and a column behind it.
type piece struct{ text, column string }

// parse reads a template, which names at least one column.
func parse(template string) ([]piece, error) {
	var pieces []piece
	var text strings.Builder
	columns := 0
	for rest := template; rest != ""; {
		switch {
		case strings.HasPrefix(rest, "{{"), strings.HasPrefix(rest, "}}"):
			text.WriteByte(rest[0])
			rest = rest[2:]
		case rest[0] == '}':
			return nil, fmt.Errorf("template %q has a } without a {: %w", template, ErrColumn)
		case rest[0] == '{':
			name, behind, ok := strings.Cut(rest[1:], "}")
			if !ok || name == "" {
				return nil, fmt.Errorf("template %q has a { that names no column: %w", template, ErrColumn)
			}
			pieces = append(pieces, piece{text.String(), name})
			text.Reset()
			columns++
			rest = behind
		default:
			text.WriteByte(rest[0])
			rest = rest[1:]
		}
	}
	if columns == 0 {
		return nil, fmt.Errorf("template %q names no column: %w", template, ErrColumn)
	}
	if text.Len() > 0 {
		pieces = append(pieces, piece{text: text.String()})
	}
	return pieces, nil
}

// Sources are the columns that a template names; none if it is wrong.
func Sources(template string) (columns []string) {
	pieces, _ := parse(template)
	for _, p := range pieces {
		if p.column != "" {
			columns = append(columns, p.column)
		}
	}
	return columns
}

// scheme ends the scheme of a URI.
const scheme = "://"

func (t textOf) make(mem memory.Allocator, rec arrow.Record) arrow.Array {
	b := array.NewStringBuilder(mem)
	defer b.Release()
	b.Reserve(int(rec.NumRows()))
	var row, value []byte
	for i := range int(rec.NumRows()) {
		row = row[:0]
		null := false
		for k, p := range t.parts {
			row = append(row, p.text...)
			if p.column < 0 {
				continue
			}
			column := rec.Column(p.column)
			if null = column.IsNull(i); null {
				break
			}
			if !t.safe {
				before := len(row)
				row = p.value.AppendPlain(row, column, i)
				if k == 0 && strings.HasSuffix(p.text, scheme) && bytes.Contains(row[before:], []byte(scheme)) {
					row = append(row[:0], row[before:]...)
				}
				continue
			}
			value = p.value.AppendPlain(value[:0], column, i)
			row = appendSafe(row, value)
		}
		if null || t.safe && len(row) == 0 {
			b.AppendNull()
			continue
		}
		b.BinaryBuilder.Append(row)
	}
	return b.NewArray()
}

const hexDigits = "0123456789abcdef"

// appendSafe appends a value as Column.Safe says.
func appendSafe(dst, value []byte) []byte {
	for _, c := range value {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-':
			dst = append(dst, c)
		default:
			dst = append(dst, '_', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return dst
}

// mapValue is the value of a map for a key.
type mapValue struct {
	column int
	key    string
}

func (m mapValue) make(mem memory.Allocator, rec arrow.Record) arrow.Array {
	column := rec.Column(m.column).(*array.Map)
	keys, items := column.Keys().(*array.String), column.Items().(*array.String)
	b := array.NewStringBuilder(mem)
	defer b.Release()
	b.Reserve(column.Len())
rows:
	for i := range column.Len() {
		if column.IsValid(i) {
			from, to := column.ValueOffsets(i)
			for k := int(from); k < int(to); k++ {
				if keys.Value(k) == m.key && items.IsValid(k) {
					b.Append(items.Value(k))
					continue rows
				}
			}
		}
		b.AppendNull()
	}
	return b.NewArray()
}
