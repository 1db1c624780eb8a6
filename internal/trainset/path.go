package trainset

import (
	"errors"
	"fmt"
	"io"

	"manifest/internal/accesspath"
	"manifest/internal/selection"
	"manifest/internal/tokensort"
	"manifest/tokenrange"
)

// maxPoints bounds the images whose rows are read one by one.
const maxPoints = 500

// Path chooses how a read reaches its rows. candidates is the run of the candidates, for a read of theirs.
func (p *Plan) Path(read *Read, opts accesspath.Options, candidates string) (accesspath.Path, error) {
	list, why, err := p.listPartitions(read, opts.Partitioner, candidates)
	if err != nil {
		return accesspath.Path{}, err
	}
	path, err := accesspath.Choose(read.Table, list, why, read.keys, opts)
	if err != nil {
		return path, fmt.Errorf("%w: %w", ErrSpec, err)
	}
	return path, nil
}

// listPartitions gives the tokens of all partitions that can hold wanted rows, or nil; and the reason for either.
func (p *Plan) listPartitions(read *Read, partitioner tokenrange.Partitioner, candidates string) ([]tokenrange.Range, string, error) {
	s := p.spec
	var names []selection.Pattern
	what, column := "tags", "tag"
	switch {
	case read.OfCandidates && !partitioner.Hashes():
		return nil, "tokens of this partitioner can't be computed", nil
	case read.OfCandidates:
		return listCandidates(candidates, partitioner)
	case read.Role == Tags:
		names = s.Tags.Mentioned()
	case read.Role == Devices:
		what, column = "devices", "device_id"
		for _, device := range s.Devices {
			names = append(names, selection.ParsePattern(device))
		}
	}
	days := accesspath.Days{From: s.From, To: s.To}
	ranges, why := accesspath.ListDays(read.Table, what, s.column(read.Role, column), names, s.column(read.Role, "day_bucket"), days, partitioner)
	return ranges, why, nil
}

// listCandidates lists the tokens of candidates, if they are few.
func listCandidates(path string, partitioner tokenrange.Partitioner) (ranges []tokenrange.Range, why string, err error) {
	if path == "" {
		return nil, fmt.Sprintf("rows of the chosen images, which are not known yet: up to %d are read by their tokens", maxPoints), nil
	}
	r, err := tokensort.Open(path)
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if r.Rows() == 0 {
		// Any one token tells that nothing is wanted.
		return []tokenrange.Range{tokenrange.RangeOf(partitioner.Ring().End)}, "no image was chosen", nil
	}
	if r.Rows() > maxPoints {
		return nil, fmt.Sprintf("rows of %d images: more than %d are merged with a scan", r.Rows(), maxPoints), nil
	}
	var tokens []tokenrange.Token
	for {
		if err := r.Next(); errors.Is(err, io.EOF) {
			return accesspath.RangesOf(tokens), fmt.Sprintf("rows of %d images alone", len(tokens)), nil
		} else if err != nil {
			return nil, "", err
		}
		t, err := tokensort.TokenOf(r.Key())
		if err != nil {
			return nil, "", err
		}
		tokens = append(tokens, t)
	}
}
