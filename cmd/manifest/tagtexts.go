package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"manifest/internal/selection"
)

// tagTexts are what --tags says: with --table lists of tags, for a training
// manifest an expression. Several mean any of them.
type tagTexts []string

func (t *tagTexts) Set(s string) error {
	*t = append(*t, s)
	return nil
}

func (t *tagTexts) String() string { return strings.Join(*t, ",") }
func (t *tagTexts) Type() string   { return "tags" }

// list reads the texts as lists with commas; what has one inside is in double quotes.
func (t *tagTexts) list() ([]string, error) {
	var all []string
	for _, text := range *t {
		values, err := csv.NewReader(strings.NewReader(text)).Read()
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("--tags %q: %w", text, err)
		}
		all = append(all, values...)
	}
	return all, nil
}

// expression reads the texts as expressions; nil if there are none.
func (t *tagTexts) expression() (*selection.TagExpr, error) {
	text := ""
	switch len(*t) {
	case 0:
		return nil, nil
	case 1:
		text = (*t)[0]
	default:
		text = "(" + strings.Join(*t, ") OR (") + ")"
	}
	e, err := selection.ParseTags(text)
	if err != nil {
		return nil, fmt.Errorf("--tags: %w", err)
	}
	return e, nil
}
