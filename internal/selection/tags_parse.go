package selection

import (
	"strings"
	"unicode"
)

// ParseTags reads an expression such as (leaf_spot OR rust) AND NOT blurry; the package comment has the grammar. The error is an *[Error].
func ParseTags(text string) (*TagExpr, error) {
	c, err := newCursor(text, maxText)
	if err != nil {
		return nil, err
	}
	p := &tagParser{c}
	root, err := p.or()
	if err != nil {
		return nil, err
	}
	if p.offset() < len(text) {
		return nil, p.fail("AND, OR or the end")
	}
	return &TagExpr{root}, nil
}

type tagParser struct{ cursor }

func (p *tagParser) or() (tagNode, error) { return p.chain("OR", true, p.and) }

func (p *tagParser) and() (tagNode, error) { return p.chain("AND", false, p.not) }

// chain reads one or more expressions with a word between them. Terms of an OR become one set, at the place of the first.
func (p *tagParser) chain(word string, or bool, arg func() (tagNode, error)) (tagNode, error) {
	var args []tagNode
	var set *tagSet
	add := func(n tagNode) {
		terms, ok := n.(*tagSet)
		switch {
		case !or || !ok:
			args = append(args, n)
		case set == nil:
			set = newTagSet(terms.list...)
			args = append(args, set)
		default:
			for _, t := range terms.list {
				set.add(t)
			}
		}
	}
	for {
		n, err := arg()
		if err != nil {
			return nil, err
		}
		if j, ok := n.(*tagJunction); ok && j.or == or {
			for _, n := range j.args {
				add(n)
			}
		} else {
			add(n)
		}
		if !p.keyword(word) {
			break
		}
	}
	if len(args) == 1 {
		return args[0], nil
	}
	return &tagJunction{or: or, args: args}, nil
}

func (p *tagParser) not() (tagNode, error) {
	if p.keyword("NOT") {
		n, err := nested(&p.cursor, p.not)
		if err != nil {
			return nil, err
		}
		return &tagNot{n}, nil
	}
	if p.take("(") {
		n, err := nested(&p.cursor, p.or)
		if err == nil && !p.take(")") {
			err = p.fail(`AND, OR or ")"`)
		}
		return n, err
	}
	return p.term()
}

func (p *tagParser) term() (tagNode, error) {
	if quote := p.next(); quote == '\'' || quote == '"' {
		tag, err := p.quoted()
		if err != nil {
			return nil, err
		}
		return newTagSet(ParsePattern(tag)), nil
	}
	tag := bareTag(p.text[p.pos:])
	if tag == "" || isTagOperator(tag) {
		return nil, p.fail("a tag")
	}
	p.pos += len(tag)
	return newTagSet(ParsePattern(tag)), nil
}

// bareTag returns the start of s that is a tag without quotes.
func bareTag(s string) string {
	end := strings.IndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`()'",`, r) })
	if end < 0 {
		return s
	}
	return s[:end]
}

func isTagOperator(word string) bool {
	return strings.EqualFold(word, "AND") || strings.EqualFold(word, "OR") || strings.EqualFold(word, "NOT")
}

func (s *tagSet) write(b *strings.Builder) {
	if len(s.list) == 0 {
		b.WriteString("* AND NOT *") // Only AnyTag makes a set of none, which stands alone.
	}
	for i, t := range s.list {
		if i > 0 {
			b.WriteString(" OR ")
		}
		t.write(b)
	}
}

func (t *Pattern) write(b *strings.Builder) {
	text := t.Text
	if !t.Glob {
		text = EscapeGlob(text)
	}
	if text == "" || bareTag(text) != text || isTagOperator(text) {
		text = quoteText(text)
	}
	b.WriteString(text)
}

func (n *tagNot) write(b *strings.Builder) {
	b.WriteString("NOT ")
	if isTagChain(n.arg) {
		writeTagGroup(b, n.arg)
	} else {
		n.arg.write(b)
	}
}

func (n *tagJunction) write(b *strings.Builder) {
	for i, arg := range n.args {
		if i > 0 && n.or {
			b.WriteString(" OR ")
		} else if i > 0 {
			b.WriteString(" AND ")
		}
		if !n.or && isTagChain(arg) {
			writeTagGroup(b, arg)
		} else {
			arg.write(b)
		}
	}
}

// isTagChain reports whether a node needs parentheses behind NOT and AND.
func isTagChain(n tagNode) bool {
	switch n := n.(type) {
	case *tagJunction:
		return true
	case *tagSet:
		return len(n.list) > 1
	}
	return false
}

func writeTagGroup(b *strings.Builder, n tagNode) {
	b.WriteByte('(')
	n.write(b)
	b.WriteByte(')')
}
