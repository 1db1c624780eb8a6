package queries

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"manifest/queries/internal/accumulate"
	"manifest/queries/internal/expr"
	"manifest/queries/internal/vector"
)

// Spec is a grouping in a small language that follows CQL: names are folded to lower case unless in double quotes, a quote inside quotes is
// doubled, and "as name" behind an item names its column.
//
// The values of a row, which may be keys and arguments of aggregates, are
//
//	device_id, "MixedCase"       a column
//	attributes['region'], m[7]   the value of a key of a map; NULL if the map has no such key
//	location.lat, pair.0         a field of a user defined type, a position of a tuple
//	hour(x)                      the start of the hour of a timestamp or timeuuid in UTC, a TIMESTAMP
//	day(x) month(x) year(x)      the first day of the period of a timestamp, timeuuid or date, a DATE
//	writetime(x), ttl(x)         microseconds since 1970, and seconds, of a column that has them
//
// They have to be of a native type other than duration. Floats that are equal are one key, as are all NaN, and so are decimals that are
// equal as numbers.
//
// The aggregates leave out NULL, and are NULL if there is no other value, but for counts, which are 0:
//
//	count, count(x)                   of rows, of values
//	sum(x), avg(x)                    of numbers: exact, then rounded once. The sum of integers is a BIGINT, or an error if it does not
//	                                  fit; that of floats a DOUBLE, of varint and decimal text in full. An average is a DOUBLE
//	min(x), max(x)                    text and blobs bytewise, timeuuids by time, NaN above all other numbers
//	distinct(x)                       the number of different values: exact up to 2,048, then an estimate with a standard error of 0.8 %
//	quantiles(x), quantiles(x, .5, 1) of numbers, each within 1 %; without a list 0.01, 0.05, 0.25, 0.5, 0.75, 0.95 and 0.99. The value
//	                                  of p among n values is that of rank p · (n-1), rounded down, from 0. NaN is left out
//
// Columns are named width_sum, capture_time_day, attributes_region, width_p50 by default, and count.
type Spec struct {
	// By lists the values by which rows are grouped, such as "device_id, day(capture_time), attributes['region'] as region". If it is
	// empty all rows are one group, also where there are none.
	By string
	// Agg lists the aggregates of each group, such as "count, sum(width), quantiles(height, 0.5, 0.9)". Empty means count.
	Agg string
}

// Compile checks a grouping against a table. The error is a *[SyntaxError] that points into By or Agg, a *[ColumnError], or wraps
// [ErrType] or [ErrName].
//
// The result is the table "groups": the keys in the order of By, then the aggregates in the order of Agg, quantiles one column each
// (width_p50). Groups whose key holds the partition key come in token order, partition by partition, and within one by their keys;
// others come by their keys, NULL first.
func Compile(table Table, spec Spec) (*Query, error) {
	r := newResolver(table)
	g, options, err := r.grouping(spec)
	if err != nil {
		return nil, err
	}
	t, err := newResultTable("groups", false, g.fields)
	if err != nil {
		return nil, err
	}
	return newQuery("groups", r, options, []ResultTable{t}, []grouping{g}), nil
}

// grouping compiles a spec, and returns its canonical text too.
func (r *resolver) grouping(spec Spec) (grouping, string, error) {
	g := grouping{rows: 1}
	keys, err := expr.ParseBy(spec.By)
	if err != nil {
		return g, "", err
	}
	if strings.TrimSpace(spec.Agg) == "" {
		spec.Agg = "count"
	}
	aggs, err := expr.ParseAgg(spec.Agg)
	if err != nil {
		return g, "", err
	}
	var text []string
	for _, k := range keys {
		if err := r.addKey(&g, k); err != nil {
			return g, "", err
		}
		text = append(text, fmt.Sprintf("%s as %s", k.Expr, expr.Quote(k.As)))
	}
	options := "by " + strings.Join(text, ", ")
	text = nil
	for _, a := range aggs {
		if err := r.addAgg(&g, a); err != nil {
			return g, "", err
		}
		text = append(text, fmt.Sprintf("%s as %s", a, expr.Quote(a.As)))
	}
	return g, options + " agg " + strings.Join(text, ", "), nil
}

func (r *resolver) addKey(g *grouping, k expr.Key) error {
	slot, err := r.slot(k.Expr)
	if err != nil {
		return fmt.Errorf("group by %s: %w", k.Expr, err)
	}
	g.fields = append(g.fields, keyField(k.As, r.program.Kind(slot), len(g.keys)))
	g.addKey(k.As, slot)
	return nil
}

func (r *resolver) addAgg(g *grouping, a expr.Agg) error {
	if a.Rows {
		g.addState(accumulate.Aggregate{Func: a.Func, Rows: true}, noSlot)
		g.fields = append(g.fields, resultField(a.As, vector.Int64, len(g.states)-1, 0))
		return nil
	}
	slot, err := r.slot(a.Arg)
	if err != nil {
		return fmt.Errorf("compute %s: %w", a, err)
	}
	aggregate := accumulate.Aggregate{Func: a.Func, Kind: r.program.Kind(slot), Params: a.Params}
	states, err := aggregate.New()
	if err != nil {
		return fmt.Errorf("compute %s: %w", a, err)
	}
	if aggregate.WantsContent() {
		slot = r.program.Content(slot)
	}
	g.addState(aggregate, slot)
	for i, kind := range states.Results() {
		name := a.As
		if a.Func == "quantiles" {
			name += "_" + quantileName(aggregate.Quantiles()[i])
		}
		f := resultField(name, kind, len(g.states)-1, i)
		f.nullable = a.Func != "count" && a.Func != "distinct"
		g.fields = append(g.fields, f)
	}
	return nil
}

func (g *grouping) addState(a accumulate.Aggregate, argument vector.Slot) {
	g.states = append(g.states, a)
	g.arguments = append(g.arguments, argument)
}

// quantileName returns p and the percentage: p05, p50, p99_9, p100.
func quantileName(q float64) string {
	// The shortest decimal of q, moved by two places, as a product with 100 would not always be.
	whole, fraction, _ := strings.Cut(strconv.FormatFloat(q, 'f', -1, 64), ".")
	fraction += "00"
	percent := strings.TrimLeft(whole+fraction[:2], "0")
	percent = strings.Repeat("0", max(0, 2-len(percent))) + percent
	if rest := strings.TrimRight(fraction[2:], "0"); rest != "" {
		percent += "_" + rest
	}
	return "p" + percent
}

// checkNames errs with ErrName if two fields have the same name.
func checkNames(fields []field) error {
	for i, f := range fields {
		if slices.ContainsFunc(fields[:i], func(g field) bool { return g.name == f.name }) {
			return fmt.Errorf("%q: %w", f.name, ErrName)
		}
	}
	return nil
}
