package selection

import (
	"cmp"
	"slices"
)

// test is a condition on one value. A test keeps no state between runs.
type test interface {
	// run puts the truth of each value of v into out. What it puts for NULL does not matter.
	run(v *vector, out []truth)
}

// outcomes are the truths of a comparison by what comparing gives: less, equal, greater.
type outcomes [3]truth

var outcomesOf = map[operator]outcomes{
	"=":  {isFalse, isTrue, isFalse},
	"!=": {isTrue, isFalse, isTrue},
	"<":  {isTrue, isFalse, isFalse},
	"<=": {isTrue, isTrue, isFalse},
	">":  {isFalse, isFalse, isTrue},
	">=": {isFalse, isTrue, isTrue},
}

// compareTest compares with a constant.
func compareTest(f family, o outcomes, with constant) test {
	switch f.form() {
	case intForm:
		// A value that equals the integer beside the constant lies on the constant's other side.
		o[1] = o[1-with.number.side]
		return intTest{with.number.at, o}
	case floatForm:
		return floatTest{with.float, o}
	}
	if o[0] == o[2] && f != numbers {
		return bytesTest{with.text, o}
	}
	return stringTest{f.order(), with.text, o}
}

func equalTest(f family, with constant) test { return compareTest(f, outcomesOf["="], with) }

type intTest struct {
	with     int64
	outcomes outcomes
}

func (t intTest) run(v *vector, out []truth) {
	for i, x := range v.ints {
		out[i] = t.outcomes[1+compareInts(x, t.with)]
	}
}

func compareInts(a, b int64) int { return cmp.Compare(a, b) }

type floatTest struct {
	with     float64
	outcomes outcomes
}

func (t floatTest) run(v *vector, out []truth) {
	for i, x := range v.floats {
		out[i] = t.outcomes[1+compareFloats(x, t.with)]
	}
}

// bytesTest tells equal from unequal where values are equal if their bytes are.
type bytesTest struct {
	with     string
	outcomes outcomes
}

func (t bytesTest) run(v *vector, out []truth) {
	equal, other := t.outcomes[1], t.outcomes[0]
	for i := range out {
		out[i] = other
		if v.str(i) == t.with {
			out[i] = equal
		}
	}
}

type stringTest struct {
	compare  order
	with     string
	outcomes outcomes
}

func (t stringTest) run(v *vector, out []truth) {
	for i := range out {
		if !v.isNull(i) { // A NULL has no bytes to compare.
			out[i] = t.outcomes[1+t.compare(v.str(i), t.with)]
		}
	}
}

// inTest looks for equality with any of a list.
func inTest(f family, list []constant) test {
	switch f.form() {
	case intForm:
		var t intSet
		for _, c := range list {
			if c.number.side == 0 { // No integer equals a number between two of them.
				t = append(t, c.number.at)
			}
		}
		slices.Sort(t)
		return t
	case floatForm:
		var t floatSet
		for _, c := range list {
			t = append(t, c.float)
		}
		slices.SortFunc(t, compareFloats)
		return t
	}
	if f == numbers {
		var t numberSet
		for _, c := range list {
			t = append(t, c.text)
		}
		slices.SortFunc(t, compareNumbers)
		return t
	}
	t := bytesSet{}
	for _, c := range list {
		t[c.text] = struct{}{}
	}
	return t
}

// intSet is sorted, and so are floatSet and numberSet.
type intSet []int64

func (t intSet) run(v *vector, out []truth) {
	for i, x := range v.ints {
		_, found := slices.BinarySearch(t, x)
		out[i] = truthOf(found)
	}
}

type floatSet []float64

func (t floatSet) run(v *vector, out []truth) {
	for i, x := range v.floats {
		_, found := slices.BinarySearchFunc(t, x, compareFloats)
		out[i] = truthOf(found)
	}
}

type numberSet []string

func (t numberSet) run(v *vector, out []truth) {
	for i := range out {
		_, found := slices.BinarySearchFunc(t, v.str(i), compareNumbers)
		out[i] = truthOf(found)
	}
}

// bytesSet serves the types whose values are equal where their bytes are.
type bytesSet map[string]struct{}

func (t bytesSet) run(v *vector, out []truth) {
	for i := range out {
		_, found := t[v.str(i)]
		out[i] = truthOf(found)
	}
}

type globTest struct{ glob glob }

func (t globTest) run(v *vector, out []truth) {
	for i := range out {
		out[i] = truthOf(t.glob.match(v.str(i)))
	}
}
