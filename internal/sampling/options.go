package sampling

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"manifest/internal/tokensort"
)

// Options say what is kept. The zero value keeps all rows, in one split.
type Options struct {
	// Salt makes other samples and splits of the same rows. It has no zero bytes.
	Salt string

	// Dedupe keeps one row of each content hash.
	Dedupe bool

	// Fraction is how much of the rows is kept. Not set, all are.
	Fraction Share

	// Caps are applied one after the other: of the rows with an equal Row.Strata[i], at most Caps[i] are kept. 0 is no cap.
	Caps []int64

	// Limit is how many rows are kept at most, behind the caps. 0 is no limit. With Balance they come from strata as equally as these
	// allow: no stratum gives a row more than another that has more to give, up to one. Row.Balance is the stratum.
	Limit   int64
	Balance bool

	// Splits, in the order of their thresholds. None stands for one, which has no name here.
	Splits []Split

	// Connect joins the groups that share a content hash into one unit. It has no effect with Dedupe, which leaves no hash in two groups.
	Connect bool

	// Pins keep groups in the splits that they are in already; nil keeps none.
	Pins *Pins

	// Dir takes what does not fit Memory. Defaults as in tokensort.
	Dir string
	// Memory is about the most that is held at a time. Default 256 MiB.
	Memory int64
}

func (o Options) withDefaults() Options {
	o.Memory = cmp.Or(o.Memory, 256<<20)
	return o
}

// Validate reports all settings that make no sense, joined.
func (o Options) Validate() error {
	var errs []error
	fault := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%w: "+format, append([]any{ErrOptions}, args...)...))
	}
	if strings.ContainsRune(o.Salt, 0) {
		fault("a salt with a zero byte")
	}
	if o.Limit < 0 {
		fault("a limit of %d rows", o.Limit)
	}
	if o.Balance && o.Limit == 0 {
		fault("strata are balanced to reach a limit, and there is none")
	}
	for _, c := range o.Caps {
		if c < 0 {
			fault("a cap of %d rows", c)
		}
	}
	if o.Memory < 0 {
		fault("memory of %d bytes", o.Memory)
	}
	return errors.Join(errs...)
}

// AtOnce tells whether each row can be decided about by itself where rows come in the order of their sample hashes, by an [Ordered]:
// nothing was asked for that looks at all rows of a content hash, a stratum or a group.
func (o Options) AtOnce() bool {
	capped := slices.ContainsFunc(o.Caps, func(n int64) bool { return n > 0 })
	return !o.Dedupe && !o.Connect && !o.Balance && !capped && o.Pins == nil
}

// check refuses a row that can't be decided about.
func (o Options) check(r Row) error {
	if len(r.Name) == 0 {
		return fmt.Errorf("%w: it has no id", ErrRow)
	}
	if len(r.Strata) != len(o.Caps) {
		return fmt.Errorf("%w: %d strata for %d caps", ErrRow, len(r.Strata), len(o.Caps))
	}
	return nil
}

// sorting gives the options of a sorter. A stage fills one while it reads another, and the decisions are in a third; the rest is for what
// the collector has not yet freed.
func (o Options) sorting() tokensort.Options {
	return tokensort.Options{Dir: o.Dir, Memory: max(1<<16, o.Memory/8), FanIn: int(max(4, min(64, o.Memory/(2<<20))))}
}
