package selection

// span is a run of rows, from lo up to hi.
type span struct{ lo, hi int }

// spansOf returns the rows that are true.
func spansOf(truths []truth) []span {
	var spans []span
	for i := 0; i < len(truths); i++ {
		if truths[i] != isTrue {
			continue
		}
		lo := i
		for i < len(truths) && truths[i] == isTrue {
			i++
		}
		spans = append(spans, span{lo, i})
	}
	return spans
}

// rowsIn counts the rows of spans.
func rowsIn(spans []span) int {
	n := 0
	for _, s := range spans {
		n += s.hi - s.lo
	}
	return n
}

// shifted returns spans that lie by rows further on.
func shifted(spans []span, by int) []span {
	if by == 0 {
		return spans
	}
	moved := make([]span, len(spans))
	for i, s := range spans {
		moved[i] = span{s.lo + by, s.hi + by}
	}
	return moved
}

// scaled returns the spans of elements of which each row has n.
func scaled(spans []span, n int) []span {
	if n == 1 {
		return spans
	}
	elements := make([]span, len(spans))
	for i, s := range spans {
		elements[i] = span{s.lo * n, s.hi * n}
	}
	return elements
}

// between returns the spans of elements that lie between the offsets of rows.
func between(spans []span, offsets []int32) []span {
	elements := make([]span, len(spans))
	for i, s := range spans {
		elements[i] = span{int(offsets[s.lo]), int(offsets[s.hi])}
	}
	return elements
}
