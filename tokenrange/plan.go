package tokenrange

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// planVersion is the version of a plan's JSON form.
const planVersion = 1

// Basis says what the number of splits of a plan follows from.
type Basis string

// What the number of splits can follow from.
const (
	ByCount     Basis = "count"     // PlanOptions.Splits
	ByEstimates Basis = "estimates" // the estimated size of the table
	ByRing      Basis = "ring"      // the number of nodes, for want of estimates
	ByRanges    Basis = "ranges"    // PlanOptions.Ranges
)

// Plan is the splits that tile the asked part of the ring: each token of it is in exactly one.
//
// The JSON form has the fields below and a version. It reads back equal, and reading it proves
// the tiling again, so that a plan file damaged or edited can't lose a part of the table.
type Plan struct {
	Partitioner string  `json:"partitioner"` // its Java class
	Basis       Basis   `json:"basis"`
	Seed        uint64  `json:"seed"`
	Asked       []Range `json:"asked"`  // the asked part, in token order
	Splits      []Split `json:"splits"` // in the order of work, shuffled by Seed
}

// Check returns nil where the splits tile the asked part, have the ids of their ranges and no
// negative estimate. Otherwise the error is a [*TilingError] or wraps [ErrMalformed].
func (p Plan) Check() error {
	for _, s := range p.Splits {
		if s.ID != s.Range.ID() {
			return fmt.Errorf("split %q is named for another range than its own %s: %w", s.ID, s.Range, ErrMalformed)
		}
		if s.Partitions < 0 || s.Bytes < 0 {
			return fmt.Errorf("split %s has a negative estimate: %w", s.ID, ErrMalformed)
		}
	}
	return CheckTiling(NewIntervalSet(p.Asked...), p.Ranges())
}

// Ranges returns the ranges of the splits, in the order of work.
func (p Plan) Ranges() []Range {
	ranges := make([]Range, len(p.Splits))
	for i, s := range p.Splits {
		ranges[i] = s.Range
	}
	return ranges
}

// ByToken returns the splits in token order, as a new slice.
func (p Plan) ByToken() []Split {
	return slices.SortedFunc(slices.Values(p.Splits), func(a, b Split) int { return a.Range.Compare(b.Range) })
}

// Remaining returns the plan of what is not done yet, with the splits in the same order. A split
// that is done in part is replaced by what is left of it, so that work resumes from any set of
// ranges and needs no splits equal to those of before.
func (p Plan) Remaining(done IntervalSet) Plan {
	left := p
	left.Asked = append([]Range{}, NewIntervalSet(p.Asked...).Minus(done).ranges...)
	left.Splits = []Split{}
	for _, s := range p.Splits {
		for r := range NewIntervalSet(s.Range).Minus(done).All() {
			left.Splits = append(left.Splits, s.part(r))
		}
	}
	return left
}

// NodeLoad is what a plan asks of one node as the preferred replica.
type NodeLoad struct {
	Node       string `json:"node"` // its id; "" for the splits that have no replica
	Splits     int    `json:"splits"`
	Partitions int64  `json:"partitions"` // estimate
	Bytes      int64  `json:"bytes"`      // estimate
}

// Load returns what the plan asks of each node that is preferred for some split, sorted by id.
func (p Plan) Load() []NodeLoad {
	loads := make(map[string]NodeLoad)
	for _, s := range p.Splits {
		l := loads[s.preferred()]
		l.Node = s.preferred()
		l.Splits++
		l.Partitions = addSaturated(l.Partitions, s.Partitions)
		l.Bytes = addSaturated(l.Bytes, s.Bytes)
		loads[l.Node] = l
	}
	return slices.SortedFunc(maps.Values(loads), func(a, b NodeLoad) int { return strings.Compare(a.Node, b.Node) })
}

// planFile is the JSON form of a plan.
type planFile struct {
	Version int `json:"version"`
	planFields
}

// planFields is a Plan without its methods, whose fields encode as usual.
type planFields Plan

// MarshalJSON returns the plan's JSON form.
func (p Plan) MarshalJSON() ([]byte, error) {
	return json.Marshal(planFile{planVersion, planFields(p)})
}

// UnmarshalJSON reads a plan's JSON form and checks it. It errs with [ErrPlanVersion] on another
// version, with [ErrOutOfRing] on tokens that are not the partitioner's, and as [Plan.Check] does.
func (p *Plan) UnmarshalJSON(data []byte) error {
	var file planFile
	if err := json.Unmarshal(data, &file); err != nil {
		return fmt.Errorf("read plan: %w", err)
	}
	if file.Version != planVersion {
		return fmt.Errorf("read plan: %w %d", ErrPlanVersion, file.Version)
	}
	plan := Plan(file.planFields)
	if plan.Partitioner == "" {
		return fmt.Errorf("read plan: no partitioner: %w", ErrMalformed)
	}
	partitioner, err := PartitionerByName(plan.Partitioner)
	if err != nil {
		partitioner = ExplicitPartitioner(plan.Partitioner)
	}
	for _, r := range plan.Asked {
		if err := partitioner.checkRange(r); err != nil {
			return fmt.Errorf("read plan: asked part: %w", err)
		}
	}
	if err := plan.Check(); err != nil {
		return fmt.Errorf("read plan: %w", err)
	}
	*p = plan
	return nil
}
