package cqltype

import (
	"fmt"
	"strconv"
	"strings"
)

// Parse reads the CQL text of a type, as in system_schema.columns.type. Keywords and unquoted names may be of any case.
//
// udt is asked for each name that is no built-in type, exact and without quotes; it returns the UDT with its fields. A nil udt knows no names.
// Errors are ErrSyntax, ErrUnsupportedType (a custom class in single quotes, "empty", too deep), or those of udt.
func Parse(s string, udt func(name string) (*Type, error)) (*Type, error) {
	p := parser{in: s, udt: udt}
	t, err := p.typ(2 * maxDepth) // each level may be wrapped in frozen<>
	if err == nil {
		if p.space(); p.pos < len(p.in) {
			err = p.errorf("unexpected %q", p.in[p.pos:])
		} else {
			err = t.check()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("parse CQL type %q: %w", abbreviate(s), err)
	}
	return t, nil
}

// abbreviate keeps hostile input out of messages and logs.
func abbreviate(s string) string {
	const limit = 200
	if len(s) > limit {
		return strings.ToValidUTF8(s[:limit], "") + "..."
	}
	return s
}

type parser struct {
	in  string
	pos int
	udt func(name string) (*Type, error)
}

func (p *parser) errorf(format string, args ...any) error {
	return fmt.Errorf("%w: %s at offset %d", ErrSyntax, abbreviate(fmt.Sprintf(format, args...)), p.pos)
}

func (p *parser) space() {
	for p.pos < len(p.in) && strings.IndexByte(" \t\r\n", p.in[p.pos]) >= 0 {
		p.pos++
	}
}

// accept skips space and consumes c if it comes next.
func (p *parser) accept(c byte) bool {
	p.space()
	if p.pos < len(p.in) && p.in[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

func (p *parser) expect(c byte) error {
	if p.accept(c) {
		return nil
	}
	if p.pos == len(p.in) {
		return p.errorf("end of text, want %q", c)
	}
	return p.errorf("%q, want %q", p.in[p.pos], c)
}

// typ reads one type. depth bounds the recursion.
func (p *parser) typ(depth int) (*Type, error) {
	if depth == 0 {
		return nil, fmt.Errorf("%w: nested deeper than %d", ErrUnsupportedType, maxDepth)
	}
	p.space()
	if p.pos < len(p.in) {
		switch p.in[p.pos] {
		case '\'':
			class, err := p.quoted('\'')
			if err != nil {
				return nil, err
			}
			return nil, fmt.Errorf("%w: custom class '%s'", ErrUnsupportedType, abbreviate(class))
		case '"':
			name, err := p.quoted('"')
			if err != nil {
				return nil, err
			}
			return p.resolve(name)
		}
	}
	word, err := p.word()
	if err != nil {
		return nil, err
	}
	if k := natives[word]; k != 0 {
		return &Type{Kind: k}, nil
	}
	switch word {
	case "empty":
		return nil, fmt.Errorf("%w: empty", ErrUnsupportedType)
	case "frozen":
		return p.frozen(depth)
	case "list":
		return p.composed(List, 1, depth)
	case "set":
		return p.composed(Set, 1, depth)
	case "map":
		return p.composed(Map, 2, depth)
	case "tuple":
		return p.composed(Tuple, 0, depth)
	case "vector":
		return p.composed(Vector, 1, depth)
	}
	return p.resolve(word)
}

// word reads an unquoted name or keyword and folds it to lower case, as CQL does.
func (p *parser) word() (string, error) {
	start := p.pos
	for p.pos < len(p.in) {
		c := p.in[p.pos]
		if !isLower(c|0x20) && (p.pos == start || !isDigit(c) && c != '_') {
			break
		}
		p.pos++
	}
	if p.pos == start {
		if p.pos == len(p.in) {
			return "", p.errorf("end of text, want a type")
		}
		return "", p.errorf("%q, want a type", p.in[p.pos])
	}
	return strings.ToLower(p.in[start:p.pos]), nil
}

// quoted reads a string between two q, in which a doubled q stands for one.
func (p *parser) quoted(q byte) (string, error) {
	p.pos++
	var b strings.Builder
	for {
		i := strings.IndexByte(p.in[p.pos:], q)
		if i < 0 {
			return "", p.errorf("no closing %c", q)
		}
		b.WriteString(p.in[p.pos : p.pos+i])
		p.pos += i + 1
		if p.pos == len(p.in) || p.in[p.pos] != q {
			return b.String(), nil
		}
		b.WriteByte(q)
		p.pos++
	}
}

func (p *parser) frozen(depth int) (*Type, error) {
	if err := p.expect('<'); err != nil {
		return nil, err
	}
	t, err := p.typ(depth - 1)
	if err != nil {
		return nil, err
	}
	if t.Kind.native() {
		return nil, p.errorf("frozen<%s>: only composed types can be frozen", t)
	}
	return t.freeze(), p.expect('>')
}

// composed reads the arguments of a type of kind k: n types, or any number if n is 0, and the size of a vector.
func (p *parser) composed(k Kind, n, depth int) (*Type, error) {
	if err := p.expect('<'); err != nil {
		return nil, err
	}
	t := &Type{Kind: k, Frozen: k == Tuple || k == Vector}
	for {
		e, err := p.typ(depth - 1)
		if err != nil {
			return nil, err
		}
		t.Elems = append(t.Elems, e.freeze())
		if len(t.Elems) == n || n == 0 && !p.accept(',') {
			break
		}
		if n != 0 {
			if err := p.expect(','); err != nil {
				return nil, err
			}
		}
	}
	if k == Vector {
		if err := p.expect(','); err != nil {
			return nil, err
		}
		size, err := p.number()
		if err != nil {
			return nil, err
		}
		t.Size = size
	}
	return t, p.expect('>')
}

func (p *parser) number() (int, error) {
	p.space()
	start := p.pos
	for p.pos < len(p.in) && isDigit(p.in[p.pos]) {
		p.pos++
	}
	n, err := strconv.ParseInt(p.in[start:p.pos], 10, 32)
	if err != nil {
		return 0, p.errorf("%q is no vector size", p.in[start:p.pos])
	}
	return int(n), nil
}

// resolve asks for the UDT of a name.
func (p *parser) resolve(name string) (*Type, error) {
	if p.udt == nil {
		return nil, p.errorf("unknown type %q", name)
	}
	t, err := p.udt(name)
	if err != nil {
		return nil, fmt.Errorf("type %q: %w", name, err)
	}
	if t == nil || t.Kind != UDT {
		return nil, p.errorf("unknown type %q", name)
	}
	c := *t
	c.Frozen, c.Elems = false, freezeAll(t.Elems)
	return &c, nil
}
