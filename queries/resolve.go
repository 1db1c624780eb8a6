package queries

import (
	"fmt"
	"slices"
	"strconv"

	"manifest/internal/cqltype"
	"manifest/queries/internal/expr"
	"manifest/queries/internal/vector"
)

// resolver adds expressions over a table to a program.
type resolver struct {
	table   Table
	program *vector.Program
	used    map[string]string      // type of every column that was named, for the text of the query
	whole   map[string]vector.Slot // of the columns that were named as they are
}

func newResolver(t Table) *resolver {
	return &resolver{table: t, program: new(vector.Program), used: map[string]string{}, whole: map[string]vector.Slot{}}
}

var kinds = map[cqltype.Kind]vector.Kind{
	cqltype.Ascii: vector.Text, cqltype.Bigint: vector.Int64, cqltype.Blob: vector.Blob, cqltype.Boolean: vector.Boolean,
	cqltype.Counter: vector.Int64, cqltype.Date: vector.Date, cqltype.Decimal: vector.Decimal, cqltype.Double: vector.Float64,
	cqltype.Float: vector.Float32, cqltype.Inet: vector.Inet, cqltype.Int: vector.Int32, cqltype.Smallint: vector.Int16,
	cqltype.Text: vector.Text, cqltype.Time: vector.Time, cqltype.Timestamp: vector.Timestamp, cqltype.Timeuuid: vector.TimeUUID,
	cqltype.Tinyint: vector.Int8, cqltype.UUID: vector.UUID, cqltype.Varint: vector.Varint,
}

// slot adds an expression and returns where its values will be.
func (r *resolver) slot(e expr.Expr) (vector.Slot, error) {
	column, err := r.table.column(e.Path.Column)
	if err != nil {
		return 0, err
	}
	r.used[column.Name] = column.Type.String()
	switch e.Func {
	case expr.WriteTime, expr.TTL:
		return r.cellOf(column, e)
	}
	steps, typ, err := r.walk(e.Path, column.Type)
	if err != nil {
		return 0, err
	}
	kind, ok := kinds[typ.Kind]
	if !ok {
		return 0, fmt.Errorf("%s of type %s is not one value that can be compared: %w", e.Path, typ, ErrType)
	}
	slot := r.program.Leaf(column.Name, steps, kind)
	if e.Func == expr.None {
		if len(steps) == 0 {
			r.whole[column.Name] = slot
		}
		return slot, nil
	}
	if slot, ok = r.program.Period(slot, vector.Unit(e.Func)); !ok {
		return 0, fmt.Errorf("%s of type %s: %w", e, typ, ErrType)
	}
	return slot, nil
}

// cellOf adds the write time or the time to live of a column, which a source gives as a column of its own.
func (r *resolver) cellOf(c Column, e expr.Expr) (vector.Slot, error) {
	collection := slices.Contains([]cqltype.Kind{cqltype.List, cqltype.Set, cqltype.Map, cqltype.UDT}, c.Type.Kind) && !c.Type.Frozen
	if c.Kind == PartitionKey || c.Kind == Clustering || collection || c.Type.Kind == cqltype.Counter {
		return 0, fmt.Errorf("%s: a %s column of type %s has none: %w", e, c.Kind, c.Type, ErrType)
	}
	kind := vector.Int64
	if e.Func == expr.TTL {
		kind = vector.Int32
	}
	return r.program.Leaf(string(e.Func)+"("+c.Name+")", nil, kind), nil
}

// walk turns the steps of a path into those of a leaf, and returns the type of what they lead to.
func (r *resolver) walk(p expr.Path, typ *cqltype.Type) ([]vector.Step, *cqltype.Type, error) {
	var steps []vector.Step
	for i, s := range p.Steps {
		var step vector.Step
		var err error
		before := expr.Path{Column: p.Column, Steps: p.Steps[:i]}
		if s.Field != "" {
			step, typ, err = r.field(before, s.Field, typ)
		} else {
			step, typ, err = mapEntry(before, s, typ)
		}
		if err != nil {
			return nil, nil, err
		}
		steps = append(steps, step)
	}
	return steps, typ, nil
}

// field is the step to a field of a UDT or tuple at a path.
func (r *resolver) field(at expr.Path, name string, typ *cqltype.Type) (vector.Step, *cqltype.Type, error) {
	i := -1
	switch typ.Kind {
	case cqltype.UDT:
		i = slices.Index(typ.Fields, name)
	case cqltype.Tuple:
		if n, err := strconv.Atoi(name); err == nil && n < len(typ.Elems) {
			i = n
		}
	default:
		return vector.Step{}, nil, fmt.Errorf("%s of type %s has no fields: %w", at, typ, ErrType)
	}
	if i < 0 {
		return vector.Step{}, nil, &ColumnError{Table: r.table.String(), Column: at.String(), Field: name}
	}
	return vector.Step{Field: i}, typ.Elems[i], nil
}

// mapEntry is the step to the value of a key of a map at a path.
func mapEntry(at expr.Path, s expr.Step, typ *cqltype.Type) (vector.Step, *cqltype.Type, error) {
	if typ.Kind != cqltype.Map {
		return vector.Step{}, nil, fmt.Errorf("%s of type %s has no keys: %w", at, typ, ErrType)
	}
	key, value := typ.Elems[0], typ.Elems[1]
	integer := slices.Contains([]cqltype.Kind{cqltype.Tinyint, cqltype.Smallint, cqltype.Int, cqltype.Bigint}, key.Kind)
	text := key.Kind == cqltype.Text || key.Kind == cqltype.Ascii
	if s.Integer != integer || !s.Integer && !text {
		return vector.Step{}, nil, fmt.Errorf("key %q of %s of type %s: %w", s.Key, at, typ, ErrType)
	}
	step := vector.Step{Map: true, Key: s.Key}
	if integer {
		n, err := strconv.ParseInt(s.Key, 10, 64)
		if err != nil {
			return vector.Step{}, nil, fmt.Errorf("key of %s: %w", at, err)
		}
		step = vector.Step{Map: true, IntKey: n}
	}
	return step, value, nil
}
