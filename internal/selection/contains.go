package selection

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// contains looks for a value among the elements of a collection. It is never unknown: unless a collection is frozen, the server does not
// tell an empty one from NULL, so neither holds anything.
type contains struct {
	in    location
	key   bool // look among the keys of a map
	equal test
	form  form // of the elements
}

func (p contains) eval(e *evaluation, out []truth) {
	a, rows := e.locate(p.in)
	of, elements := p.elements(a)
	found := e.match(p.equal, p.form, of, elements, rows)
	defer e.giveBack(found.truths)
	for i := range out {
		row := int32(i)
		if rows != nil {
			row = rows[i]
		}
		out[i] = truthOf(found.first(of, row) >= 0)
	}
}

func (p contains) elements(a arrow.Array) (collection, arrow.Array) {
	m, ok := a.(*array.Map)
	if !ok {
		list := a.(*array.List)
		return list, list.ListValues()
	}
	if p.key {
		return m, mapField(m, 0)
	}
	return m, mapField(m, 1)
}
