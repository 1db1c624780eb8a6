package selection

import "slices"

// truth is a value of SQL's three-valued logic. The order of the values makes AND their minimum and OR their maximum.
type truth uint8

const (
	isFalse truth = iota
	unknown       // of a test of NULL
	isTrue
)

func truthOf(b bool) truth {
	if b {
		return isTrue
	}
	return isFalse
}

// predicate is a compiled condition.
type predicate interface {
	// eval puts the truth of each row of the record that e is bound to into out, whatever is there before.
	eval(e *evaluation, out []truth)
}

// conjunction is AND.
type conjunction []predicate

func (p conjunction) eval(e *evaluation, out []truth) {
	e.fold(p, out, isFalse, func(out, more []truth) {
		for i, t := range more {
			out[i] = min(out[i], t)
		}
	})
}

// disjunction is OR.
type disjunction []predicate

func (p disjunction) eval(e *evaluation, out []truth) {
	e.fold(p, out, isTrue, func(out, more []truth) {
		for i, t := range more {
			out[i] = max(out[i], t)
		}
	})
}

// fold joins the truths of predicates. It leaves out those that come after all rows are settled: final joined with anything is final.
func (e *evaluation) fold(ps []predicate, out []truth, final truth, join func(out, more []truth)) {
	ps[0].eval(e, out)
	more := e.truths(len(out))
	defer e.giveBack(more)
	for _, p := range ps[1:] {
		if !slices.ContainsFunc(out, func(t truth) bool { return t != final }) {
			return
		}
		p.eval(e, more)
		join(out, more)
	}
}

// complement is NOT, which leaves unknown as it is.
type complement struct{ arg predicate }

func (p complement) eval(e *evaluation, out []truth) {
	p.arg.eval(e, out)
	for i, t := range out {
		out[i] = isTrue - t
	}
}

// isNull is never unknown.
type isNull struct{ of slot }

func (p isNull) eval(e *evaluation, out []truth) {
	v := e.vector(p.of)
	if v.null == nil {
		fill(out, isFalse)
		return
	}
	for i, null := range v.null {
		out[i] = truthOf(null)
	}
}

// tested is a test of the values of one operand.
type tested struct {
	of   slot
	test test
}

func (p tested) eval(e *evaluation, out []truth) {
	v := e.vector(p.of)
	p.test.run(v, out)
	v.setUnknown(out)
}

// pair compares two operands of one family.
type pair struct {
	left, right slot
	family      family
	outcomes    outcomes
}

func (p pair) eval(e *evaluation, out []truth) {
	a, b := e.vector(p.left), e.vector(p.right)
	switch p.family.form() {
	case intForm:
		for i, x := range a.ints {
			out[i] = p.outcomes[1+compareInts(x, b.ints[i])]
		}
	case floatForm:
		for i, x := range a.floats {
			out[i] = p.outcomes[1+compareFloats(x, b.floats[i])]
		}
	default:
		compare := p.family.order()
		for i := range out {
			out[i] = unknown
			if !a.isNull(i) && !b.isNull(i) { // A NULL has no bytes to compare.
				out[i] = p.outcomes[1+compare(a.str(i), b.str(i))]
			}
		}
	}
	a.setUnknown(out)
	b.setUnknown(out)
}

func fill(out []truth, t truth) {
	for i := range out {
		out[i] = t
	}
}
