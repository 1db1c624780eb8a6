package vector

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
)

// Machine runs a Program over records. It belongs to one goroutine.
type Machine struct {
	program *Program
	schema  *arrow.Schema // of the last record
	index   []int         // of each column of the program in a record of schema
	record  arrow.Record
	vectors []Vector
	inputs  [][]*Vector // of each expression
	gather  []int32     // rows reached by steps, -1 for NULL
}

// NewMachine returns a Machine for the program, which must not change any more.
func (p *Program) NewMachine() *Machine {
	m := &Machine{
		program: p,
		index:   make([]int, len(p.columns)),
		vectors: make([]Vector, len(p.expressions)),
		inputs:  make([][]*Vector, len(p.expressions)),
	}
	for i, e := range p.expressions {
		for _, s := range e.in {
			m.inputs[i] = append(m.inputs[i], &m.vectors[s])
		}
	}
	return m
}

// Bind makes rec the record that Run reads. It errs if rec lacks a column of the program.
func (m *Machine) Bind(rec arrow.Record) error {
	if m.schema != rec.Schema() {
		for i, name := range m.program.columns {
			at := rec.Schema().FieldIndices(name)
			if len(at) != 1 {
				return fmt.Errorf("read column %q: the record has %d of that name", name, len(at))
			}
			m.index[i] = at[0]
		}
		m.schema = rec.Schema()
	}
	m.record = rec
	return nil
}

// Run evaluates rows from lo up to hi of the bound record, at least one and at most BlockRows.
func (m *Machine) Run(lo, hi int) error { return m.run(0, len(m.vectors), lo, hi) }

// RunTo evaluates of the program only what comes up to a slot.
func (m *Machine) RunTo(s Slot, lo, hi int) error { return m.run(0, int(s)+1, lo, hi) }

// RunBehind evaluates what comes behind a slot, which may have no leaf, over vectors that the caller has put into the slots up to there.
func (m *Machine) RunBehind(s Slot) error { return m.run(int(s)+1, len(m.vectors), 0, 0) }

func (m *Machine) run(first, end, lo, hi int) error {
	for i := first; i < end; i++ {
		e := &m.program.expressions[i]
		var err error
		if e.leaf != nil {
			err = m.load(&m.vectors[i], e, lo, hi)
		} else {
			err = e.eval(&m.vectors[i], m.inputs[i])
		}
		if err != nil {
			return fmt.Errorf("evaluate %s: %w", e.text, err)
		}
	}
	return nil
}

// Vector returns the values of a slot for the rows of the last Run.
func (m *Machine) Vector(s Slot) *Vector { return &m.vectors[s] }

// Kind returns the kind of the values in a slot.
func (m *Machine) Kind(s Slot) Kind { return m.program.Kind(s) }

// load fills v with a leaf.
func (m *Machine) load(v *Vector, e *expression, lo, hi int) error {
	column := m.record.Column(m.index[e.leaf.column])
	if len(e.leaf.steps) == 0 {
		return loadRange(v, e.kind, column, lo, hi)
	}
	m.gather = sized(m.gather, hi-lo)
	for i := range m.gather {
		m.gather[i] = int32(lo + i)
	}
	for _, s := range e.leaf.steps {
		var err error
		if column, err = s.apply(column, m.gather); err != nil {
			return err
		}
	}
	return loadRows(v, e.kind, column, m.gather)
}
