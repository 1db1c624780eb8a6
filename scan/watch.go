package scan

import (
	"context"
	"errors"
	"fmt"
	"time"

	"manifest/tokenrange"
)

// Watcher looks, while a run goes on, whether the cluster and the table still
// are what was planned.
//
// Look gives a [Place] if the ring or the replication has changed since the
// last look, nil if not. An error of class [SchemaChanged], which says what in
// the table is another thing now, ends the run; after any other error Look is
// called again later. It is called by one goroutine at a time.
type Watcher interface {
	Look(ctx context.Context) (Place, error)
}

// Place gives the splits to read in place of one that was planned earlier. They
// tile its range.
type Place func(split tokenrange.Split) []tokenrange.Split

// watch looks from time to time until ctx ends, or the table has changed.
func (r *run) watch(ctx context.Context) error {
	ticker := time.NewTicker(r.opts.WatchInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if err := r.look(ctx); ClassOf(err) == SchemaChanged {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// look asks the watcher once, and plans what is queued again where the ring has
// changed.
func (r *run) look(ctx context.Context) error {
	r.looking.Lock()
	defer r.looking.Unlock()
	place, err := r.opts.Watcher.Look(ctx)
	if err != nil {
		if ctx.Err() == nil && ClassOf(err) != SchemaChanged {
			r.opts.Logger.Warn("could not look for changes of the cluster", "err", err)
		}
		return err
	}
	if place != nil {
		splits := r.queues.replan(place)
		r.opts.Logger.Info("the ring has changed: the rest is planned again", "splits", splits)
		r.mu.Lock()
		r.result.Replans++
		r.mu.Unlock()
		r.opts.Events.Replanned(ReplanInfo{Splits: splits})
	}
	return nil
}

// lookAtLast tells whether the table changed in the end of the run, when all
// has been read. What can't be looked at is no proof, so it is tried for as long
// as a node may take to restart.
func (r *run) lookAtLast(ctx context.Context) error {
	for began, n := time.Now(), 1; ; n++ {
		err := r.look(ctx)
		switch {
		case err == nil || ClassOf(err) == SchemaChanged:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case time.Since(began) >= r.opts.Patience:
			return fmt.Errorf("see whether the table was changed meanwhile: %w", err)
		}
		sleep(ctx, GrowingPause.Before(n, r.opts.Backoff, r.opts.MaxBackoff))
	}
}

// difference finds out what has changed where a read says that something has.
// Where nothing has, the node that answered is behind the others, or ahead of
// them for the moment: that is a failure like any other, and passes.
func (r *run) difference(ctx context.Context, err error) (Class, error) {
	if r.opts.Watcher == nil {
		return SchemaChanged, err
	}
	switch found := r.look(ctx); {
	case ClassOf(found) == SchemaChanged:
		return SchemaChanged, errors.Join(found, err)
	case found != nil:
		return SchemaChanged, err // nobody can say otherwise
	default:
		return Other, err
	}
}

// replan asks place about every task that no read is under way of, and from now
// on about every task that comes back from an earlier ring. It gives the number
// of splits that are queued then.
func (q *nodeQueues) replan(place Place) (splits int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.place = place
	q.ring++
	var tasks []*task
	for _, node := range q.order {
		tasks = append(tasks, q.queued[node]...)
		q.queued[node] = nil
	}
	tasks = append(tasks, q.delayed...)
	q.delayed = nil
	q.open -= len(tasks)
	for _, t := range tasks {
		splits += q.add(t)
	}
	close(q.changed)
	q.changed = make(chan struct{})
	return splits
}

// placed gives the tasks to read in place of t, where the ring is another one
// than t was planned for.
func (q *nodeQueues) placed(t *task) []*task {
	if t.ring == q.ring {
		return []*task{t}
	}
	splits := q.place(t.split)
	t.ring = q.ring
	if len(splits) == 1 {
		t.split = splits[0]
		return []*task{t}
	}
	tasks := make([]*task, len(splits))
	for i, s := range splits {
		part := *t
		part.split, part.readings = s, nil // no room to share
		tasks[i] = &part
	}
	return tasks
}
