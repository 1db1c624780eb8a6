package sampling

import (
	"context"
	"errors"

	"github.com/zeebo/xxh3"

	"manifest/internal/tokensort"
)

// addEdge adds that two groups belong together, in both directions.
func addEdge(edges *tokensort.Sorter, a, b int64) error {
	return errors.Join(
		edges.Add(appendID(appendID(nil, a), b), nil),
		edges.Add(appendID(appendID(nil, b), a), nil),
	)
}

// components maps each group that has an edge to the smallest id of all groups that it is connected with, by ways of any length.
//
// It is the alternating algorithm of Kiveris, Lattanzi, Mirrokni, Rastogi and Vassilvitskii, "Connected Components in MapReduce and
// Beyond" (SoCC 2014), with a sort in place of each of its shuffles, so that memory does not grow with the graph. A large star hangs the
// larger neighbours of each node on its smallest one, a small star the smaller ones and the node itself; both keep what is connected.
// When neither changes anything, every node hangs on the smallest of its component.
func components(ctx context.Context, d *Decider, edges *tokensort.Sorter) (*tokensort.Sorter, error) {
	var before xxh3.Uint128
	for {
		large, err := star(ctx, d, edges, true)
		if err != nil {
			return nil, err
		}
		small, err := star(ctx, d, large, false)
		if err := errors.Join(err, edges.Close(), large.Close()); err != nil {
			return nil, err
		}
		sum, err := digest(ctx, small)
		if err != nil {
			return nil, err
		}
		if sum == before {
			roots, err := rootsOf(ctx, d, small)
			return roots, errors.Join(err, small.Close())
		}
		before, edges = sum, small
	}
}

// star makes the edges of one of the two operations, in both directions.
func star(ctx context.Context, d *Decider, edges *tokensort.Sorter, large bool) (*tokensort.Sorter, error) {
	out, err := d.newSorter()
	if err != nil {
		return nil, err
	}
	var node, smallest int64
	var have bool
	err = eachEdge(ctx, edges, func(u, v int64) error {
		if !have || node != u {
			// Neighbours ascend, so the first is the smallest.
			node, smallest, have = u, min(u, v), true
			if !large && smallest < u {
				if err := addEdge(out, u, smallest); err != nil {
					return err
				}
			}
		}
		if (v > u) == large && v != smallest {
			return addEdge(out, v, smallest)
		}
		return nil
	})
	return out, err
}

// eachEdge calls f for each edge, by its nodes, once.
func eachEdge(ctx context.Context, edges *tokensort.Sorter, f func(u, v int64) error) error {
	if err := edges.Sort(ctx); err != nil {
		return err
	}
	in, err := edges.Open()
	if err != nil {
		return err
	}
	var last []byte
	return tokensort.Each(ctx, in, func(key, _ []byte) error {
		if last != nil && string(last) == string(key) {
			return nil
		}
		last = append(last[:0], key...)
		u, err := parseID(key[:min(8, len(key))])
		if err != nil {
			return err
		}
		v, err := parseID(key[8:])
		if err != nil {
			return err
		}
		return f(u, v)
	})
}

// digest tells sets of edges apart.
func digest(ctx context.Context, edges *tokensort.Sorter) (xxh3.Uint128, error) {
	h := xxh3.New()
	var buf []byte
	err := eachEdge(ctx, edges, func(u, v int64) error {
		buf = appendID(appendID(buf[:0], u), v)
		_, err := h.Write(buf)
		return err
	})
	return h.Sum128(), err
}

// rootsOf reads the map off the stars: nodes to their smallest neighbour, and roots to themselves.
func rootsOf(ctx context.Context, d *Decider, stars *tokensort.Sorter) (*tokensort.Sorter, error) {
	roots, err := d.newSorter()
	if err != nil {
		return nil, err
	}
	var node int64
	var have bool
	err = eachEdge(ctx, stars, func(u, v int64) error {
		if have && node == u {
			return nil
		}
		node, have = u, true
		return roots.Add(appendID(nil, u), appendID(nil, min(u, v)))
	})
	if err != nil {
		return nil, err
	}
	return roots, roots.Sort(ctx)
}
