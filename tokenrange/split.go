package tokenrange

// Split is a range to be read in one piece: the unit of work, of retry and of commit.
type Split struct {
	ID         string   `json:"id"` // Range.ID(): stable, safe as a file name, in token order
	Range      Range    `json:"range"`
	Replicas   []string `json:"replicas,omitempty"` // ids of the nodes to read from, preferred first; none: any node
	Partitions int64    `json:"partitions"`         // estimate; 0 where nothing is known
	Bytes      int64    `json:"bytes"`              // estimate of one replica's data; 0 where nothing is known
}

// NewSplit returns the split of a range without estimates.
func NewSplit(r Range, replicas ...string) Split {
	return Split{ID: r.ID(), Range: r, Replicas: replicas}
}

// Halve cuts a split in two of equal numbers of tokens that share its replicas and divide its
// estimates; ok is false where it holds a single token.
func (s Split) Halve() (a, b Split, ok bool) {
	left, right, ok := s.Range.Halve()
	if !ok {
		return Split{}, Split{}, false
	}
	a, b = s.part(left), s.part(right)
	// What rounding took from the one half is in the other.
	b.Partitions, b.Bytes = s.Partitions-a.Partitions, s.Bytes-a.Bytes
	return a, b, true
}

// preferred returns the node to read from first, "" where that is any.
func (s Split) preferred() string {
	if len(s.Replicas) == 0 {
		return ""
	}
	return s.Replicas[0]
}

// part returns the split of a part of the range, with that part of the estimates.
func (s Split) part(r Range) Split {
	share := r.Fraction(s.Range)
	p := NewSplit(r, s.Replicas...)
	p.Partitions = min(saturate(float64(s.Partitions)*share), s.Partitions)
	p.Bytes = min(saturate(float64(s.Bytes)*share), s.Bytes)
	return p
}
