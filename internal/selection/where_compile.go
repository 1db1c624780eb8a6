package selection

import (
	"fmt"

	"manifest/internal/cqltype"
)

// compile checks a condition against the columns.
func (c *compiler) compile(n node) (predicate, error) {
	switch n := n.(type) {
	case *junction:
		args := make([]predicate, len(n.args))
		for i, arg := range n.args {
			var err error
			if args[i], err = c.compile(arg); err != nil {
				return nil, err
			}
		}
		if n.or {
			return disjunction(args), nil
		}
		return conjunction(args), nil
	case *negation:
		arg, err := c.compile(n.arg)
		if err != nil {
			return nil, err
		}
		return complement{arg}, nil
	case *comparison:
		return c.comparison(n)
	case *membership:
		return c.membership(n)
	case *nullness:
		o, err := c.resolve(n.path)
		if err != nil {
			return nil, err
		}
		return isNull{c.program.slot(o, textOf(n.path))}, nil
	case *likeness:
		return c.likeness(n)
	case *containment:
		return c.containment(n)
	case *flag:
		return c.flag(n)
	}
	panic(fmt.Sprintf("no such condition: %T", n))
}

// value resolves a path to values that can be compared.
func (c *compiler) value(p path) (operand, family, error) {
	o, err := c.resolve(p)
	if err != nil {
		return o, 0, err
	}
	f := familyOf(o.typ)
	if f == 0 {
		return o, 0, c.failAt(p.offset, "%s is %s, which is not compared", p, o.typ)
	}
	return o, f, nil
}

func (c *compiler) comparison(n *comparison) (predicate, error) {
	left, f, err := c.value(n.left)
	if err != nil {
		return nil, err
	}
	right, ok := n.right.(path)
	if !ok {
		l := n.right.(literal)
		value, err := c.constant(n.left, left.typ, l)
		if err != nil {
			return nil, err
		}
		return c.tested(n.left, left, compareTest(f, outcomesOf[n.op], value)), nil
	}
	other, g, err := c.value(right)
	if err != nil {
		return nil, err
	}
	if f != g {
		return nil, c.failAt(right.offset, "%s is %s, %s is %s", n.left, left.typ, right, other.typ)
	}
	return pair{c.program.slot(left, textOf(n.left)), c.program.slot(other, textOf(right)), f, outcomesOf[n.op]}, nil
}

// constant turns a literal into a value that compares with a path of type t.
func (c *compiler) constant(p path, t *cqltype.Type, l literal) (constant, error) {
	v, err := constantOf(t, l)
	if err != nil {
		return v, c.failAt(l.offset, "%s is %s, %v", p, t, err)
	}
	return v, nil
}

// tested is a predicate of one operand.
func (c *compiler) tested(p path, o operand, t test) predicate {
	return tested{c.program.slot(o, textOf(p)), t}
}

func (c *compiler) membership(n *membership) (predicate, error) {
	o, f, err := c.value(n.path)
	if err != nil {
		return nil, err
	}
	values := make([]constant, len(n.list))
	for i, l := range n.list {
		if values[i], err = c.constant(n.path, o.typ, l); err != nil {
			return nil, err
		}
	}
	return c.tested(n.path, o, inTest(f, values)), nil
}

func (c *compiler) likeness(n *likeness) (predicate, error) {
	o, f, err := c.value(n.path)
	switch {
	case err != nil:
		return nil, err
	case f != texts:
		return nil, c.failAt(n.path.offset, "%s is %s, a pattern is for text", n.path, o.typ)
	case n.pattern.kind != textLiteral:
		return nil, c.failAt(n.pattern.offset, "a pattern is text, %v", mismatch(n.pattern, string(n.pattern.kind)))
	}
	return c.tested(n.path, o, globTest{newGlob(n.pattern.text)}), nil
}

func (c *compiler) containment(n *containment) (predicate, error) {
	o, err := c.resolve(n.path)
	if err != nil {
		return nil, err
	}
	element := -1
	switch o.typ.Kind {
	case cqltype.Map:
		element = 1
		if n.key {
			element = 0
		}
	case cqltype.List, cqltype.Set:
		if !n.key {
			element = 0
		}
	}
	if element < 0 {
		what := "elements to search"
		if n.key {
			what = "keys"
		}
		return nil, c.failAt(n.path.offset, "%s is %s, which has no %s", n.path, o.typ, what)
	}
	typ := o.typ.Elems[element]
	f := familyOf(typ)
	if f == 0 {
		return nil, c.failAt(n.path.offset, "%s is %s, whose elements are not compared", n.path, o.typ)
	}
	v, err := constantOf(typ, n.value)
	if err != nil {
		return nil, c.failAt(n.value.offset, "%s is %s, %v", n.path, o.typ, err)
	}
	return contains{c.program.place(o), n.key, equalTest(f, v), f.form()}, nil
}

func (c *compiler) flag(n *flag) (predicate, error) {
	o, err := c.resolve(n.path)
	if err != nil {
		return nil, err
	}
	if o.typ.Kind != cqltype.Boolean {
		return nil, c.failAt(n.path.offset, "%s is %s, which is no condition", n.path, o.typ)
	}
	return c.tested(n.path, o, equalTest(booleans, constant{number: bound{at: 1}})), nil
}
