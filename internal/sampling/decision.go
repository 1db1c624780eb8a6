package sampling

import (
	"encoding/binary"
	"fmt"
	"math"

	"manifest/internal/tokensort"
)

// Outcome is what becomes of a row.
type Outcome byte

const (
	// Kept rows are in a split.
	Kept Outcome = iota
	// Duplicate rows have the content hash of another, which stays: Decision.Of.
	Duplicate
	// PinnedApart rows belong to a unit whose groups are in several splits of the older manifest.
	PinnedApart
)

// Decision is what becomes of a row. Rows that no sample took have none.
type Decision struct {
	Outcome Outcome
	Split   int    // number of the split of a kept row
	Of      []byte // name of the row of which this is a duplicate
	Group   int64  // id of its group

	SampleHash int64
	// Weight is 1 / the probability with which the row was to be kept.
	Weight float32
	// Duplicates is how many rows were left out for this one.
	Duplicates uint32
}

// Append appends the decision, for [ParseDecision].
func (d Decision) Append(dst []byte) []byte {
	dst = append(dst, byte(d.Outcome), byte(d.Split))
	dst = appendBytes(dst, d.Of)
	dst = binary.BigEndian.AppendUint64(dst, uint64(d.Group))
	dst = binary.BigEndian.AppendUint64(dst, uint64(d.SampleHash))
	dst = binary.BigEndian.AppendUint32(dst, math.Float32bits(d.Weight))
	return binary.BigEndian.AppendUint32(dst, d.Duplicates)
}

// ParseDecision reads a value of the stream of decisions; the decision shares its bytes.
func ParseDecision(value []byte) (Decision, error) {
	d := decoder{src: value}
	head := d.take(2)
	if head == nil || Outcome(head[0]) > PinnedApart {
		return Decision{}, fmt.Errorf("%w: a decision", tokensort.ErrCorrupt)
	}
	decision := Decision{Outcome: Outcome(head[0]), Split: int(head[1]), Of: d.bytes()}
	decision.Group, decision.SampleHash = int64(d.uint64()), int64(d.uint64())
	decision.Weight, decision.Duplicates = math.Float32frombits(d.uint32()), d.uint32()
	return decision, d.err()
}

// Counts tells how many rows there were.
type Counts struct {
	Rows       int64 // added
	NoHash     int64 // of these, without a content hash
	Duplicates int64 // left out as such
	// Stages are the rows that were left behind each stage of sampling that was asked for, in order.
	Stages []StageCount
	// Apart are rows of units pinned to several splits.
	Apart int64
	// Kept rows in each split.
	Kept []int64
	// Connected is the number of groups that share content hashes with others and went the way of their unit.
	Connected int64
}

// StageCount is the rows that a stage left.
type StageCount struct {
	Stage string
	Rows  int64
}

// Decisions are in the order of the rows' ids.
type Decisions struct {
	Counts Counts
	sorter *tokensort.Sorter
}

// Open gives the decisions, by ID; ParseDecision reads the values. It can be called again.
func (d *Decisions) Open() (tokensort.Stream, error) { return d.sorter.Open() }

// Close removes what is on the disk.
func (d *Decisions) Close() error { return d.sorter.Close() }
