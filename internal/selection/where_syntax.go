package selection

import (
	"strconv"
	"strings"
)

// node is a condition as it was parsed. Offsets are those of its text.
type node interface {
	// write appends the canonical text, which parses to the same condition.
	write(b *strings.Builder)
}

// junction is a chain of ANDs, or of ORs, of at least two conditions.
type junction struct {
	or   bool
	args []node
}

// negation is NOT, in front of a condition or inside of one: x NOT IN (1).
type negation struct{ arg node }

// comparison has a path on its left; the parser turns 5 < width around.
type comparison struct {
	op    operator
	left  path
	right term
}

// membership is IN.
type membership struct {
	path path
	list []literal
}

// nullness is IS NULL.
type nullness struct{ path path }

// likeness is GLOB.
type likeness struct {
	path    path
	pattern literal
}

// containment is CONTAINS or CONTAINS KEY.
type containment struct {
	path  path
	key   bool
	value literal
}

// flag is a boolean column that stands alone.
type flag struct{ path path }

// term is a path or a literal.
type term interface{ write(b *strings.Builder) }

// path leads from a column to a value.
type path struct {
	offset int
	call   string // day, writetime, ttl, or ""
	column name
	steps  []pathStep
}

// name is a column or field as it was written.
type name struct {
	offset int
	text   string
	quoted bool // says that only a name in the same letter case is meant
}

// pathStep goes into a value: by the field of a user defined type, the position of a tuple, or a key of a map.
type pathStep struct {
	offset   int
	field    name
	position int     // where field is empty and key too
	key      literal // where it has a kind
}

// literal is a value as it was written.
type literal struct {
	offset int
	kind   literalKind
	text   string // of a text without its quotes, of a boolean in lower case
}

type literalKind string

// The kinds of literals, as an error calls them.
const (
	textLiteral    literalKind = "text"
	numberLiteral  literalKind = "a number"
	booleanLiteral literalKind = "a boolean"
	blobLiteral    literalKind = "a blob"
	uuidLiteral    literalKind = "a uuid"
)

// operator is one of the six comparisons.
type operator string

// flipped is the operator that holds for b and a where o holds for a and b.
func (o operator) flipped() operator {
	switch o {
	case "<":
		return ">"
	case "<=":
		return ">="
	case ">":
		return "<"
	case ">=":
		return "<="
	}
	return o
}

func (n *junction) write(b *strings.Builder) {
	for i, arg := range n.args {
		if i > 0 && n.or {
			b.WriteString(" OR ")
		} else if i > 0 {
			b.WriteString(" AND ")
		}
		if j, ok := arg.(*junction); ok && !n.or && j.or {
			writeParenthesized(b, arg)
		} else {
			arg.write(b)
		}
	}
}

func (n *negation) write(b *strings.Builder) {
	switch arg := n.arg.(type) {
	case *nullness:
		arg.path.write(b)
		b.WriteString(" IS NOT NULL")
	case *membership:
		arg.writeAs(b, " NOT IN ")
	case *likeness:
		arg.writeAs(b, " NOT GLOB ")
	case *containment:
		arg.writeAs(b, " NOT CONTAINS ")
	case *junction:
		b.WriteString("NOT ")
		writeParenthesized(b, arg)
	default:
		b.WriteString("NOT ")
		arg.write(b)
	}
}

func writeParenthesized(b *strings.Builder, n node) {
	b.WriteByte('(')
	n.write(b)
	b.WriteByte(')')
}

func (n *comparison) write(b *strings.Builder) {
	n.left.write(b)
	b.WriteString(" " + string(n.op) + " ")
	n.right.write(b)
}

func (n *membership) write(b *strings.Builder) { n.writeAs(b, " IN ") }

func (n *membership) writeAs(b *strings.Builder, operator string) {
	n.path.write(b)
	b.WriteString(operator + "(")
	for i, l := range n.list {
		if i > 0 {
			b.WriteString(", ")
		}
		l.write(b)
	}
	b.WriteByte(')')
}

func (n *nullness) write(b *strings.Builder) {
	n.path.write(b)
	b.WriteString(" IS NULL")
}

func (n *likeness) write(b *strings.Builder) { n.writeAs(b, " GLOB ") }

func (n *likeness) writeAs(b *strings.Builder, operator string) {
	n.path.write(b)
	b.WriteString(operator)
	n.pattern.write(b)
}

func (n *containment) write(b *strings.Builder) { n.writeAs(b, " CONTAINS ") }

func (n *containment) writeAs(b *strings.Builder, operator string) {
	n.path.write(b)
	b.WriteString(operator)
	if n.key {
		b.WriteString("KEY ")
	}
	n.value.write(b)
}

func (n *flag) write(b *strings.Builder) { n.path.write(b) }

func (p path) write(b *strings.Builder) {
	if p.call != "" {
		b.WriteString(p.call + "(")
		defer b.WriteByte(')')
	}
	p.column.write(b)
	for _, s := range p.steps {
		switch {
		case s.key.kind != "":
			b.WriteByte('[')
			s.key.write(b)
			b.WriteByte(']')
		case s.field.text != "":
			b.WriteByte('.')
			s.field.write(b)
		default:
			b.WriteString("." + strconv.Itoa(s.position))
		}
	}
}

func (p path) String() string { return textOf(p) }

func (n name) write(b *strings.Builder) {
	if n.quoted {
		b.WriteString(quoteName(n.text))
	} else {
		b.WriteString(n.text)
	}
}

func (l literal) write(b *strings.Builder) {
	if l.kind == textLiteral {
		b.WriteString(quoteText(l.text))
	} else {
		b.WriteString(l.text)
	}
}

func (l literal) String() string { return textOf(l) }

func textOf(t interface{ write(*strings.Builder) }) string {
	var b strings.Builder
	t.write(&b)
	return b.String()
}

// Quote returns the name of a column as conditions name it exactly, in whatever letter case: in double quotes unless it needs none.
func Quote(name string) string {
	plain := name != "" && isLetter(name[0]) && !isReserved(name)
	for i := range len(name) {
		b := name[i]
		plain = plain && (isDigit(b) || b == '_' || b >= 'a' && b <= 'z')
	}
	if plain {
		return name
	}
	return quoteName(name)
}

func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func quoteText(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
