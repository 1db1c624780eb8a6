package sampling

import (
	"context"
	"errors"
	"fmt"

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
	sorter *tokensort.Sorter
	rows   int64
	key    []byte
}

// maxExamples bounds what a proof names.
const maxExamples = 5

// NewProver makes a prover. Close removes what it leaves on the disk.
func NewProver(opts tokensort.Options) (*Prover, error) {
	s, err := tokensort.NewSorter(opts)
	return &Prover{sorter: s}, err
}

// Add takes a row: its image's id, its group and content hash, which may be empty, and its split.
func (p *Prover) Add(id []byte, group int64, contentHash []byte, split string) error {
	p.rows++
	value := []byte(split)
	p.key = append(append(p.key[:0], 'i'), id...)
	if err := p.sorter.Add(p.key, value); err != nil {
		return err
	}
	p.key = appendID(append(p.key[:0], 'g'), group)
	if err := p.sorter.Add(p.key, value); err != nil {
		return err
	}
	if len(contentHash) == 0 {
		return nil
	}
	p.key = append(append(p.key[:0], 'h'), contentHash...)
	return p.sorter.Add(p.key, value)
}

// Prove reads all rows again, in order.
func (p *Prover) Prove(ctx context.Context) (Proof, error) {
	proof := Proof{Rows: p.rows}
	if err := p.sorter.Sort(ctx); err != nil {
		return proof, err
	}
	in, err := p.sorter.Open()
	if err != nil {
		return proof, err
	}
	var last, split []byte
	var rows int64
	across := false
	end := func() error {
		if rows == 0 {
			return nil
		}
		return proof.take(last, rows, across)
	}
	err = tokensort.Each(ctx, in, func(key, value []byte) error {
		if rows > 0 && string(last) == string(key) {
			rows++
			across = across || string(split) != string(value)
			return nil
		}
		err := end()
		last, split, rows, across = append(last[:0], key...), append(split[:0], value...), 1, false
		return err
	})
	return proof, errors.Join(err, end())
}

// take counts what has been found of one key.
func (p *Proof) take(key []byte, rows int64, across bool) error {
	fault := ""
	switch name := key[1:]; key[0] {
	case 'i':
		p.Repeated += rows - 1
		if rows > 1 {
			fault = fmt.Sprintf("image %s is there %d times", name, rows)
		}
	case 'g':
		p.Groups++
		if across {
			group, err := parseID(name)
			if err != nil {
				return err
			}
			p.GroupsAcross++
			fault = fmt.Sprintf("group %d is in several splits", group)
		}
	default:
		p.Hashes++
		if rows > 1 {
			p.SharedHashes++
		}
		if across {
			p.HashesAcross++
			fault = fmt.Sprintf("content hash %s is in several splits", name)
		}
	}
	if fault != "" && len(p.Examples) < maxExamples {
		p.Examples = append(p.Examples, fault)
	}
	return nil
}

// Close removes what is on the disk.
func (p *Prover) Close() error { return p.sorter.Close() }
