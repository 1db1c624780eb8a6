package selection

import "strings"

// Pattern is a value of a list of texts, or a term of an expression over tags: one text, or a glob that fits several.
type Pattern struct {
	Text string // the text, or that of the glob
	Glob bool
	glob glob
}

// ParsePattern reads a value: it is a glob if it has a * or ? in it, unless \ takes away the meaning of all of them.
func ParsePattern(value string) Pattern {
	if !strings.ContainsAny(value, "*?") {
		return Pattern{Text: value}
	}
	g := newGlob(value)
	if len(g.segments) == 1 && g.segments[0].runes == nil {
		return Pattern{Text: g.segments[0].text}
	}
	return Pattern{Text: value, Glob: true, glob: g}
}

// Match reports whether the pattern fits a text.
func (p Pattern) Match(text string) bool {
	if p.Glob {
		return p.glob.match(text)
	}
	return p.Text == text
}

// EscapeGlob returns the value of a list that means text alone, whatever is in it; see [ParsePattern].
func EscapeGlob(text string) string {
	if !strings.ContainsAny(text, "*?") {
		return text
	}
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `\`, `\\`).Replace(text)
}
