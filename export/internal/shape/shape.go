package shape

import (
	"errors"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"manifest/export/internal/textvalue"
)

// Shape is a plan to turn records of one schema into those of another. It has
// no state and may be used concurrently.
type Shape struct {
	in, out   *arrow.Schema
	columns   []column
	partition []partitionColumn
}

type column struct {
	from int // its place in the scan's records
	conv converter
}

type partitionColumn struct {
	from int
	name string
	text *textvalue.Encoder
}

// New plans the shaping of the named columns, in that order; nil means all.
// All columns that can't be shaped are reported at once.
func New(in *arrow.Schema, columns []string, opts Options) (*Shape, error) {
	if err := opts.Validate(); err != nil {
		return nil, fmt.Errorf("shape options: %w", err)
	}
	if columns == nil {
		for _, f := range in.Fields() {
			columns = append(columns, f.Name)
		}
	}
	s := &Shape{in: in}
	var fields []arrow.Field
	var errs []error
	for _, name := range columns {
		places := in.FieldIndices(name)
		if len(places) != 1 {
			errs = append(errs, fmt.Errorf("column %q is there %d times: %w", name, len(places), ErrColumn))
			continue
		}
		f := in.Field(places[0])
		conv, out, err := opts.field(f)
		if err != nil {
			errs = append(errs, fmt.Errorf("column %q: %w", name, err))
			continue
		}
		s.columns = append(s.columns, column{places[0], conv})
		fields = append(fields, out)
	}
	for _, name := range opts.Partition {
		if places := in.FieldIndices(name); len(places) == 1 {
			f := in.Field(places[0])
			text, err := textvalue.NewEncoder(f.Type, textvalue.Options{})
			if err != nil {
				errs = append(errs, fmt.Errorf("partition key column %q: %w", name, err))
				continue
			}
			s.partition = append(s.partition, partitionColumn{places[0], name, text})
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	s.out = arrow.NewSchema(fields, nil)
	return s, nil
}

// Schema is the schema of shaped records. Fields keep the metadata that they came with.
func (s *Shape) Schema() *arrow.Schema { return s.out }

// Counts says how many values of each column of the shaped schema did not fit
// and were clamped or became null. Add them up over records.
type Counts []int64

// NewCounts gives counts of zero.
func (s *Shape) NewCounts() Counts { return make(Counts, len(s.columns)) }

// Apply shapes a record. The caller releases the result; the record itself may
// be released before it. Unfit values are added to counts.
func (s *Shape) Apply(mem memory.Allocator, rec arrow.Record, counts Counts) (arrow.Record, error) {
	if int(rec.NumCols()) != s.in.NumFields() {
		return nil, fmt.Errorf("a record of %d columns, not %d: %w", rec.NumCols(), s.in.NumFields(), ErrColumn)
	}
	columns := make([]arrow.Array, 0, len(s.columns))
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	for i, c := range s.columns {
		col := rec.Column(c.from)
		if f := s.in.Field(c.from); !arrow.TypeEqual(col.DataType(), f.Type) {
			return nil, fmt.Errorf("column %q is %s in a record, not %s: %w", f.Name, col.DataType(), f.Type, ErrColumn)
		}
		if c.conv == nil {
			col.Retain()
			columns = append(columns, col)
			continue
		}
		shaped, unfit, err := c.conv.convert(mem, col)
		counts[i] += unfit
		if err != nil {
			return nil, s.explain(err, i, rec)
		}
		columns = append(columns, shaped)
	}
	return array.NewRecord(s.out, columns, rec.NumRows()), nil
}

// explain turns an unfit value's place in a column into words.
func (s *Shape) explain(err error, column int, rec arrow.Record) error {
	var u *unfitAt
	if !errors.As(err, &u) {
		return fmt.Errorf("column %q: %w", s.out.Field(column).Name, err)
	}
	var partition []string
	for _, p := range s.partition {
		text := "null"
		if col := rec.Column(p.from); col.IsValid(u.index) {
			text = string(p.text.AppendPlain(nil, col, u.index))
		}
		partition = append(partition, p.name+"="+text)
	}
	return &UnfitError{
		Column: s.out.Field(column).Name, Value: u.value, Written: u.written,
		Partition: strings.Join(partition, ", "),
	}
}
