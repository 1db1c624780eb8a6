package scan

import (
	"math/rand/v2"
	"time"
)

// Action is what [Run] does about a split whose read has failed.
type Action uint8

const (
	// Retry reads the split again after a pause, from the next replica.
	Retry Action = iota
	// Halve reads the two halves of the split's range instead.
	Halve
	// Wait reads the split again when the cluster has had time to recover. It
	// is no attempt that counts; [Options].Patience bounds how long it goes on.
	Wait
	// GiveUp leaves the split out: the run goes on and ends incomplete.
	GiveUp
	// Stop ends the run: no other split would fare better.
	Stop
	// Leave does nothing: another read of the split goes on.
	Leave
)

var actionNames = [...]string{"retry", "halve", "wait", "give up", "stop", "leave"}

// String gives the action as used in logs.
func (a Action) String() string { return actionNames[a] }

// Pause is how long to wait before the next try.
type Pause uint8

const (
	// NoPause: what failed says nothing of how busy the cluster is.
	NoPause Pause = iota
	// ShortPause is the same each time.
	ShortPause
	// GrowingPause doubles with every failure.
	GrowingPause
)

// Policy says what is done about a class of failures. A source tries the page
// at hand again first, which keeps the rows before it, as far as the policy
// lets it; then [Run] acts on the split.
//
// No policy lowers the consistency level.
type Policy struct {
	// Page: the page may be asked for again.
	Page bool
	// Replica: of another replica, where there is one.
	Replica bool
	// Smaller: for fewer rows at a time.
	Smaller bool
	// Pause before the page is asked for again, and before the split is read again.
	Pause Pause
	// Split is what becomes of the split when its read has failed: [Retry],
	// [Halve], [Wait] or [Stop].
	Split Action
}

// policies has the policy of each class.
//
// A range that timed out is halved: asking for the same amount again is what
// makes a busy node busier. A range that replicas failed to read is halved
// down to the partition that is at fault, since tombstones sit in few. What the
// state of the cluster is to blame for is waited out. What no replica and no
// time can mend ends the run.
var policies = [...]Policy{
	Other:          {Page: true, Replica: true, Pause: GrowingPause, Split: Retry},
	Timeout:        {Page: true, Replica: true, Smaller: true, Pause: GrowingPause, Split: Halve},
	Unavailable:    {Page: true, Replica: true, Pause: GrowingPause, Split: Wait},
	Overloaded:     {Page: true, Replica: true, Smaller: true, Pause: GrowingPause, Split: Wait},
	ReadFailure:    {Page: true, Replica: true, Smaller: true, Pause: ShortPause, Split: Halve},
	Tombstones:     {Page: true, Replica: true, Smaller: true, Pause: ShortPause, Split: Halve},
	NoConnection:   {Page: true, Replica: true, Pause: GrowingPause, Split: Wait},
	Unprepared:     {Page: true, Pause: ShortPause, Split: Retry},
	Authentication: {Split: Stop},
	Unauthorized:   {Split: Stop},
	SchemaChanged:  {Split: Stop},
	Protocol:       {Split: Stop},
}

// Policy is what is done about failures of the class.
func (c Class) Policy() Policy { return policies[c] }

// situation is what a decision depends on beside the policy.
type situation struct {
	// canHalve: the range holds more than one token.
	canHalve bool
	// hopeless: the node has failed so often in a row that the range is not to
	// blame.
	hopeless bool
	// failed counts the failures of the split that count, out of most.
	failed, most int
	// waited is how long the split has been waited for, out of patience.
	waited, patience time.Duration
}

// decide says what becomes of a split.
func (p Policy) decide(s situation) Action {
	switch {
	case p.Split == Stop:
		return Stop
	case p.Split == Wait && s.waited < s.patience:
		return Wait
	case p.Split == Wait:
		return GiveUp
	case p.Split == Halve && s.hopeless:
		return GiveUp
	case p.Split == Halve && s.canHalve:
		return Halve
	case s.failed < s.most:
		return Retry
	default:
		return GiveUp
	}
}

// Before gives the pause before try n+1, n counting from 1: growing ones double
// from base up to limit. Half of it is random, so that workers spread out.
func (p Pause) Before(n int, base, limit time.Duration) time.Duration {
	switch p {
	case NoPause:
		return 0
	case ShortPause:
		n = 1
	}
	d := base << min(max(n-1, 0), 16)
	if d <= 0 || d > limit {
		d = limit
	}
	return d/2 + rand.N(d/2+1)
}
