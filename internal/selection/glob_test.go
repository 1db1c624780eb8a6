package selection

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestGlob(t *testing.T) {
	for _, tc := range []struct{ pattern, fits, not string }{ // texts with | between them
		{"cam-*", "cam-|cam-1|cam-*", "Cam-1|cam|xcam-1"},
		{"*-1", "-1|cam-1", "cam-12|1"},
		{"*a*", "a|bab|aa", "b|"},
		{"a?c", "abc|a葉c|a?c", "ac|abbc"},
		{"??", "ab|葉🍃", "a|abc|葉"},
		{"*?", "a|葉a", ""},
		{"a*b*c", "abc|aXbXc|abbcc", "acb|ab|ac"},
		{"aa*aa", "aaaa|aaxaa", "aaa|aa"},
		{"*ab?", "abc|xabab葉", "ab|abcd"},
		{"*a?b*", "xaybz|aab", "ab|xabz"},
		{"", "", "a"},
		{"**", "|a", ""},
		{`\*`, "*", `a|\*`},
		{`\?\\`, `?\`, `a\`},
		{`\a*`, `\a|\ab`, "a"},
		{`a*\`, `a\|ab\`, "a"},
		{"[a]*", "[a]|[a]b", "a"},
		{"葉*🍃", "葉🍃|葉a🍃", "葉"},
	} {
		g := newGlob(tc.pattern)
		for s := range strings.SplitSeq(tc.fits, "|") {
			if !g.match(s) {
				t.Errorf("pattern %s does not fit %q", tc.pattern, s)
			}
		}
		for s := range strings.SplitSeq(tc.not, "|") {
			if s != "" && g.match(s) {
				t.Errorf("pattern %s fits %q", tc.pattern, s)
			}
		}
	}
}

// TestGlobLikeRegexp compares with regular expressions, on few letters so that patterns often nearly fit.
func TestGlobLikeRegexp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringMatching(`[ab葉*?\\]{0,10}`).Draw(t, "pattern")
		s := rapid.StringMatching(`[ab葉*?\\]{0,12}`).Draw(t, "text")
		var re strings.Builder
		runes := []rune(pattern)
		for i := 0; i < len(runes); i++ {
			switch r := runes[i]; {
			case r == '\\' && i+1 < len(runes) && strings.ContainsRune(`*?\`, runes[i+1]):
				i++
				re.WriteString(regexp.QuoteMeta(string(runes[i])))
			case r == '*':
				re.WriteString(".*")
			case r == '?':
				re.WriteString(".")
			default:
				re.WriteString(regexp.QuoteMeta(string(r)))
			}
		}
		g := newGlob(pattern)
		if got, want := g.match(s), regexp.MustCompile(`(?s)^(`+re.String()+`)$`).MatchString(s); got != want {
			t.Fatalf("pattern %s fits %q: %v, want %v", pattern, s, got, want)
		}
		exact := newGlob(EscapeGlob(s))
		if strings.ContainsAny(s, "*?") && !exact.match(s) {
			t.Fatalf("escaped %s does not fit %q", EscapeGlob(s), s)
		}
		if p := ParsePattern(EscapeGlob(s)); p.Glob || p.Text != s || !p.Match(s) {
			t.Fatalf("escaped %s is %v, want %q alone", EscapeGlob(s), p, s)
		}
	})
}

// TestHostileGlobIsFast would take years if a star went back over those before it.
func TestHostileGlobIsFast(t *testing.T) {
	g := newGlob(strings.Repeat("*a?", 1000) + "b")
	text := strings.Repeat("a", 20_000)
	done := make(chan bool, 1)
	go func() { done <- g.match(text) }()
	select {
	case got := <-done:
		if got {
			t.Error("it fits")
		}
	case <-time.After(time.Minute):
		t.Fatal("no answer within a minute")
	}
}
