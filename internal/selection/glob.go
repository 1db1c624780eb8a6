package selection

import (
	"strings"
	"unicode/utf8"
)

// glob is a pattern: * stands for any text, ? for any one character, and \ in front of *, ? or \ for that character itself. It has to fit
// the whole text.
type glob struct {
	// segments are what lies between the stars, so that there is one more of them than of stars.
	segments []segment
}

// segment is a run of characters, any of which may be free. It takes the same number of characters from every text.
type segment struct {
	text  string // if no character is free
	runes []rune // else, with free ones as anyRune
}

const anyRune rune = -1

func newGlob(pattern string) glob {
	var g glob
	var runes []rune
	escaped := false
	for _, r := range pattern {
		switch {
		case escaped:
			if r != '*' && r != '?' && r != '\\' {
				runes = append(runes, '\\')
			}
			runes = append(runes, r)
			escaped = false
		case r == '\\':
			escaped = true
		case r == '*':
			g.segments = append(g.segments, newSegment(runes))
			runes = nil
		case r == '?':
			runes = append(runes, anyRune)
		default:
			runes = append(runes, r)
		}
	}
	if escaped {
		runes = append(runes, '\\')
	}
	g.segments = append(g.segments, newSegment(runes))
	return g
}

func newSegment(runes []rune) segment {
	for _, r := range runes {
		if r == anyRune {
			return segment{runes: runes}
		}
	}
	return segment{text: string(runes)}
}

// match takes each segment at the first place where it fits, and the last at the end. This finds a fit if there is one, without going
// back, in time of at most the product of both lengths.
func (g *glob) match(s string) bool {
	first, rest := &g.segments[0], g.segments[1:]
	n := first.prefix(s)
	if n < 0 {
		return false
	}
	s = s[n:]
	if len(rest) == 0 {
		return s == ""
	}
	last := len(rest) - 1
	for i := range rest[:last] {
		start, n := rest[i].find(s)
		if n < 0 {
			return false
		}
		s = s[start+n:]
	}
	return rest[last].suffix(s)
}

// prefix returns how many bytes of the start of s fit, -1 if it does not.
func (g *segment) prefix(s string) int {
	if g.runes == nil {
		if !strings.HasPrefix(s, g.text) {
			return -1
		}
		return len(g.text)
	}
	at := 0
	for _, want := range g.runes {
		r, size := utf8.DecodeRuneInString(s[at:])
		if size == 0 || want != anyRune && want != r {
			return -1
		}
		at += size
	}
	return at
}

// find returns where in s the segment first fits and how many bytes it takes, -1 if it fits nowhere.
func (g *segment) find(s string) (start, n int) {
	if g.runes == nil {
		if start = strings.Index(s, g.text); start < 0 {
			return 0, -1
		}
		return start, len(g.text)
	}
	for start := 0; ; {
		if n := g.prefix(s[start:]); n >= 0 {
			return start, n
		}
		_, size := utf8.DecodeRuneInString(s[start:])
		if size == 0 {
			return 0, -1
		}
		start += size
	}
}

// suffix reports whether the end of s fits.
func (g *segment) suffix(s string) bool {
	if g.runes == nil {
		return strings.HasSuffix(s, g.text)
	}
	at := len(s)
	for range g.runes {
		_, size := utf8.DecodeLastRuneInString(s[:at])
		if size == 0 {
			return false
		}
		at -= size
	}
	return g.prefix(s[at:]) == len(s)-at
}
