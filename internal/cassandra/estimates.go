package cassandra

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"manifest/tokenrange"
)

// Estimates asks every node for its own estimates of a table's size, since
// each knows only of its ranges. They are hints: nodes that do not answer are
// left out, and a table without any is planned from the ring alone. The
// number of nodes that answered is told, with what the others said.
func (c *Cluster) Estimates(ctx context.Context, partitioner tokenrange.Partitioner, nodes []tokenrange.Node, keyspace, table string) (estimates []tokenrange.Estimate, answered int, problems error) {
	const statement = `SELECT range_start, range_end, mean_partition_size, partitions_count FROM system.size_estimates WHERE keyspace_name = ? AND table_name = ?`
	var mu sync.Mutex
	var errs []error
	var group errgroup.Group
	group.SetLimit(16)
	for _, n := range nodes {
		group.Go(func() error {
			rows, err := c.queryRows(WithNodes(ctx, n.ID), statement, keyspace, table)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				errs = append(errs, fmt.Errorf("estimates of node %s: %w", n.Address, err))
				return nil
			}
			answered++
			for _, row := range rows {
				e, err := estimate(partitioner, row)
				if err != nil {
					errs = append(errs, fmt.Errorf("estimates of node %s: %w", n.Address, err))
					continue
				}
				estimates = append(estimates, e...)
			}
			return nil
		})
	}
	_ = group.Wait() // the functions above return no error
	return estimates, answered, errors.Join(errs...)
}

// estimate reads one row.
func estimate(p tokenrange.Partitioner, row map[string]any) ([]tokenrange.Estimate, error) {
	start, err := p.Parse(text(row["range_start"]))
	if err != nil {
		return nil, fmt.Errorf("range start: %w", err)
	}
	end, err := p.Parse(text(row["range_end"]))
	if err != nil {
		return nil, fmt.Errorf("range end: %w", err)
	}
	partitions, _ := row["partitions_count"].(int64)
	mean, _ := row["mean_partition_size"].(int64)
	return tokenrange.UnwrapEstimates(start, end, p.Ring(), partitions, mean), nil
}
