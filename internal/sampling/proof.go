package sampling

import (
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"

	"manifest/internal/tokensort"
)

// Proof says of the rows of a dataset what no split may break.
type Proof struct {
	Rows int64 `json:"rows"`
	// Repeated rows have the image of another row.
	Repeated int64 `json:"repeated"`
	Groups   int64 `json:"groups"`
	// GroupsAcross are groups with rows in several splits.
	GroupsAcross int64 `json:"groups_across_splits"`
	Hashes       int64 `json:"content_hashes"`
	// HashesAcross are content hashes with rows in several splits.
	HashesAcross int64 `json:"content_hashes_across_splits"`
	// SharedHashes are content hashes of several rows.
	SharedHashes int64 `json:"content_hashes_shared"`
	// Examples name some of the images, groups and hashes that break the rules.
	Examples []string `json:"examples,omitempty"`
}

// Holds tells whether nothing is repeated, and nothing is in several splits.
func (p Proof) Holds() bool { return p.Repeated == 0 && p.GroupsAcross == 0 && p.HashesAcross == 0 }

// Prover reads the final rows of a dataset, in any order, and tells what is in several splits. It belongs to one goroutine.
type Prover struct {
	of   [kinds]*tokensort.Sorter // what rows have of a kind -> their splits
	rows int64
	key  []byte
}

// The kinds of what no split may break.
const (
	images = iota
	groups
	hashes
	kinds
)

// maxExamples bounds what a proof names.
const maxExamples = 5

// NewProver makes a prover of three sorters, one for each kind, with these options. Close removes what it leaves on the disk.
func NewProver(opts tokensort.Options) (*Prover, error) {
	p := &Prover{}
	for kind := range p.of {
		var err error
		if p.of[kind], err = tokensort.NewSorter(opts); err != nil {
			return nil, errors.Join(err, p.Close())
		}
	}
	return p, nil
}

// Add takes a row: its image's id, its group and content hash, which may be empty, and its split.
func (p *Prover) Add(id []byte, group int64, contentHash []byte, split string) error {
	p.rows++
	value := []byte(split)
	p.key = appendID(p.key[:0], group)
	if err := errors.Join(p.of[images].Add(id, value), p.of[groups].Add(p.key, value)); err != nil || len(contentHash) == 0 {
		return err
	}
	return p.of[hashes].Add(contentHash, value)
}

// Prove reads all rows again, in order, the kinds at the same time.
func (p *Prover) Prove(ctx context.Context) (Proof, error) {
	var of [kinds]Proof
	g, ctx := errgroup.WithContext(ctx)
	for kind, rows := range p.of {
		g.Go(func() error { return of[kind].read(ctx, kind, rows) })
	}
	err := g.Wait()
	proof := Proof{Rows: p.rows}
	for _, o := range of {
		proof.Repeated += o.Repeated
		proof.Groups += o.Groups
		proof.GroupsAcross += o.GroupsAcross
		proof.Hashes += o.Hashes
		proof.HashesAcross += o.HashesAcross
		proof.SharedHashes += o.SharedHashes
		proof.Examples = append(proof.Examples, o.Examples...)
	}
	if len(proof.Examples) > maxExamples {
		proof.Examples = proof.Examples[:maxExamples]
	}
	return proof, err
}

// read counts what rows have of a kind. Most keys are there once, and nothing is looked at of these.
func (p *Proof) read(ctx context.Context, kind int, of *tokensort.Sorter) error {
	if err := of.Sort(ctx); err != nil {
		return err
	}
	in, err := of.Open()
	if err != nil {
		return err
	}
	defer in.Close() // only reads
	rows := tokensort.NewRepeats(in)
	var one repeated // the key at hand
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		repeats, err := rows.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if !repeats {
			p.take(kind, one)
			one = repeated{key: one.key[:0], rows: 1}
			continue
		}
		if one.rows == 1 {
			one.key = append(one.key, rows.Key()...)
		}
		one.rows++
		one.across = one.across || string(rows.Value()) != string(rows.ValueBefore())
	}
	p.take(kind, one)
	return nil
}

// repeated is a key, the number of its rows, and whether these are in several splits. The key of a single row is not known.
type repeated struct {
	key    []byte
	rows   int64
	across bool
}

// take counts what has been found of one key.
func (p *Proof) take(kind int, of repeated) {
	if of.rows == 0 { // before the first
		return
	}
	fault := ""
	switch kind {
	case images:
		p.Repeated += of.rows - 1
		if of.rows > 1 {
			fault = fmt.Sprintf("image %s is there %d times", of.key, of.rows)
		}
	case groups:
		p.Groups++
		if of.across {
			p.GroupsAcross++
			group, _ := parseID(of.key) // which Add made
			fault = fmt.Sprintf("group %d is in several splits", group)
		}
	case hashes:
		p.Hashes++
		if of.rows > 1 {
			p.SharedHashes++
		}
		if of.across {
			p.HashesAcross++
			fault = fmt.Sprintf("content hash %s is in several splits", of.key)
		}
	}
	if fault != "" && len(p.Examples) < maxExamples {
		p.Examples = append(p.Examples, fault)
	}
}

// Close removes what is on the disk.
func (p *Prover) Close() error {
	var errs []error
	for _, s := range p.of {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	return errors.Join(errs...)
}
