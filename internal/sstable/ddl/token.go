package ddl

import (
	"errors"
	"fmt"
	"strings"
)

// ErrSyntax means that a text is not CQL of the kind read here. The message has
// the line.
var ErrSyntax = errors.New("malformed schema")

// token is a word, a quoted name, a string, a number or a sign.
type token struct {
	kind       kind
	text       string // of a word in lower case; of a name and a string without quotes
	start, end int    // in the source
}

type kind uint8

const (
	end kind = iota
	word
	name   // in double quotes
	str    // in single quotes, or between $$
	number // and what else begins with a digit, such as a uuid
	sign
)

// lexer cuts CQL into tokens.
type lexer struct {
	in  string
	pos int
}

func (l *lexer) errorf(at int, format string, args ...any) error {
	line := 1 + strings.Count(l.in[:at], "\n")
	return fmt.Errorf("%w: line %d: %w", ErrSyntax, line, fmt.Errorf(format, args...))
}

// skip passes over blanks and comments.
func (l *lexer) skip() error {
	for l.pos < len(l.in) {
		rest := l.in[l.pos:]
		switch {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			l.pos++
		case strings.HasPrefix(rest, "--"), strings.HasPrefix(rest, "//"):
			n := strings.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			l.pos += n
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest, "*/")
			if n < 0 {
				return l.errorf(l.pos, "a comment without an end")
			}
			l.pos += n + 2
		default:
			return nil
		}
	}
	return nil
}

func (l *lexer) next() (token, error) {
	if err := l.skip(); err != nil {
		return token{}, err
	}
	t := token{start: l.pos, end: l.pos}
	if l.pos == len(l.in) {
		return t, nil
	}
	switch c := l.in[l.pos]; {
	case letter(c):
		t.kind = word
		t.text = strings.ToLower(l.run(func(c byte) bool { return letter(c) || digit(c) }))
	case digit(c):
		t.kind = number
		t.text = l.run(func(c byte) bool { return letter(c) || digit(c) || c == '-' || c == '.' })
	case c == '"' || c == '\'':
		t.kind = name
		if c == '\'' {
			t.kind = str
		}
		text, err := l.quoted(c)
		if err != nil {
			return t, err
		}
		t.text = text
	case strings.HasPrefix(l.in[l.pos:], "$$"):
		n := strings.Index(l.in[l.pos+2:], "$$")
		if n < 0 {
			return t, l.errorf(l.pos, "a string without an end")
		}
		t.kind, t.text = str, l.in[l.pos+2:l.pos+2+n]
		l.pos += n + 4
	default:
		t.kind, t.text = sign, l.in[l.pos:l.pos+1]
		l.pos++
	}
	t.end = l.pos
	return t, nil
}

func (l *lexer) run(more func(c byte) bool) string {
	start := l.pos
	for l.pos < len(l.in) && more(l.in[l.pos]) {
		l.pos++
	}
	return l.in[start:l.pos]
}

// quoted reads up to the closing quote; two of them stand for one.
func (l *lexer) quoted(q byte) (string, error) {
	start := l.pos
	var b strings.Builder
	for l.pos++; l.pos < len(l.in); l.pos++ {
		if l.in[l.pos] == q {
			l.pos++
			if l.pos == len(l.in) || l.in[l.pos] != q {
				return b.String(), nil
			}
		}
		b.WriteByte(l.in[l.pos])
	}
	return "", l.errorf(start, "no closing %c", q)
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }
