package expr

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// parser reads text from left to right; pos never goes back past a token that was taken.
type parser struct {
	text string
	pos  int
}

func newParser(text string) (*parser, error) {
	p := &parser{text: text}
	for i, r := range text {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
				return nil, p.failAt(i, "not UTF-8")
			}
		}
	}
	return p, nil
}

func (p *parser) failAt(offset int, format string, args ...any) error {
	return &SyntaxError{Text: p.text, Offset: offset, Reason: fmt.Sprintf(format, args...)}
}

// fail says what was expected at the current position, and what is there.
func (p *parser) fail(expected string) error {
	p.skipSpace()
	if p.pos == len(p.text) {
		return p.failAt(p.pos, "expected %s, found the end", expected)
	}
	_, size := utf8.DecodeRuneInString(p.text[p.pos:])
	return p.failAt(p.pos, "expected %s, found %q", expected, p.text[p.pos:p.pos+size])
}

func (p *parser) skipSpace() {
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.pos]) >= 0 {
		p.pos++
	}
}

// take consumes c if it is the next byte that is not space.
func (p *parser) take(c byte) bool {
	p.skipSpace()
	if p.pos < len(p.text) && p.text[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

// list reads items between commas up to the end of the text.
func (p *parser) list(item func(offset int) error) error {
	p.skipSpace()
	if p.pos == len(p.text) {
		return nil
	}
	for {
		p.skipSpace()
		if err := item(p.pos); err != nil {
			return err
		}
		if p.take(',') {
			continue
		}
		if p.pos < len(p.text) {
			return p.fail(`"," or the end`)
		}
		return nil
	}
}

// word consumes a name without quotes, folded to lower case; empty if there is none.
func (p *parser) word() string {
	p.skipSpace()
	start := p.pos
	for p.pos < len(p.text) {
		c := p.text[p.pos]
		if !isLower(c) && !isUpper(c) && (p.pos == start || !isDigit(c) && c != '_') {
			break
		}
		p.pos++
	}
	return strings.ToLower(p.text[start:p.pos])
}

// quoted consumes a text between quote bytes, in which the quote itself is doubled; ok is false if there is none.
func (p *parser) quoted(quote byte) (text string, ok bool, err error) {
	start := p.pos
	if !p.take(quote) {
		return "", false, nil
	}
	var b strings.Builder
	for {
		i := strings.IndexByte(p.text[p.pos:], quote)
		if i < 0 {
			p.pos = start
			p.skipSpace()
			return "", false, p.failAt(p.pos, "the quote %c is not closed", quote)
		}
		b.WriteString(p.text[p.pos : p.pos+i])
		p.pos += i + 1
		if p.pos == len(p.text) || p.text[p.pos] != quote {
			return b.String(), true, nil
		}
		b.WriteByte(quote)
		p.pos++
	}
}

// name consumes a name with or without quotes.
func (p *parser) name(expected string) (string, error) {
	p.skipSpace()
	start := p.pos
	name, ok, err := p.quoted('"')
	if err != nil {
		return "", err
	}
	if ok && name == "" {
		return "", p.failAt(start, "the name is empty")
	}
	if !ok {
		name = p.word()
	}
	if name == "" {
		return "", p.fail(expected)
	}
	return name, nil
}

// as reads the optional name of a result.
func (p *parser) as(otherwise string) (string, error) {
	start := p.pos
	if p.word() != "as" {
		p.pos = start
		return otherwise, nil
	}
	return p.name("a name")
}

// call consumes a name and "(" if both are there, and returns the name and its offset.
func (p *parser) call() (string, int, bool) {
	p.skipSpace()
	start := p.pos
	name := p.word()
	if name != "" && p.take('(') {
		return name, start, true
	}
	p.pos = start
	return "", start, false
}
