package ledger

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"manifest/tokenrange"
)

// Format is the version of the ledgers that this package writes. A change that
// an older reader must not ignore makes it grow; new fields and new kinds of
// line do not.
const Format = 1

// Header says what a run reads. Everything but the first four fields has to be
// the same for [Resume] to go on with a run.
type Header struct {
	// Format is the version of the ledger; [Create] sets it.
	Format int `json:"format"`
	// Run is the run's id.
	Run string `json:"run"`
	// Tool is the version of the program that began the run.
	Tool string `json:"tool"`
	// Created is when that was, in UTC.
	Created time.Time `json:"created"`

	// Table is keyspace.table.
	Table string `json:"table"`
	// Schema is a hash of the table's columns as far as they matter to the run.
	Schema string `json:"schema"`
	// Partitioner is the name of the table's partitioner.
	Partitioner string `json:"partitioner"`
	// Asked are the token ranges that the run has to cover, in any order. How
	// they are cut into splits is no matter.
	Asked []tokenrange.Range `json:"asked"`
	// Options are whatever else changes the result, in the order in which they
	// should be shown. An option that is absent counts as the empty value, so
	// that a later version can add one whose empty value means what the earlier
	// versions did. Values are shown to the user and must not be secret.
	Options []Option `json:"options"`
}

// Option is a setting that changes the result of a run.
type Option struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Validate reports everything that keeps the header from naming a run.
func (h Header) Validate() error {
	var errs []error
	for _, f := range []struct{ name, value string }{
		{"run id", h.Run}, {"table", h.Table}, {"schema hash", h.Schema}, {"partitioner", h.Partitioner},
	} {
		if f.value == "" {
			errs = append(errs, fmt.Errorf("no %s", f.name))
		}
	}
	if len(h.Asked) == 0 {
		errs = append(errs, errors.New("no token range is asked for"))
	}
	for _, r := range h.Asked {
		if !r.IsValid() {
			errs = append(errs, fmt.Errorf("asked range %v: %w", r, tokenrange.ErrEmptyRange))
		}
	}
	seen := map[string]bool{}
	for _, o := range h.Options {
		if o.Name == "" || seen[o.Name] {
			errs = append(errs, fmt.Errorf("option %q has no name of its own", o.Name))
		}
		seen[o.Name] = true
	}
	return errors.Join(errs...)
}

// differences are the values of h that are others in now.
func (h Header) differences(now Header) []Difference {
	var found []Difference
	compare := func(name, old, new string) {
		if old != new {
			found = append(found, Difference{name, old, new})
		}
	}
	compare("table", h.Table, now.Table)
	compare("schema", h.Schema, now.Schema)
	compare("partitioner", h.Partitioner, now.Partitioner)
	compare("token ranges", describe(h.Asked), describe(now.Asked))
	for _, o := range now.Options {
		compare(o.Name, h.option(o.Name), o.Value)
	}
	for _, o := range h.Options {
		if !now.names(o.Name) {
			compare(o.Name, o.Value, "")
		}
	}
	return found
}

func (h Header) names(option string) bool {
	return slices.ContainsFunc(h.Options, func(o Option) bool { return o.Name == option })
}

func (h Header) option(name string) string {
	for _, o := range h.Options {
		if o.Name == name {
			return o.Value
		}
	}
	return ""
}

// describe gives the tokens in the ranges, however they are cut.
func describe(ranges []tokenrange.Range) string {
	var b strings.Builder
	for r := range tokenrange.NewIntervalSet(ranges...).All() {
		if b.Len() > 0 {
			b.WriteString(" ")
		}
		b.WriteString(r.String())
	}
	return b.String()
}
