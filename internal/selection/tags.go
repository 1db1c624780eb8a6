package selection

import (
	"slices"
	"strings"
)

// TagExpr says which images are wanted by the tags that they have. It does not change and may be shared.
type TagExpr struct{ root tagNode }

// AnyTag wants the images that have a tag that fits any of values, as a file lists them; [ParsePattern] reads them. Without values no
// image is wanted.
func AnyTag(values []string) *TagExpr {
	set := newTagSet()
	for _, v := range values {
		set.add(ParsePattern(v))
	}
	return &TagExpr{set}
}

// Matches reports whether an image with those tags, in any order, is wanted. Tags that the expression does not mention make no difference.
func (e *TagExpr) Matches(tags []string) bool { return e.root.matches(tags) }

// Tags returns a list of tags by which all wanted images are found: every wanted image has at least one of them, or for a glob one that
// fits it. Of several such lists it is one without globs if there is one, and then the shortest.
//
// There is none, ok is false, if an image without any of the tags may be wanted, as by NOT blurry: those are found by reading all images.
func (e *TagExpr) Tags() (terms []Pattern, ok bool) { return e.root.drivers(false) }

// Mentioned returns all terms in the order in which they come, each once. An image's other tags are not needed to decide about it.
func (e *TagExpr) Mentioned() []Pattern { return union(nil, e.root.terms()) }

// String returns the canonical text, which ParseTags reads as the same expression unless it is longer than what that takes.
func (e *TagExpr) String() string {
	var b strings.Builder
	e.root.write(&b)
	return b.String()
}

type tagNode interface {
	matches(tags []string) bool
	// drivers returns what Tags does, for the negation of the node if negated.
	drivers(negated bool) ([]Pattern, bool)
	terms() []Pattern
	write(b *strings.Builder)
}

// tagSet is one term, or an OR of several: all that a long list needs is a look at each of an image's tags.
type tagSet struct {
	list  []Pattern
	exact map[string]struct{}
	globs []glob
}

func newTagSet(terms ...Pattern) *tagSet {
	s := &tagSet{exact: map[string]struct{}{}}
	for _, t := range terms {
		s.add(t)
	}
	return s
}

func (s *tagSet) add(t Pattern) {
	s.list = append(s.list, t)
	if t.Glob {
		s.globs = append(s.globs, t.glob)
	} else {
		s.exact[t.Text] = struct{}{}
	}
}

func (s *tagSet) matches(tags []string) bool {
	return slices.ContainsFunc(tags, func(tag string) bool {
		if _, ok := s.exact[tag]; ok {
			return true
		}
		return slices.ContainsFunc(s.globs, func(g glob) bool { return g.match(tag) })
	})
}

func (s *tagSet) terms() []Pattern { return s.list }

func (s *tagSet) drivers(negated bool) ([]Pattern, bool) {
	if negated {
		return nil, false
	}
	return union(nil, s.list), true
}

// tagNot is NOT.
type tagNot struct{ arg tagNode }

func (n *tagNot) matches(tags []string) bool { return !n.arg.matches(tags) }

func (n *tagNot) terms() []Pattern { return n.arg.terms() }

func (n *tagNot) drivers(negated bool) ([]Pattern, bool) { return n.arg.drivers(!negated) }

// tagJunction is a chain of ANDs, or of ORs.
type tagJunction struct {
	or   bool
	args []tagNode
}

func (n *tagJunction) matches(tags []string) bool {
	return slices.ContainsFunc(n.args, func(arg tagNode) bool { return arg.matches(tags) == n.or }) == n.or
}

func (n *tagJunction) terms() []Pattern {
	var all []Pattern
	for _, arg := range n.args {
		all = append(all, arg.terms()...)
	}
	return all
}

// drivers of an OR are those of all its parts, if all have some. Of an AND those of any part do. Negated, each is the other.
func (n *tagJunction) drivers(negated bool) ([]Pattern, bool) {
	var all, best []Pattern
	found := false
	for _, arg := range n.args {
		terms, ok := arg.drivers(negated)
		if n.or != negated {
			if !ok {
				return nil, false
			}
			all = union(all, terms)
			continue
		}
		if ok && (!found || better(terms, best)) {
			best, found = terms, true
		}
	}
	if n.or != negated {
		return all, true
	}
	return best, found
}

// better reports whether images are found by a in fewer steps than by b.
func better(a, b []Pattern) bool {
	isGlob := func(t Pattern) bool { return t.Glob }
	x, y := slices.ContainsFunc(a, isGlob), slices.ContainsFunc(b, isGlob)
	if x != y {
		return y
	}
	return len(a) < len(b)
}

// union appends to a the terms of b that are not yet there.
func union(a, b []Pattern) []Pattern {
	type id struct {
		text string
		glob bool
	}
	seen := make(map[id]bool, len(a)+len(b))
	for _, t := range a {
		seen[id{t.Text, t.Glob}] = true
	}
	for _, t := range b {
		if key := (id{t.Text, t.Glob}); !seen[key] {
			seen[key] = true
			a = append(a, t)
		}
	}
	return a
}
