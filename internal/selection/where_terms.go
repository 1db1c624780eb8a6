package selection

import (
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// reserved words name a column only in quotes.
var reserved = []string{"and", "or", "not", "in", "is", "null", "true", "false", "nan", "infinity"}

func isReserved(word string) bool { return slices.Contains(reserved, strings.ToLower(word)) }

// calls are the functions of a path. A source gives writetime and ttl as columns of their own.
var calls = []string{"day", "writetime", "ttl"}

// term reads a path or a literal.
func (p *whereParser) term() (term, error) {
	if l, ok, err := p.maybeLiteral(); ok || err != nil {
		return l, err
	}
	return p.path()
}

// literal reads a value.
func (p *whereParser) literal() (literal, error) {
	l, ok, err := p.maybeLiteral()
	if err == nil && !ok {
		err = p.fail("a value")
	}
	return l, err
}

// maybeLiteral reads a value if one comes next.
func (p *whereParser) maybeLiteral() (literal, bool, error) {
	l := literal{offset: p.offset()}
	rest := p.text[p.pos:]
	word := strings.ToLower(p.word())
	switch {
	case rest == "":
		return l, false, nil
	case rest[0] == '\'':
		text, err := p.quoted()
		l.kind, l.text = textLiteral, text
		return l, err == nil, err
	case startsWithUUID(rest):
		l.kind, l.text = uuidLiteral, strings.ToLower(rest[:uuidLen])
		p.pos += uuidLen
	case strings.HasPrefix(rest, "0x") || strings.HasPrefix(rest, "0X"):
		return p.blob(l)
	case isDigit(rest[0]) || rest[0] == '-':
		return p.number(l)
	case word == "true" || word == "false":
		l.kind, l.text = booleanLiteral, word
		p.pos += len(word)
	case word == "nan" || word == "infinity":
		return p.number(l)
	case word == "null":
		return l, false, p.failAt(p.pos, "nothing equals NULL: IS NULL tests for it")
	default:
		return l, false, nil
	}
	return l, true, nil
}

const uuidLen = 36

// startsWithUUID tells a uuid that is not in quotes from the start of a name or number.
func startsWithUUID(s string) bool {
	if len(s) < uuidLen || !isHex(s[0]) || s[8] != '-' {
		return false
	}
	if len(s) > uuidLen && (isLetter(s[uuidLen]) || isDigit(s[uuidLen]) || s[uuidLen] == '_' || s[uuidLen] == '-') {
		return false
	}
	_, err := uuid.Parse(s[:uuidLen])
	return err == nil
}

// blob reads 0x and pairs of hexadecimal digits.
func (p *whereParser) blob(l literal) (literal, bool, error) {
	end := p.pos + len("0x")
	for end < len(p.text) && isHex(p.text[end]) {
		end++
	}
	if (end-p.pos)%2 != 0 {
		return l, false, p.failAt(p.pos, "a blob has two hexadecimal digits for each byte")
	}
	l.kind, l.text = blobLiteral, "0x"+strings.ToLower(p.text[p.pos+2:end])
	return p.endOfLiteral(l, end)
}

// number reads an integer, a decimal, one with an exponent, or one of the words for what no digits say.
func (p *whereParser) number(l literal) (literal, bool, error) {
	at := p.pos
	digits := func() bool {
		from := at
		for at < len(p.text) && isDigit(p.text[at]) {
			at++
		}
		return at > from
	}
	// oneOf steps over one byte if it is in set.
	oneOf := func(set string) bool {
		if at == len(p.text) || strings.IndexByte(set, p.text[at]) < 0 {
			return false
		}
		at++
		return true
	}
	l.kind = numberLiteral
	sign := oneOf("-")
	for _, word := range []string{"NaN", "Infinity"} {
		if end := at + len(word); end <= len(p.text) && strings.EqualFold(p.text[at:end], word) {
			l.text = word
			if sign && word == "Infinity" { // NaN has no sign.
				l.text = "-Infinity"
			}
			return p.endOfLiteral(l, end)
		}
	}
	ok := digits()
	if ok && oneOf(".") {
		ok = digits()
	}
	if ok && oneOf("eE") {
		oneOf("+-")
		ok = digits()
	}
	l.text = p.text[p.pos:at]
	if !ok {
		return l, false, p.failAt(p.pos, "%q is not a number", l.text)
	}
	if _, ok := parseNumber(l.text); !ok {
		return l, false, p.failAt(p.pos, "the exponent of %s is too large", l.text)
	}
	return p.endOfLiteral(l, at)
}

// endOfLiteral consumes a literal up to end, where nothing may follow that looks like a part of it.
func (p *whereParser) endOfLiteral(l literal, end int) (literal, bool, error) {
	if end < len(p.text) && (isLetter(p.text[end]) || isDigit(p.text[end]) || strings.IndexByte("_.", p.text[end]) >= 0) {
		return l, false, p.failAt(end, "%q does not belong to %s", p.text[end:end+1], l.kind)
	}
	p.pos = end
	return l, true, nil
}

// path reads a column, a function of one, or a way into one.
func (p *whereParser) path() (path, error) {
	x := path{offset: p.offset()}
	if word := p.word(); word != "" && !isReserved(word) {
		p.pos += len(word)
		if !p.take("(") {
			x.column = name{offset: x.offset, text: word}
			return p.steps(x)
		}
		x.call = strings.ToLower(word)
		if !slices.Contains(calls, x.call) {
			return x, p.failAt(x.offset, "there is no function %s, only %s", word, strings.Join(calls, ", "))
		}
	}
	var err error
	if x.column, err = p.name("a column or a value"); err != nil {
		return x, err
	}
	if x.call == "" || x.call == "day" {
		if x, err = p.steps(x); err != nil {
			return x, err
		}
	}
	if x.call != "" && !p.take(")") {
		return x, p.fail(`")"`)
	}
	return x, nil
}

// name reads a name with or without quotes.
func (p *whereParser) name(expected string) (name, error) {
	n := name{offset: p.offset()}
	if p.next() == '"' {
		text, err := p.quoted()
		if err == nil && text == "" {
			err = p.failAt(n.offset, "the name is empty")
		}
		n.text, n.quoted = text, true
		return n, err
	}
	if n.text = p.word(); n.text == "" || isReserved(n.text) {
		return n, p.fail(expected)
	}
	p.pos += len(n.text)
	return n, nil
}

// steps reads the ways into the value of a path.
func (p *whereParser) steps(x path) (path, error) {
	for {
		var s pathStep
		var err error
		switch {
		case p.take("["):
			s.offset = p.offset()
			if s.key, err = p.literal(); err == nil && !p.take("]") {
				err = p.fail(`"]"`)
			}
		case p.take("."):
			s, err = p.field()
		default:
			return x, nil
		}
		if err != nil {
			return x, err
		}
		x.steps = append(x.steps, s)
	}
}

// field reads the name of a field or the position in a tuple.
func (p *whereParser) field() (pathStep, error) {
	s := pathStep{offset: p.offset()}
	end := p.pos
	for end < len(p.text) && isDigit(p.text[end]) {
		end++
	}
	if end == p.pos {
		var err error
		s.field, err = p.name("a field")
		return s, err
	}
	n, err := strconv.Atoi(p.text[p.pos:end])
	if err != nil {
		return s, p.failAt(p.pos, "%s is no position in a tuple", p.text[p.pos:end])
	}
	s.position = n
	p.pos = end
	return s, nil
}
