package tokenrange

// Within returns the parts of r with the nodes that hold each, in token order. Neighbours with
// the same set of replicas are one part, and the parts tile r.
func (p Placement) Within(r Range) []ReplicaRange {
	var parts []ReplicaRange
	first, end := p.within(r)
	for i := first; i < end; i++ {
		part, _ := p.arcs[i].Range.Intersect(r)
		if i > first && p.sameReplicas(i-1, i) {
			parts[len(parts)-1].Range.End = part.End
			continue
		}
		parts = append(parts, ReplicaRange{part, p.ids(p.of(i))})
	}
	return parts
}

// Replan returns the splits to read in place of s, which was planned under the placement
// before: they tile its range, divide its estimates, and have the replicas of p.
//
// A split that lay within one set of replicas is cut where it no longer does, because it is read
// best from a node that holds all of it. One that was made of several sets, as in a small table
// on a large ring, stays whole.
func (p Placement) Replan(s Split, before Placement) []Split {
	if len(before.Within(s.Range)) > 1 {
		s.Replicas = p.Replicas(s.Range)
		return []Split{s}
	}
	var splits []Split
	partitions, bytes := s.Partitions, s.Bytes // that are left
	for _, part := range p.Within(s.Range) {
		piece := s.part(part.Range)
		piece.Replicas = part.Replicas
		// Several parts may be rounded up: together they are no more than the whole.
		piece.Partitions, piece.Bytes = min(piece.Partitions, partitions), min(piece.Bytes, bytes)
		partitions, bytes = partitions-piece.Partitions, bytes-piece.Bytes
		splits = append(splits, piece)
	}
	// What rounding took from the others is in the last.
	last := &splits[len(splits)-1]
	last.Partitions, last.Bytes = last.Partitions+partitions, last.Bytes+bytes
	return splits
}
