package selection

import "strings"

// whereParser reads the grammar in the package comment by recursive descent.
type whereParser struct{ cursor }

// parseWhere reads a condition of at most limit bytes. Empty text is no condition, nil. The error is an *Error.
func parseWhere(text string, limit int) (node, error) {
	c, err := newCursor(text, limit)
	if err != nil {
		return nil, err
	}
	p := &whereParser{c}
	if p.next() == 0 && p.offset() == len(text) {
		return nil, nil
	}
	n, err := p.or()
	if err != nil {
		return nil, err
	}
	if p.offset() < len(text) {
		return nil, p.fail("AND, OR or the end")
	}
	return n, nil
}

func (p *whereParser) or() (node, error) { return p.chain("OR", true, p.and) }

func (p *whereParser) and() (node, error) { return p.chain("AND", false, p.not) }

// chain reads one or more conditions with a word between them. A chain inside parentheses of the same kind becomes part of it.
func (p *whereParser) chain(word string, or bool, arg func() (node, error)) (node, error) {
	var args []node
	for {
		n, err := arg()
		if err != nil {
			return nil, err
		}
		if j, ok := n.(*junction); ok && j.or == or {
			args = append(args, j.args...)
		} else {
			args = append(args, n)
		}
		if !p.keyword(word) {
			break
		}
	}
	if len(args) == 1 {
		return args[0], nil
	}
	return &junction{or: or, args: args}, nil
}

func (p *whereParser) not() (node, error) {
	if !p.keyword("NOT") {
		return p.predicate()
	}
	n, err := nested(&p.cursor, p.not)
	if err != nil {
		return nil, err
	}
	return &negation{n}, nil
}

func (p *whereParser) predicate() (node, error) {
	if p.take("(") {
		n, err := nested(&p.cursor, p.or)
		if err != nil {
			return nil, err
		}
		if !p.take(")") {
			return nil, p.fail(`AND, OR or ")"`)
		}
		return n, nil
	}
	left, err := p.term()
	if err != nil {
		return nil, err
	}
	if op := p.operator(); op != "" {
		return p.comparison(left, op)
	}
	x, ok := left.(path)
	if !ok {
		return nil, p.fail("a comparison such as = or <")
	}
	return p.test(x)
}

// operators with the longer ones before those that they start with.
var operators = []operator{"<=", "<>", "<", ">=", ">", "!=", "="}

// operator consumes a comparison; "" if none comes next.
func (p *whereParser) operator() operator {
	for _, op := range operators {
		if p.take(string(op)) {
			if op == "<>" {
				return "!="
			}
			return op
		}
	}
	return ""
}

func (p *whereParser) comparison(left term, op operator) (node, error) {
	right, err := p.term()
	if err != nil {
		return nil, err
	}
	if x, ok := left.(path); ok {
		return &comparison{op: op, left: x, right: right}, nil
	}
	if x, ok := right.(path); ok {
		return &comparison{op: op.flipped(), left: x, right: left}, nil
	}
	return nil, p.failAt(left.(literal).offset, "two constants are compared")
}

// test reads what follows a path that is not compared.
func (p *whereParser) test(x path) (node, error) {
	if p.keyword("IS") {
		not := p.keyword("NOT")
		if !p.keyword("NULL") {
			return nil, p.fail("NULL")
		}
		return negateIf(not, &nullness{x}), nil
	}
	not := p.keyword("NOT")
	var n node
	var err error
	switch {
	case p.keyword("IN"):
		n, err = p.membership(x)
	case p.keyword("BETWEEN"):
		n, err = p.between(x)
	case p.keyword("GLOB"):
		var pattern literal
		pattern, err = p.literal()
		n = &likeness{x, pattern}
	case p.keyword("CONTAINS"):
		key := p.keyword("KEY")
		var value literal
		value, err = p.literal()
		n = &containment{x, key, value}
	case not:
		return nil, p.fail("IN, BETWEEN, GLOB or CONTAINS")
	default:
		return p.flag(x)
	}
	if err != nil {
		return nil, err
	}
	return negateIf(not, n), nil
}

func negateIf(not bool, n node) node {
	if not {
		return &negation{n}
	}
	return n
}

// flag takes a path that ends a condition for a boolean one.
func (p *whereParser) flag(x path) (node, error) {
	word := p.word()
	if p.next() == ')' || p.pos == len(p.text) || strings.EqualFold(word, "AND") || strings.EqualFold(word, "OR") {
		return &flag{x}, nil
	}
	if strings.EqualFold(word, "LIKE") {
		return nil, p.failAt(p.pos, "there is no LIKE: GLOB takes patterns such as 'cam-*'")
	}
	return nil, p.fail("an operator such as =, IN or IS NULL")
}

func (p *whereParser) membership(x path) (node, error) {
	n := &membership{path: x}
	if !p.take("(") {
		return nil, p.fail(`"("`)
	}
	if p.take(")") {
		return n, nil
	}
	for {
		l, err := p.literal()
		if err != nil {
			return nil, err
		}
		n.list = append(n.list, l)
		if p.take(")") {
			return n, nil
		}
		if !p.take(",") {
			return nil, p.fail(`"," or ")"`)
		}
	}
}

// between reads the bounds, both of which are inside.
func (p *whereParser) between(x path) (node, error) {
	low, err := p.term()
	if err != nil {
		return nil, err
	}
	if !p.keyword("AND") {
		return nil, p.fail("AND")
	}
	high, err := p.term()
	if err != nil {
		return nil, err
	}
	return &junction{args: []node{&comparison{">=", x, low}, &comparison{"<=", x, high}}}, nil
}
