package selection

import (
	"strings"
	"unicode"

	"github.com/mattn/go-runewidth"
)

// Error says what is wrong with an expression, and where.
type Error struct {
	Text   string // the whole expression
	Offset int    // in bytes, of the first byte that does not fit; len(Text) at the end
	Reason string // one line, without the position

	// Unknown is the name of the column or field that does not exist, without quotes; empty if something else is wrong. Known are the
	// names that do exist in its place.
	Unknown string
	Known   []string
}

// Error returns the reason, and below it the line of the expression with a caret under the position.
func (e *Error) Error() string {
	if e.Text == "" {
		return e.Reason
	}
	offset := min(max(e.Offset, 0), len(e.Text))
	start := strings.LastIndexByte(e.Text[:offset], '\n') + 1
	end := len(e.Text)
	if i := strings.IndexByte(e.Text[offset:], '\n'); i >= 0 {
		end = offset + i
	}
	before, after := printable(e.Text[start:offset]), printable(e.Text[offset:end])
	if extra := runewidth.StringWidth(before) - shownWidth; extra > 0 {
		before = "…" + runewidth.TruncateLeft(before, extra, "")
	}
	after = runewidth.Truncate(after, shownWidth, "…")
	return e.Reason + "\n  " + before + after + "\n  " + strings.Repeat(" ", runewidth.StringWidth(before)) + "^"
}

// shownWidth is how many columns of a terminal an error shows on either side of the position.
const shownWidth = 60

// printable replaces what would move the caret or the terminal: control and format characters, and bytes that are no UTF-8. The joiner
// of emoji stays.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case unicode.IsGraphic(r) || r == '\u200d':
			return r
		}
		return unicode.ReplacementChar
	}, s)
}
