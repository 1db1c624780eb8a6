package selection

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxText bounds an expression in bytes, to what the Linux kernel takes as one argument. Long lists have In.
	maxText = 128 << 10
	// maxDepth bounds the nesting of parentheses and NOT, and so the recursion over an expression.
	maxDepth = 100
)

// cursor reads an expression from left to right. Both languages, of conditions and of tags, build on it.
type cursor struct {
	text  string
	pos   int // never goes back past a token that was taken
	depth int
}

// newCursor refuses text that is not UTF-8, or longer than limit bytes.
func newCursor(text string, limit int) (cursor, error) {
	c := cursor{text: text}
	if len(text) > limit {
		return c, c.failAt(0, "the expression has %d bytes, more than %d", len(text), limit)
	}
	if i := invalidUTF8(text); i >= 0 {
		return c, c.failAt(i, "not UTF-8")
	}
	return c, nil
}

// invalidUTF8 returns the index of the first byte that is no part of a character, or -1.
func invalidUTF8(s string) int {
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				return i
			}
		}
	}
	return -1
}

func (c *cursor) failAt(offset int, format string, args ...any) error {
	return &Error{Text: c.text, Offset: offset, Reason: fmt.Sprintf(format, args...)}
}

// fail says what was expected at the current position, and what is there.
func (c *cursor) fail(expected string) error {
	c.space()
	if c.pos == len(c.text) {
		return c.failAt(c.pos, "expected %s, found the end", expected)
	}
	found := c.word()
	if found == "" {
		_, size := utf8.DecodeRuneInString(c.text[c.pos:])
		found = c.text[c.pos : c.pos+size]
	}
	return c.failAt(c.pos, "expected %s, found %q", expected, found)
}

// space skips white space.
func (c *cursor) space() {
	for c.pos < len(c.text) {
		r, size := utf8.DecodeRuneInString(c.text[c.pos:])
		if !unicode.IsSpace(r) {
			return
		}
		c.pos += size
	}
}

// offset skips white space and returns the position of the next token.
func (c *cursor) offset() int {
	c.space()
	return c.pos
}

// next returns the first byte of the next token, 0 at the end.
func (c *cursor) next() byte {
	c.space()
	if c.pos == len(c.text) {
		return 0
	}
	return c.text[c.pos]
}

// take consumes token if it comes next.
func (c *cursor) take(token string) bool {
	c.space()
	if !strings.HasPrefix(c.text[c.pos:], token) {
		return false
	}
	c.pos += len(token)
	return true
}

// word returns the letters, digits and underscores that come next, if a letter is the first, without consuming them.
func (c *cursor) word() string {
	c.space()
	end := c.pos
	for end < len(c.text) {
		b := c.text[end]
		if !isLetter(b) && (end == c.pos || !isDigit(b) && b != '_') {
			break
		}
		end++
	}
	return c.text[c.pos:end]
}

// keyword consumes a word, in whatever letter case, if it comes next.
func (c *cursor) keyword(word string) bool {
	if !strings.EqualFold(c.word(), word) {
		return false
	}
	c.pos += len(word)
	return true
}

// quoted consumes a text that starts and ends with the quote that comes next, in which the quote itself is doubled.
func (c *cursor) quoted() (string, error) {
	start := c.offset()
	quote := c.text[start]
	var b strings.Builder
	for at := start + 1; ; {
		i := strings.IndexByte(c.text[at:], quote)
		if i < 0 {
			return "", c.failAt(start, "the quote %c is not closed", quote)
		}
		b.WriteString(c.text[at : at+i])
		at += i + 1
		if at == len(c.text) || c.text[at] != quote {
			c.pos = at
			return b.String(), nil
		}
		b.WriteByte(quote)
		at++
	}
}

// nested runs parse one level deeper.
func nested[T any](c *cursor, parse func() (T, error)) (T, error) {
	if c.depth == maxDepth {
		var none T
		return none, c.failAt(c.offset(), "nested deeper than %d", maxDepth)
	}
	c.depth++
	defer func() { c.depth-- }()
	return parse()
}

func isLetter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' }
func isDigit(b byte) bool  { return b >= '0' && b <= '9' }
func isHex(b byte) bool    { return isDigit(b) || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F' }
