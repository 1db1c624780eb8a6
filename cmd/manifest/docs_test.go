package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	codeBlock = regexp.MustCompile("(?ms)^```[a-z]*\n(.*?)^```")
	// A command line in a block: at its beginning, after the user of a cron
	// line, or of a service.
	commandLine = regexp.MustCompile(`(?m)(?:^|[ =/])manifest ((?:stats|export|plan|doctor|verify|version|diff|explain)\b[^#\n|]*)`)
	shellWord   = regexp.MustCompile(`"[^"]*"|'[^']*'|[^\s"']+`)
)

// Every command line in the documents has to be one that this binary takes.
func TestDocumentsShowCommandsThatExist(t *testing.T) {
	paths := []string{"../../README.md"}
	more, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, path := range append(paths, more...) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range codeBlock.FindAllStringSubmatch(string(text), -1) {
			joined := strings.ReplaceAll(block[1], "\\\n", " ")
			for _, line := range commandLine.FindAllStringSubmatch(joined, -1) {
				found++
				words := shellWord.FindAllString(line[1], -1)
				for i, w := range words {
					words[i] = strings.Trim(w, `"'`)
				}
				command, rest, err := newRootCommand().Find(words)
				if err == nil {
					err = command.ParseFlags(rest)
				}
				if err != nil {
					t.Errorf("%s: manifest %s: %v", filepath.Base(path), line[1], err)
				}
			}
		}
	}
	if found < 10 {
		t.Errorf("found %d command lines only: they are looked for in the wrong way", found)
	}
}

var (
	testInDocument = regexp.MustCompile("`(Test[A-Za-z]+)")
	testInCode     = regexp.MustCompile(`(?m)^func (Test[A-Za-z]+)\(`)
)

// Every test that the documents name has to be there.
func TestDocumentsNameTestsThatExist(t *testing.T) {
	tests := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range testInCode.FindAllStringSubmatch(string(text), -1) {
			tests[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range testInDocument.FindAllStringSubmatch(string(text), -1) {
			found++
			if !tests[m[1]] {
				t.Errorf("%s names %s, which is not there", filepath.Base(path), m[1])
			}
		}
	}
	if found < 10 {
		t.Errorf("found the names of %d tests only: they are looked for in the wrong way", found)
	}
}
