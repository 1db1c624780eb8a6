package sampling

import (
	"fmt"
	"math/big"
	"regexp"
	"strings"
)

// Share is an exact part of a whole, from 0 to 1. The zero Share is none at all, which is not a share of 0.
type Share struct{ text string }

var decimal = regexp.MustCompile(`^([0-9]+(\.[0-9]+)?|\.[0-9]+)%?$`)

// ParseShare reads a decimal such as 0.8 or a percentage such as 80%.
func ParseShare(s string) (Share, error) {
	if len(s) > 40 || !decimal.MatchString(s) {
		return Share{}, fmt.Errorf("%w: %q is no share such as 0.8 or 80%%", ErrOptions, s)
	}
	share := Share{s}
	if share.rat().Cmp(big.NewRat(1, 1)) > 0 {
		return Share{}, fmt.Errorf("%w: %s is more than everything", ErrOptions, s)
	}
	return share, nil
}

// IsSet tells whether there is a share.
func (s Share) IsSet() bool { return s.text != "" }

// String is the text that was parsed.
func (s Share) String() string { return s.text }

func (s Share) rat() *big.Rat {
	digits, percent := strings.CutSuffix(s.text, "%")
	r, ok := new(big.Rat).SetString(digits)
	if !ok {
		return new(big.Rat)
	}
	if percent {
		r.Quo(r, big.NewRat(100, 1))
	}
	return r
}

// threshold is the largest whole number not above r * 2^bits.
func threshold(r *big.Rat, bits uint) *big.Int {
	n := new(big.Int).Lsh(r.Num(), bits)
	return n.Quo(n, r.Denom())
}

// Split is a part of a dataset.
type Split struct {
	Name  string
	Share Share
}

var splitName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,63}$`)

// maxSplits bounds the number of splits, which is a byte of each decision.
const maxSplits = 64

// ParseSplits reads names and shares such as train=0.8,validation=0.1,test=0.1. The shares add up to exactly 1.
func ParseSplits(s string) ([]Split, error) {
	var splits []Split
	sum := new(big.Rat)
	for part := range strings.SplitSeq(s, ",") {
		name, text, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok || !splitName.MatchString(name) {
			return nil, fmt.Errorf("%w: %q is no name and share such as train=0.8", ErrOptions, part)
		}
		share, err := ParseShare(text)
		if err != nil {
			return nil, err
		}
		for _, before := range splits {
			if before.Name == name {
				return nil, fmt.Errorf("%w: split %s is there twice", ErrOptions, name)
			}
		}
		sum.Add(sum, share.rat())
		splits = append(splits, Split{name, share})
	}
	if len(splits) > maxSplits {
		return nil, fmt.Errorf("%w: %d splits; %d are the most", ErrOptions, len(splits), maxSplits)
	}
	if sum.Cmp(big.NewRat(1, 1)) != 0 {
		return nil, fmt.Errorf("%w: the shares of %s add up to %s, not 1", ErrOptions, s, sum.FloatString(6))
	}
	return splits, nil
}

// splitter chooses splits by thresholds: a unit is in the first split whose threshold is above its bucket.
type splitter struct {
	salt       string
	thresholds []uint64 // of all but the last split, which takes the rest
}

func newSplitter(salt string, splits []Split) splitter {
	s := splitter{salt: salt}
	sum := new(big.Rat)
	for _, split := range splits[:max(0, len(splits)-1)] {
		sum.Add(sum, split.Share.rat())
		t := threshold(sum, 64)
		if !t.IsUint64() { // everything, before the last split
			break
		}
		s.thresholds = append(s.thresholds, t.Uint64())
	}
	return s
}

// of gives the number of the split of a unit.
func (s splitter) of(unit int64) int {
	b := bucket(s.salt, unit)
	for i, t := range s.thresholds {
		if b < t {
			return i
		}
	}
	return len(s.thresholds)
}

// SplitOf names the split of a unit, which is a group where nothing connects groups.
func SplitOf(salt string, splits []Split, unit int64) string {
	return splits[newSplitter(salt, splits).of(unit)].Name
}

// Keeps tells whether the share keeps an image of that sample hash.
func (s Share) Keeps(hash int64) bool { return newFraction(s).keeps(hash) }
