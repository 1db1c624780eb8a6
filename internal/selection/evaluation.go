package selection

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"manifest/internal/cqltype"
)

// program says what the predicates of a Filter read.
type program struct {
	columns  []Column // of the records, in the order in which they were first named
	operands []loading
	texts    []string // of the operands
}

// location leads from a column to a value, or to a collection.
type location struct {
	column int // in program.columns
	steps  []step
}

// loading says how an operand becomes a vector.
type loading struct {
	from location
	form form
	day  bool
}

// slot is an operand of a program.
type slot int

// place adds what an operand reads.
func (p *program) place(o operand) location {
	for i, c := range p.columns {
		if c.Name == o.column.Name {
			return location{i, o.steps}
		}
	}
	p.columns = append(p.columns, o.column)
	return location{len(p.columns) - 1, o.steps}
}

// slot adds an operand, once for the same text.
func (p *program) slot(o operand, text string) slot {
	for i, t := range p.texts {
		if t == text {
			return slot(i)
		}
	}
	p.texts = append(p.texts, text)
	p.operands = append(p.operands, loading{p.place(o), familyOf(o.typ).form(), o.day})
	return slot(len(p.texts) - 1)
}

// evaluation runs predicates over one record at a time. It belongs to one goroutine at a time.
type evaluation struct {
	program *program
	schema  *arrow.Schema // of the last record
	index   []int         // of each column of the program in a record of schema
	record  arrow.Record
	vectors []vector // of each operand
	loaded  []bool   // which of them are those of the record

	elements vector    // of collections
	rows     []int32   // reached by steps, -1 for NULL
	free     [][]truth // memory that no predicate uses
}

func newEvaluation(p *program) *evaluation {
	return &evaluation{
		program: p,
		index:   make([]int, len(p.columns)),
		vectors: make([]vector, len(p.operands)),
		loaded:  make([]bool, len(p.operands)),
	}
}

// maxRows bounds a record so that 32-bit offsets reach the bytes of all of its uuids.
const maxRows = 1 << 26

// bind makes rec the record that predicates see. The error names a column that rec lacks, or that is of another type.
func (e *evaluation) bind(rec arrow.Record) error {
	if e.schema != rec.Schema() {
		e.schema = nil
		for i, c := range e.program.columns {
			at := rec.Schema().FieldIndices(c.Name)
			if len(at) != 1 {
				return fmt.Errorf("read column %q: the record has %d of that name", c.Name, len(at))
			}
			if err := checkType(c.Type, rec.Schema().Field(at[0]).Type); err != nil {
				return fmt.Errorf("read column %q: %w", c.Name, err)
			}
			e.index[i] = at[0]
		}
		e.schema = rec.Schema()
	}
	if rec.NumRows() > maxRows {
		return fmt.Errorf("the record has %d rows, more than %d", rec.NumRows(), maxRows)
	}
	e.record = rec
	clear(e.loaded)
	return nil
}

// checkType errs unless got is the Arrow type of a CQL type.
func checkType(t *cqltype.Type, got arrow.DataType) error {
	want, err := t.Arrow()
	if err != nil {
		return err
	}
	if !arrow.TypeEqual(got, want) {
		return fmt.Errorf("it is of Arrow type %s, that of %s is %s", got, t, want)
	}
	return nil
}

// unbind lets go of the record, of which vectors may be views.
func (e *evaluation) unbind() {
	e.record = nil
	e.elements.dropViews()
	for i := range e.vectors {
		e.vectors[i].dropViews()
	}
}

// vector returns the values of an operand, which it loads when it is first asked for.
func (e *evaluation) vector(s slot) *vector {
	v := &e.vectors[s]
	if e.loaded[s] {
		return v
	}
	l := e.program.operands[s]
	a, rows := e.locate(l.from)
	v.load(l.form, a, rows)
	if l.day {
		for i, millis := range v.ints { // The memory is the vector's own: a timestamp is never a view.
			v.ints[i] = floorDiv(millis, millisPerDay)
		}
	}
	e.loaded[s] = true
	return v
}

// locate follows steps. It returns an array and for each row of the record the index in it, -1 for NULL; nil where each row is at its own
// index. The list is valid until the next call.
func (e *evaluation) locate(l location) (arrow.Array, []int32) {
	a := e.record.Column(e.index[l.column])
	if len(l.steps) == 0 {
		return a, nil
	}
	e.rows = sized(e.rows, a.Len())
	for i := range e.rows {
		e.rows[i] = int32(i)
	}
	for _, s := range l.steps {
		if m, ok := a.(*array.Map); ok {
			a = e.entries(m, s.key, s.keyForm)
			continue
		}
		for i, row := range e.rows {
			if row >= 0 && a.IsNull(int(row)) {
				e.rows[i] = -1
			}
		}
		a = a.(*array.Struct).Field(s.field)
	}
	return a, e.rows
}

// truths returns memory for n truths.
func (e *evaluation) truths(n int) []truth {
	last := len(e.free) - 1
	if last < 0 {
		return make([]truth, n)
	}
	t := e.free[last]
	e.free = e.free[:last]
	return sized(t, n)
}

func (e *evaluation) giveBack(t []truth) { e.free = append(e.free, t) }
