package vector

import (
	"fmt"
	"slices"
	"strings"
)

// Slot names the result of an expression of a Program.
type Slot int

// Step goes from a value into a part of it.
type Step struct {
	// Field is the index of a field of a struct. It counts where Map is not set.
	Field int
	// Map says that the step looks up a key of a map, Key or IntKey according to the type of its keys.
	Map    bool
	Key    string
	IntKey int64
}

// expression fills the vector of its own slot; in are the vectors of its inputs.
type expression struct {
	text string // canonical, for sharing and for errors
	kind Kind
	in   []Slot
	leaf *leaf // of an expression without inputs
	eval func(out *Vector, in []*Vector) error
}

type leaf struct {
	column int // in Program.columns
	steps  []Step
}

// Program is a list of expressions, inputs before those that use them. Build it in one goroutine, then make Machines of it.
type Program struct {
	columns     []string
	expressions []expression
}

// Columns returns the columns of a record that the program reads, in the order in which they were first named.
func (p *Program) Columns() []string { return slices.Clone(p.columns) }

// Kind returns the kind of the values in a slot.
func (p *Program) Kind(s Slot) Kind { return p.expressions[s].kind }

// add returns the slot of the expression, that of an equal one if there is one. Invariant: equal text means equal meaning.
func (p *Program) add(e expression) Slot {
	for i := range p.expressions {
		if p.expressions[i].text == e.text {
			return Slot(i)
		}
	}
	p.expressions = append(p.expressions, e)
	return Slot(len(p.expressions) - 1)
}

// derive adds an expression of others.
func (p *Program) derive(name string, kind Kind, eval func(*Vector, []*Vector) error, in ...Slot) Slot {
	names := make([]string, len(in))
	for i, s := range in {
		names[i] = p.expressions[s].text
	}
	return p.add(expression{text: name + "(" + strings.Join(names, ", ") + ")", kind: kind, in: in, eval: eval})
}

// Leaf adds the value of a column, or the part of it that steps lead to, of the given kind.
func (p *Program) Leaf(column string, steps []Step, kind Kind) Slot {
	i := slices.Index(p.columns, column)
	if i < 0 {
		i = len(p.columns)
		p.columns = append(p.columns, column)
	}
	text := fmt.Sprintf("%q", column)
	for _, s := range steps {
		text += fmt.Sprintf("%#v", s)
	}
	return p.add(expression{text: text, kind: kind, leaf: &leaf{column: i, steps: steps}})
}
