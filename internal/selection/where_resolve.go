package selection

import (
	"fmt"
	"slices"
	"strings"

	"manifest/internal/cqltype"
)

// operand is a path that has been checked against the columns.
type operand struct {
	column Column // of the records
	steps  []step
	typ    *cqltype.Type // of what the steps lead to
	day    bool          // the value is the day of that timestamp
}

// step goes from a value into a part of it.
type step struct {
	field   int
	key     test // of a step by key: what the key has to pass
	keyForm form
}

// compiler turns conditions of one text into predicates.
type compiler struct {
	text    string
	columns []Column
	program *program
}

func (c *compiler) failAt(offset int, format string, args ...any) error {
	return &Error{Text: c.text, Offset: offset, Reason: fmt.Sprintf(format, args...)}
}

// lookUp finds a name: as it is written, else in lower case as CQL takes a name without quotes.
func (n name) lookUp(known []string) int {
	i := slices.Index(known, n.text)
	if i < 0 && !n.quoted {
		i = slices.Index(known, strings.ToLower(n.text))
	}
	return i
}

// resolve finds what a path leads to, and its type.
func (c *compiler) resolve(p path) (operand, error) {
	names := make([]string, len(c.columns))
	for i, column := range c.columns {
		names[i] = column.Name
	}
	at := p.column.lookUp(names)
	if at < 0 {
		reason := fmt.Sprintf("there is no column %q", p.column.text)
		return operand{}, &Error{Text: c.text, Offset: p.column.offset, Reason: reason, Unknown: p.column.text, Known: names}
	}
	column := c.columns[at]
	switch p.call {
	case "writetime":
		column = Column{"writetime(" + column.Name + ")", &cqltype.Type{Kind: cqltype.Bigint}}
	case "ttl":
		column = Column{"ttl(" + column.Name + ")", &cqltype.Type{Kind: cqltype.Int}}
	}
	o := operand{column: column, typ: column.Type}
	before := path{column: p.column}
	for _, s := range p.steps {
		if err := c.step(&o, before, s); err != nil {
			return operand{}, err
		}
		before.steps = append(before.steps, s)
	}
	if p.call != "day" {
		return o, nil
	}
	switch familyOf(o.typ) {
	case timestamps:
		o.day, o.typ = true, &cqltype.Type{Kind: cqltype.Date}
	case dates:
	default:
		return operand{}, c.failAt(p.offset, "%s is %s, which has no day", before, o.typ)
	}
	return o, nil
}

// step goes one step further; before is the path so far.
func (c *compiler) step(o *operand, before path, s pathStep) error {
	if s.key.kind != "" {
		return c.stepByKey(o, before, s)
	}
	wanted := s.field.text
	i := s.position
	switch {
	case o.typ.Kind == cqltype.UDT && wanted != "":
		i = s.field.lookUp(o.typ.Fields)
	case o.typ.Kind == cqltype.Tuple && wanted == "":
		wanted = fmt.Sprint(i)
	case o.typ.Kind == cqltype.UDT:
		return c.failAt(s.offset, "the fields of %s have names, those of %s", before, o.typ)
	case o.typ.Kind == cqltype.Tuple:
		return c.failAt(s.offset, "the fields of %s, which is %s, are numbered from 0", before, o.typ)
	default:
		return c.failAt(s.offset, "%s is %s, which has no fields", before, o.typ)
	}
	if i < 0 || i >= len(o.typ.Elems) {
		reason := fmt.Sprintf("%s, which is %s, has no field %q", before, o.typ, wanted)
		return &Error{Text: c.text, Offset: s.offset, Reason: reason, Unknown: wanted, Known: o.typ.Fields}
	}
	o.steps = append(o.steps, step{field: i})
	o.typ = o.typ.Elems[i]
	return nil
}

func (c *compiler) stepByKey(o *operand, before path, s pathStep) error {
	if o.typ.Kind != cqltype.Map {
		return c.failAt(s.offset, "%s is %s, which has no keys", before, o.typ)
	}
	key := o.typ.Elems[0]
	if familyOf(key) == 0 {
		return c.failAt(s.offset, "the keys of %s are %s, which is not compared", before, key)
	}
	k, err := constantOf(key, s.key)
	if err != nil {
		return c.failAt(s.offset, "the keys of %s are %s, %v", before, key, err)
	}
	o.steps = append(o.steps, step{key: equalTest(familyOf(key), k), keyForm: familyOf(key).form()})
	o.typ = o.typ.Elems[1]
	return nil
}
