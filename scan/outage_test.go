package scan_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"manifest/scan"
	"manifest/tokenrange"
)

// A node that restarts takes minutes, and has no other replica here. The run
// waits for it, and reads what others hold meanwhile.
func TestARestartIsWaitedFor(t *testing.T) {
	for _, class := range []scan.Class{scan.NoConnection, scan.Unavailable, scan.Overloaded} {
		synctest.Test(t, func(t *testing.T) {
			rows := spread(300)
			began := time.Now()
			plan := evenPlan(t, 30, "up", "down")
			for i := range plan.Splits {
				plan.Splits[i].Replicas = plan.Splits[i].Replicas[:1]
			}
			table := &modelTable{rows: rows, page: 5, fault: func(s tokenrange.Split, _ int) error {
				if s.Replicas[0] == "down" && time.Since(began) < 4*time.Minute {
					return readError(s, class)
				}
				return nil
			}}
			var othersDone time.Duration
			others := 0
			var k keeper
			result, err := scan.Run(t.Context(), plan, table, []scan.Consumer{&k}, scan.Options{
				Columns: []string{"token"}, Workers: 1, MaxAttempts: 2,
				Events: scan.Events{SplitCommitted: func(r scan.Receipt) {
					if r.Node == "up" {
						if others++; others == 15 {
							othersDone = time.Since(began)
						}
					}
				}},
			})
			if err != nil {
				t.Fatalf("%s: %v", class, err)
			}
			if err := equal(k.rows(result.SplitIDs()), rows); err != nil {
				t.Errorf("%s: %v", class, err)
			}
			if othersDone > time.Second {
				t.Errorf("%s: the one worker read the other node's splits only after %v", class, othersDone)
			}
			if took := time.Since(began); took > 4*time.Minute+15*time.Second {
				t.Errorf("%s: the run took %v, long after the node came back", class, took)
			}
		})
	}
}

func TestPatienceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		table := &modelTable{rows: spread(100), page: 5, fault: func(s tokenrange.Split, _ int) error { return readError(s, scan.NoConnection) }}
		_, err := scan.Run(t.Context(), evenPlan(t, 40, "a"), table, []scan.Consumer{&keeper{}},
			scan.Options{Columns: []string{"token"}, Patience: 3 * time.Minute})
		if !errors.Is(err, scan.ErrTooManyFailures) || scan.ClassOf(err) != scan.NoConnection {
			t.Errorf("got %v", err)
		}
		if took := time.Since(began); took < 3*time.Minute || took > 4*time.Minute {
			t.Errorf("the run took %v", took)
		}
	})
}
