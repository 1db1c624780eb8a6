package merge

// queue gives the smallest of its sources first: a binary heap.
type queue struct {
	items   []*source
	compare func(a, b *source) int
}

func (q *queue) push(s *source) {
	q.items = append(q.items, s)
	i := len(q.items) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if q.compare(q.items[parent], s) <= 0 {
			break
		}
		q.items[i] = q.items[parent]
		i = parent
	}
	q.items[i] = s
}

func (q *queue) pop() *source {
	top := q.items[0]
	last := len(q.items) - 1
	s := q.items[last]
	q.items = q.items[:last]
	i := 0
	for {
		child := 2*i + 1
		if child >= last {
			break
		}
		if child+1 < last && q.compare(q.items[child+1], q.items[child]) < 0 {
			child++
		}
		if q.compare(s, q.items[child]) <= 0 {
			break
		}
		q.items[i] = q.items[child]
		i = child
	}
	if last > 0 {
		q.items[i] = s
	}
	return top
}

// popEqual appends to group all sources that are equal to the smallest.
func (q *queue) popEqual(group []*source) []*source {
	first := q.pop()
	group = append(group, first)
	for len(q.items) > 0 && q.compare(q.items[0], first) == 0 {
		group = append(group, q.pop())
	}
	return group
}
