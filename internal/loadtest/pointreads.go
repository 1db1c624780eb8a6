package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/gocql/gocql"

	"manifest/internal/casstest"
	"manifest/internal/imagegen"
)

// pointReader asks for single images, as a web page or a training job would.
type pointReader struct {
	session *gocql.Session
	ids     []gocql.UUID
}

// newPointReader fills the table and learns some thousand of its keys.
func newPointReader(ctx context.Context, cluster *casstest.Cluster, o options) (*pointReader, error) {
	if _, err := fill(ctx, cluster, o); err != nil {
		return nil, err
	}
	session, err := cluster.Session(imagegen.DefaultKeyspace)
	if err != nil {
		return nil, err
	}
	r := &pointReader{session: session}
	rows := session.Query("SELECT image_id FROM " + imagegen.MetadataTable + " LIMIT 10000").WithContext(ctx).Iter()
	var id gocql.UUID
	for rows.Scan(&id) {
		r.ids = append(r.ids, id)
	}
	if err := rows.Close(); err != nil {
		session.Close()
		return nil, fmt.Errorf("learn keys: %w", err)
	}
	return r, nil
}

// read asks rate times a second until ctx ends, and gives the latency of each
// read from the moment at which it was due.
func (r *pointReader) read(ctx context.Context, rate int) ([]time.Duration, error) {
	var mu sync.Mutex
	var latencies []time.Duration
	var failed error
	var wait sync.WaitGroup
	began := time.Now()
	for n := 0; ; n++ {
		due := began.Add(time.Duration(n) * time.Second / time.Duration(rate))
		timer := time.NewTimer(time.Until(due))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			wait.Wait()
			return latencies, failed
		}
		id := r.ids[rand.IntN(len(r.ids))]
		wait.Go(func() {
			var width, height int
			// Not ctx: a read that is under way at the end counts in full.
			err := r.session.Query("SELECT width, height FROM "+imagegen.MetadataTable+" WHERE image_id = ?", id).
				Consistency(gocql.LocalQuorum).Scan(&width, &height)
			took := time.Since(due)
			mu.Lock()
			defer mu.Unlock()
			latencies = append(latencies, took)
			if err != nil && failed == nil {
				failed = fmt.Errorf("point read: %w", err)
			}
		})
	}
}
