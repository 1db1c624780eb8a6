package scan

import (
	"testing"
	"time"
)

// The rows of the table, as the issue of each class asks for them.
func TestEachClassHasItsPolicy(t *testing.T) {
	for class, want := range map[Class]struct {
		page, replica, smaller bool
		pause                  Pause
		split                  Action
	}{
		Other:          {true, true, false, GrowingPause, Retry}, // perhaps elsewhere, perhaps later
		Timeout:        {true, true, true, GrowingPause, Halve},  // less at a time
		Unavailable:    {true, true, false, GrowingPause, Wait},  // until the node is back
		Overloaded:     {true, true, true, GrowingPause, Wait},   // until it has room
		ReadFailure:    {true, true, true, ShortPause, Halve},    // down to the partition
		Tombstones:     {true, true, true, ShortPause, Halve},    // down to the partition
		NoConnection:   {true, true, false, GrowingPause, Wait},  // until the node is back
		Unprepared:     {true, false, false, ShortPause, Retry},  // the driver prepares again
		Authentication: {false, false, false, NoPause, Stop},     // nobody can help
		Unauthorized:   {false, false, false, NoPause, Stop},     // nobody can help
		SchemaChanged:  {false, false, false, NoPause, Stop},     // the result would be of two tables
		Protocol:       {false, false, false, NoPause, Stop},     // what was read can't be trusted
	} {
		got := class.Policy()
		if got != (Policy{want.page, want.replica, want.smaller, want.pause, want.split}) {
			t.Errorf("%s: policy is %+v, want %+v", class, got, want)
		}
	}
	if len(Classes()) != len(policies) {
		t.Errorf("%d classes and %d policies", len(Classes()), len(policies))
	}
}

func TestDecisions(t *testing.T) {
	const patience = 5 * time.Minute
	for _, c := range []struct {
		name  string
		class Class
		s     situation
		want  Action
	}{
		{"the first failure", Other, situation{failed: 1, most: 3}, Retry},
		{"the last attempt", Other, situation{failed: 3, most: 3}, GiveUp},
		{"a range that can be halved", Timeout, situation{canHalve: true, failed: 1, most: 3}, Halve},
		{"halved however often it failed", Tombstones, situation{canHalve: true, failed: 9, most: 3}, Halve},
		{"a node that fails everything", Timeout, situation{canHalve: true, hopeless: true, failed: 1, most: 3}, GiveUp},
		{"a single token", Tombstones, situation{failed: 1, most: 3}, Retry},
		{"a single token at last", ReadFailure, situation{failed: 3, most: 3}, GiveUp},
		{"a node that is away", NoConnection, situation{failed: 9, most: 3, waited: patience - 1, patience: patience}, Wait},
		{"away for too long", NoConnection, situation{waited: patience, patience: patience}, GiveUp},
		{"too few replicas", Unavailable, situation{canHalve: true, patience: patience}, Wait},
		{"a table that is another", SchemaChanged, situation{canHalve: true, most: 3}, Stop},
	} {
		if got := c.class.Policy().decide(c.s); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestPauses(t *testing.T) {
	const base, limit = 100 * time.Millisecond, time.Second
	for _, c := range []struct {
		pause       Pause
		n           int
		least, most time.Duration
	}{
		{NoPause, 3, 0, 0},
		{ShortPause, 1, base / 2, base},
		{ShortPause, 60, base / 2, base},
		{GrowingPause, 0, base / 2, base},
		{GrowingPause, 1, base / 2, base},
		{GrowingPause, 2, base, 2 * base},
		{GrowingPause, 5, limit / 2, limit},
		{GrowingPause, 1 << 40, limit / 2, limit},
	} {
		for range 100 {
			if got := c.pause.Before(c.n, base, limit); got < c.least || got > c.most {
				t.Fatalf("pause %d before try %d is %v, want %v to %v", c.pause, c.n, got, c.least, c.most)
			}
		}
	}
}
