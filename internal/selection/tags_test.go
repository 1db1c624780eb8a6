package selection

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestTagExpressions(t *testing.T) {
	for _, tc := range []struct {
		name, text, canonical string
		wanted, not           []string // sets of tags with spaces between them
	}{
		{"one tag", "rust", "rust", []string{"rust", "a rust"}, []string{"", "Rust", "rusty"}},
		{
			"the example of the manual", "(leaf_spot OR rust) AND NOT blurry", "(leaf_spot OR rust) AND NOT blurry",
			[]string{"leaf_spot", "rust other", "leaf_spot rust"}, []string{"", "blurry", "rust blurry", "other"},
		},
		{"AND binds closer", "a or b and c", "a OR b AND c", []string{"a", "b c"}, []string{"b", "c", ""}},
		{"NOT binds closest", "not a and b", "NOT a AND b", []string{"b"}, []string{"a b", "", "a"}},
		{"NOT of a group", "not (a or b)", "NOT (a OR b)", []string{"", "c"}, []string{"a", "b c"}},
		{"NOT NOT", "not not a", "NOT NOT a", []string{"a"}, []string{""}},
		{"ORs join", "a or (b or (c)) or d and e or f", "a OR b OR c OR f OR d AND e", []string{"c", "f", "d e"}, []string{"d", "e"}},
		{"ANDs join", "(a and b) and c", "a AND b AND c", []string{"a b c"}, []string{"a b"}},
		{"Unicode", "葉斑病 OR größe-5:x/y", "葉斑病 OR größe-5:x/y", []string{"葉斑病", "größe-5:x/y"}, []string{"葉"}},
		{"Unicode space ends a tag", "葉\u3000AND\u00a0b", "葉 AND b", []string{"葉 b"}, []string{"葉"}},
		{"quotes that are not needed", `'rust' OR "leaf"`, "rust OR leaf", []string{"rust", "leaf"}, []string{"'rust'"}},
		{"words in quotes", `'and' OR "Not"`, "'and' OR 'Not'", []string{"and", "Not"}, []string{"not"}},
		{"signs in quotes", `"a,b(c)" OR 'it''s' OR "say ""x"""`, `'a,b(c)' OR 'it''s' OR 'say "x"'`, []string{"a,b(c)", "it's"}, []string{"a", "a,b"}},
		{"the empty tag", "'' AND NOT a", "'' AND NOT a", nil, []string{"a"}},
		{"pattern", "leaf_* AND NOT ?", "leaf_* AND NOT ?", []string{"leaf_spot", "leaf_ xx"}, []string{"leaf", "leaf_spot x", ""}},
		{"pattern in quotes", "'leaf *'", "'leaf *'", nil, []string{"leaf"}},
		{"star itself", `a\*b`, `a\*b`, []string{"a*b"}, []string{"axb", `a\*b`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e, err := ParseTags(tc.text)
			if err != nil {
				t.Fatal(err)
			}
			if got := e.String(); got != tc.canonical {
				t.Errorf("canonical text %s, want %s", got, tc.canonical)
			}
			if again, err := ParseTags(tc.canonical); err != nil || again.String() != tc.canonical {
				t.Errorf("which reads back as %s, %v", again, err)
			}
			for _, tags := range tc.wanted {
				if !e.Matches(strings.Fields(tags)) {
					t.Errorf("an image with %q is not wanted", tags)
				}
			}
			for _, tags := range tc.not {
				if e.Matches(strings.Fields(tags)) {
					t.Errorf("an image with %q is wanted", tags)
				}
			}
		})
	}
	e, err := ParseTags("'leaf spot' AND NOT ''")
	if err != nil {
		t.Fatal(err)
	}
	if !e.Matches([]string{"leaf spot"}) || e.Matches([]string{"leaf spot", ""}) {
		t.Error("the tags leaf spot and the empty one are not told apart")
	}
}

func TestTagErrors(t *testing.T) {
	for _, tc := range []struct{ name, text, rest, reason string }{
		{"nothing", " ", "", "expected a tag, found the end"},
		{"operator first", "AND a", "AND a", `expected a tag, found "AND"`},
		{"operator last", "a or", "", "expected a tag, found the end"},
		{"two operators", "a and or b", "or b", `expected a tag, found "or"`},
		{"two tags", "leaf spot", "spot", `expected AND, OR or the end, found "spot"`},
		{"two tags of Unicode", "葉 斑", "斑", `expected AND, OR or the end, found "斑"`},
		{"comma", "a, b", ", b", `expected AND, OR or the end, found ","`},
		{"NOT between", "a not b", "not b", `expected AND, OR or the end, found "not"`},
		{"group open", "(a or b", "", `expected AND, OR or ")", found the end`},
		{"group closed twice", "(a))", ")", `expected AND, OR or the end, found ")"`},
		{"empty group", "()", ")", `expected a tag, found ")"`},
		{"quote open", "a or 'b", "'b", "the quote ' is not closed"},
		{"quote inside", "it's", "'s", `expected AND, OR or the end, found "'"`},
		{"not UTF-8", "a or \xff", "\xff", "not UTF-8"},
		{"deep", strings.Repeat("(", 101) + "a" + strings.Repeat(")", 101), "a" + strings.Repeat(")", 101), "nested deeper than 100"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := ParseTags(tc.text)
			checkError(t, err, tc.rest, tc.reason)
		})
	}
}

// textsOf joins terms, with patterns in slashes.
func textsOf(terms []Pattern) string {
	var texts []string
	for _, t := range terms {
		if t.Glob {
			texts = append(texts, "/"+t.Text+"/")
		} else {
			texts = append(texts, t.Text)
		}
	}
	return strings.Join(texts, " ")
}

func TestTagsThatFindAll(t *testing.T) {
	for _, tc := range []struct{ text, want, mentioned string }{ // want "-" for none
		{"rust", "rust", "rust"},
		{"(leaf_spot OR rust) AND NOT blurry", "leaf_spot rust", "leaf_spot rust blurry"},
		{"NOT blurry", "-", "blurry"},
		{"NOT blurry AND NOT dark", "-", "blurry dark"},
		{"rust OR NOT blurry", "-", "rust blurry"},
		{"(a OR b) AND c", "c", "a b c"},
		{"c AND (a OR b)", "c", "c a b"},
		{"a AND b", "a", "a b"},
		{"(a* OR b) AND (c OR d OR e)", "c d e", "/a*/ b c d e"},
		{"a* AND NOT b", "/a*/", "/a*/ b"},
		{"NOT NOT a", "a", "a"},
		{"NOT (NOT a OR b)", "a", "a b"},
		{"NOT (NOT a AND NOT b)", "a b", "a b"},
		{"NOT (a AND b)", "-", "a b"},
		{"a AND b OR a AND c", "a", "a b c"},
		{"a AND b OR c OR c", "a c", "a b c"},
		{"a AND NOT a", "a", "a"},
		{`x\*y OR z`, "x*y z", "x*y z"},
	} {
		e, err := ParseTags(tc.text)
		if err != nil {
			t.Fatal(err)
		}
		terms, ok := e.Tags()
		got := textsOf(terms)
		if !ok {
			got = "-"
		}
		if got != tc.want || !ok && terms != nil {
			t.Errorf("%s is found by %s, want %s", tc.text, got, tc.want)
		}
		if got := textsOf(e.Mentioned()); got != tc.mentioned {
			t.Errorf("%s mentions %s, want %s", tc.text, got, tc.mentioned)
		}
	}
}

func TestAnyTag(t *testing.T) {
	values := make([]string, 10_000)
	for i := range values {
		values[i] = fmt.Sprintf("tag %d", i)
	}
	e := AnyTag(append(values, "leaf*", "tag 7"))
	if terms, ok := e.Tags(); !ok || len(terms) != 10_001 {
		t.Errorf("%d terms, %v, want 10001", len(terms), ok)
	}
	for tag, want := range map[string]bool{"tag 9999": true, "tag 10000": false, "leaf_spot": true, "": false} {
		if got := e.Matches([]string{"x", tag}); got != want {
			t.Errorf("an image with %q is wanted: %v", tag, got)
		}
	}
	none := AnyTag(nil)
	if terms, ok := none.Tags(); none.Matches([]string{"a"}) || none.Matches(nil) || !ok || len(terms) != 0 {
		t.Errorf("none of no tags: found by %v, %v", terms, ok)
	}
	again, err := ParseTags(none.String())
	if err != nil || again.Matches([]string{"a"}) || again.Matches(nil) {
		t.Errorf("none of no tags is %s, %v", none, err)
	}
}

// tagTree is an expression that a test draws, with its own meaning.
type tagTree struct {
	word string // tag, NOT, AND or OR
	args []*tagTree
	tag  string
}

func drawTagTree(t *rapid.T, depth int) *tagTree {
	word := "tag"
	if depth > 0 {
		word = rapid.SampledFrom([]string{"tag", "NOT", "AND", "OR"}).Draw(t, "word")
	}
	n := map[string]int{"tag": 0, "NOT": 1, "AND": 2, "OR": 2}[word]
	tree := &tagTree{word: word}
	if n == 2 {
		n = rapid.IntRange(2, 4).Draw(t, "arguments")
	}
	for range n {
		tree.args = append(tree.args, drawTagTree(t, depth-1))
	}
	if word == "tag" {
		tree.tag = rapid.SampledFrom([]string{"a", "b", "c d", "葉", "not", ""}).Draw(t, "tag")
	}
	return tree
}

func (n *tagTree) String() string {
	var args []string
	for _, a := range n.args {
		args = append(args, "("+a.String()+")")
	}
	switch n.word {
	case "tag":
		return `"` + n.tag + `"`
	case "NOT":
		return "NOT " + args[0]
	}
	return strings.Join(args, " "+n.word+" ")
}

func (n *tagTree) holds(tags []string) bool {
	switch n.word {
	case "tag":
		return slices.Contains(tags, n.tag)
	case "NOT":
		return !n.args[0].holds(tags)
	}
	for _, a := range n.args {
		if a.holds(tags) == (n.word == "OR") {
			return n.word == "OR"
		}
	}
	return n.word == "AND"
}

// TestTagsLikeTheirTree draws expressions, and compares for all sets of tags with a plain reading of them.
func TestTagsLikeTheirTree(t *testing.T) {
	all := []string{"a", "b", "c d", "葉", "not", ""}
	rapid.Check(t, func(t *rapid.T) {
		tree := drawTagTree(t, 4)
		e, err := ParseTags(tree.String())
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseTags(e.String())
		if err != nil {
			t.Fatalf("%s gave %s: %v", tree, e, err)
		}
		drivers, driven := e.Tags()
		for set := range 1 << len(all) {
			var tags []string
			for i, tag := range all {
				if set>>i&1 == 1 {
					tags = append(tags, tag)
				}
			}
			want := tree.holds(tags)
			if e.Matches(tags) != want || again.Matches(tags) != want {
				t.Fatalf("%s, again %s, of %q is %v, %v, want %v", e, again, tags, e.Matches(tags), again.Matches(tags), want)
			}
			has := slices.ContainsFunc(drivers, func(d Pattern) bool { return slices.ContainsFunc(tags, d.Match) })
			if driven && want && !has {
				t.Fatalf("%s wants %q, which has none of %s", e, tags, textsOf(drivers))
			}
		}
	})
}

func FuzzParseTags(f *testing.F) {
	for _, seed := range []string{
		"", "(leaf_spot OR rust) AND NOT blurry", `"a ""b" or 'c''d'`, "not not (a)", "葉斑病", "a,b", "leaf_*", `a\*`, "((((", "'", "\xff", "and", "* AND NOT *",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := ParseTags(text)
		if err != nil {
			checkFuzzError(t, err)
			return
		}
		canonical := e.String()
		again, err := ParseTags(canonical)
		if err != nil {
			t.Fatalf("%q gave %q: %v", text, canonical, err)
		}
		if got := again.String(); got != canonical {
			t.Fatalf("%q gave %q, which gave %q", text, canonical, got)
		}
		tags := []string{"a", "leaf_spot", text}
		if e.Matches(tags) != again.Matches(tags) {
			t.Fatalf("%q and %q differ", text, canonical)
		}
		terms, ok := e.Tags()
		if ok && e.Matches(tags) && !slices.ContainsFunc(terms, func(d Pattern) bool { return slices.ContainsFunc(tags, d.Match) }) {
			t.Fatalf("%q wants %q, which has none of %s", text, tags, textsOf(terms))
		}
	})
}
