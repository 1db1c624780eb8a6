package expr

import (
	"slices"
	"strconv"
	"strings"
)

// Aggregates are the names of the functions that --agg knows.
var Aggregates = []string{"count", "sum", "avg", "min", "max", "distinct", "quantiles"}

var exprFuncs = []string{string(Hour), string(Day), string(Month), string(Year), string(WriteTime), string(TTL)}

// ParseBy reads the list behind --by. An empty text is an empty list. The error is a *[SyntaxError].
func ParseBy(text string) ([]Key, error) {
	p, err := newParser(text)
	if err != nil {
		return nil, err
	}
	var keys []Key
	err = p.list(func(offset int) error {
		e, err := p.expr()
		if err != nil {
			return err
		}
		as, err := p.as(e.Name())
		keys = append(keys, Key{Expr: e, As: as, Offset: offset})
		return err
	})
	return keys, err
}

// ParseAgg reads the list behind --agg. An empty text is an empty list. The error is a *[SyntaxError].
func ParseAgg(text string) ([]Agg, error) {
	p, err := newParser(text)
	if err != nil {
		return nil, err
	}
	var aggs []Agg
	err = p.list(func(offset int) error {
		a, err := p.agg()
		if err != nil {
			return err
		}
		a.Offset = offset
		a.As, err = p.as(a.defaultName())
		aggs = append(aggs, a)
		return err
	})
	return aggs, err
}

// defaultName is count, or width_sum for sum(width). Quantiles add _p50 and the like to the name of their argument.
func (a Agg) defaultName() string {
	switch {
	case a.Rows:
		return "count"
	case a.Func == "quantiles":
		return a.Arg.Name()
	}
	return a.Arg.Name() + "_" + a.Func
}

func (p *parser) expr() (Expr, error) {
	name, start, ok := p.call()
	if !ok {
		path, err := p.path()
		return Expr{Path: path}, err
	}
	if !slices.Contains(exprFuncs, name) {
		if slices.Contains(Aggregates, name) {
			return Expr{}, p.failAt(start, "%s is an aggregate, which has its place in the list of aggregates", name)
		}
		return Expr{}, p.failAt(start, "unknown function %q, known are %s", name, strings.Join(exprFuncs, ", "))
	}
	e := Expr{Func: Func(name)}
	inside := p.pos
	var err error
	if e.Path, err = p.path(); err != nil {
		return Expr{}, err
	}
	if (e.Func == WriteTime || e.Func == TTL) && len(e.Path.Steps) > 0 {
		return Expr{}, p.failAt(inside, "%s takes a whole column", name)
	}
	if !p.take(')') {
		return Expr{}, p.fail(`")"`)
	}
	return e, nil
}

func (p *parser) path() (Path, error) {
	column, err := p.name("a column")
	if err != nil {
		return Path{}, err
	}
	path := Path{Column: column}
	for {
		var step Step
		switch {
		case p.take('['):
			step, err = p.key()
		case p.take('.'):
			step, err = p.field()
		default:
			return path, nil
		}
		if err != nil {
			return Path{}, err
		}
		path.Steps = append(path.Steps, step)
	}
}

// key reads the key of a map behind "[".
func (p *parser) key() (Step, error) {
	text, ok, err := p.quoted('\'')
	if err != nil {
		return Step{}, err
	}
	step := Step{Key: text}
	if !ok {
		p.skipSpace()
		start := p.pos
		p.take('-')
		p.digits()
		n, err := strconv.ParseInt(p.text[start:p.pos], 10, 64)
		if err != nil {
			p.pos = start
			return Step{}, p.fail("a key in single quotes or a 64-bit integer")
		}
		step = Step{Key: strconv.FormatInt(n, 10), Integer: true}
	}
	if !p.take(']') {
		return Step{}, p.fail(`"]"`)
	}
	return step, nil
}

// field reads the name or position of a field behind ".".
func (p *parser) field() (Step, error) {
	p.skipSpace()
	if digits := p.digits(); digits != "" {
		return Step{Field: digits}, nil
	}
	name, err := p.name("a field")
	return Step{Field: name}, err
}

// digits consumes decimal digits.
func (p *parser) digits() string {
	start := p.pos
	for p.pos < len(p.text) && isDigit(p.text[p.pos]) {
		p.pos++
	}
	return p.text[start:p.pos]
}

func (p *parser) agg() (Agg, error) {
	name, start, ok := p.call()
	if !ok {
		if name = p.word(); name == "count" {
			return Agg{Func: name, Rows: true}, nil
		}
		p.pos = start
		return Agg{}, p.fail("an aggregate such as count or sum(column)")
	}
	if !slices.Contains(Aggregates, name) {
		return Agg{}, p.failAt(start, "unknown aggregate %q, known are %s", name, strings.Join(Aggregates, ", "))
	}
	a := Agg{Func: name}
	if name == "count" {
		star := p.take('*')
		if p.take(')') {
			a.Rows = true
			return a, nil
		}
		if star {
			return Agg{}, p.fail(`")"`)
		}
	}
	var err error
	if a.Arg, err = p.expr(); err != nil {
		return Agg{}, err
	}
	for name == "quantiles" && p.take(',') {
		q, err := p.quantile()
		if err != nil {
			return Agg{}, err
		}
		a.Params = append(a.Params, q)
	}
	if !p.take(')') {
		return Agg{}, p.fail(`")"`)
	}
	return a, nil
}

// quantile reads a number between 0 and 1.
func (p *parser) quantile() (float64, error) {
	p.skipSpace()
	start := p.pos
	for p.pos < len(p.text) && (isDigit(p.text[p.pos]) || p.text[p.pos] == '.') {
		p.pos++
	}
	q, err := strconv.ParseFloat(p.text[start:p.pos], 64)
	if err != nil || q < 0 || q > 1 {
		p.pos = start
		return 0, p.fail("a number from 0 to 1")
	}
	return q, nil
}
