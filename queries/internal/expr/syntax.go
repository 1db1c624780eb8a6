package expr

import (
	"strconv"
	"strings"
)

// Func is what is applied to a path.
type Func string

// The functions of a path. The periods give the start of the period in UTC that an instant or a day lies in.
const (
	None      Func = ""
	Hour      Func = "hour"
	Day       Func = "day"
	Month     Func = "month"
	Year      Func = "year"
	WriteTime Func = "writetime"
	TTL       Func = "ttl"
)

// Step goes from a value into a part of it.
type Step struct {
	// Field is a field of a user defined type, or the position of a field of a tuple. Empty for a step by key.
	Field string
	// Key is the key of a map: its text, and whether it was written as an integer.
	Key     string
	Integer bool
}

// Path is a column, or a part of the value of one.
type Path struct {
	Column string
	Steps  []Step
}

// String returns the canonical text, which parses to the same path.
func (p Path) String() string {
	var b strings.Builder
	b.WriteString(Quote(p.Column))
	for _, s := range p.Steps {
		switch {
		case s.Field != "" && isInteger(s.Field):
			b.WriteString("." + s.Field)
		case s.Field != "":
			b.WriteString("." + Quote(s.Field))
		case s.Integer:
			b.WriteString("[" + s.Key + "]")
		default:
			b.WriteString("['" + strings.ReplaceAll(s.Key, "'", "''") + "']")
		}
	}
	return b.String()
}

// name returns the words of the path joined by "_", the default name of its result.
func (p Path) name() string {
	words := []string{p.Column}
	for _, s := range p.Steps {
		words = append(words, s.Field+s.Key)
	}
	return strings.Join(words, "_")
}

// Expr is a value of a row: a path, or a function of one.
type Expr struct {
	Func Func
	Path Path
}

// String returns the canonical text, which parses to the same expression.
func (e Expr) String() string {
	if e.Func == None {
		return e.Path.String()
	}
	return string(e.Func) + "(" + e.Path.String() + ")"
}

// Name returns the default name of the expression's result: capture_time_day for day(capture_time).
func (e Expr) Name() string {
	if e.Func == None {
		return e.Path.name()
	}
	return e.Path.name() + "_" + string(e.Func)
}

// Key is one item of the list behind --by.
type Key struct {
	Expr   Expr
	As     string // the name of the result, given or by default
	Offset int    // of the item in the text, in bytes
}

// Agg is one item of the list behind --agg.
type Agg struct {
	Func   string
	Arg    Expr      // of every function but count of rows
	Rows   bool      // count, count() and count(*)
	Params []float64 // the quantiles that are asked for
	As     string    // the name of the result, given or by default
	Offset int       // of the item in the text, in bytes
}

// String returns the canonical text without the name.
func (a Agg) String() string {
	if a.Rows {
		return "count"
	}
	var b strings.Builder
	b.WriteString(a.Func + "(" + a.Arg.String())
	for _, p := range a.Params {
		b.WriteString(", " + strconv.FormatFloat(p, 'g', -1, 64))
	}
	b.WriteString(")")
	return b.String()
}

// Quote returns a name as it is written in the language: as it is where it reads back unchanged, in double quotes otherwise.
func Quote(name string) string {
	plain := name != "" && isLower(name[0])
	for i := range len(name) {
		plain = plain && (isLower(name[i]) || isDigit(name[i]) || name[i] == '_')
	}
	if plain {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

func isInteger(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
