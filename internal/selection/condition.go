package selection

// Condition says which rows are wanted. It is parsed, and not yet checked against columns. The zero Condition wants all rows. A Condition
// does not change and may be shared.
type Condition struct {
	parts []part // all of which have to hold
}

// part is a condition of one text, into which the offsets of its errors point.
type part struct {
	text string
	root node
}

// ParseWhere reads a condition in the language of the package comment. Empty text wants all rows. The error is an *[Error].
func ParseWhere(text string) (Condition, error) { return parsePart(text, maxText) }

func parsePart(text string, limit int) (Condition, error) {
	root, err := parseWhere(text, limit)
	if err != nil || root == nil {
		return Condition{}, err
	}
	return Condition{[]part{{text, root}}}, nil
}

// All joins conditions by AND.
func All(conditions ...Condition) Condition {
	var all Condition
	for _, c := range conditions {
		all.parts = append(all.parts, c.parts...)
	}
	return all
}

// Conjuncts takes a condition apart where it is joined by AND: it wants the rows that all of its conjuncts want.
func (c Condition) Conjuncts() []Condition {
	var all []Condition
	var add func(root node)
	add = func(root node) {
		if j, ok := root.(*junction); ok && !j.or {
			for _, arg := range j.args {
				add(arg)
			}
			return
		}
		all = append(all, Condition{[]part{{textOf(root), root}}})
	}
	for _, p := range c.parts {
		add(p.root)
	}
	return all
}

// In wants the rows whose operand, which is text, fits one of values as [ParsePattern] reads them. An operand is written as in a
// condition: device_id, or attributes['region']; [Quote] writes the name of a column. Without any value no row is wanted.
//
// The error is an *[Error] in operand, or in the text of the condition where a value is not UTF-8.
func In(operand string, values []string) (Condition, error) {
	x, err := parseOperand(operand)
	if err != nil {
		return Condition{}, err
	}
	exact := &membership{path: x}
	either := &junction{or: true}
	for _, v := range values {
		p := ParsePattern(v)
		l := literal{kind: textLiteral, text: p.Text}
		if p.Glob {
			either.args = append(either.args, &likeness{x, l})
		} else {
			exact.list = append(exact.list, l)
		}
	}
	if len(exact.list) > 0 || len(either.args) == 0 {
		either.args = append([]node{exact}, either.args...)
	}
	return written(either)
}

// written parses the text of a condition that was put together, so that its errors point into something.
func written(j *junction) (Condition, error) {
	text := textOf(j)
	return parsePart(text, len(text))
}

// parseOperand reads a path that stands alone.
func parseOperand(text string) (path, error) {
	c, err := newCursor(text, maxText)
	if err != nil {
		return path{}, err
	}
	p := &whereParser{c}
	x, err := p.path()
	if err == nil && p.offset() < len(text) {
		err = p.fail("the end")
	}
	return x, err
}

// String returns the canonical text, which ParseWhere reads as the same condition unless it is longer than what that takes. Two
// conditions of the same text want the same rows.
func (c Condition) String() string {
	roots := make([]node, len(c.parts))
	for i, p := range c.parts {
		roots[i] = p.root
	}
	switch len(roots) {
	case 0:
		return ""
	case 1:
		return textOf(roots[0])
	}
	return textOf(&junction{args: roots})
}
