package scan

import (
	"time"

	"manifest/tokenrange"
)

// Events are called as a run goes on, for progress, logs and metrics. A nil
// function is not called. They are called from the workers' goroutines, many
// at a time, and must return quickly.
type Events struct {
	// SplitStarted: an attempt to read a split begins.
	SplitStarted func(SplitInfo)
	// RecordRead: rows of a split have been written to its parts.
	RecordRead func(RecordInfo)
	// SplitCommitted: a split is in the ledger.
	SplitCommitted func(Receipt)
	// SplitFailed: an attempt has failed, and what will be done about it.
	SplitFailed func(FailureInfo)
	// ReadOutrun: an attempt was ended because another one at the same split
	// was faster. That is no failure.
	ReadOutrun func(OutrunInfo)
	// Replanned: the ring has changed, and what is queued was planned again.
	Replanned func(ReplanInfo)
}

// ReplanInfo tells of a new plan for the rest.
type ReplanInfo struct {
	// Splits that are queued now. Those being read are not among them.
	Splits int
}

// SplitInfo names an attempt.
type SplitInfo struct {
	Split   tokenrange.Split
	Node    string
	Attempt int
	// Second tells that the split is being read already, from another node.
	Second bool
}

// OutrunInfo tells of an attempt that another one has outrun.
type OutrunInfo struct {
	SplitInfo
	// RowsDropped counts the rows of the attempt, which do not count.
	RowsDropped int64
}

// RecordInfo tells of one record.
type RecordInfo struct {
	Split string
	Rows  int64
}

// FailureInfo tells of a failed attempt.
type FailureInfo struct {
	SplitInfo
	Err    error
	Class  Class
	Action Action
	// Wait is how long the worker backs off before it goes on.
	Wait time.Duration
	// RowsDropped counts the rows of the attempt that no longer count.
	RowsDropped int64
}

// Tee joins several listeners into one.
func Tee(all ...Events) Events {
	return Events{
		SplitStarted: func(i SplitInfo) {
			for _, e := range all {
				if e.SplitStarted != nil {
					e.SplitStarted(i)
				}
			}
		},
		RecordRead: func(i RecordInfo) {
			for _, e := range all {
				if e.RecordRead != nil {
					e.RecordRead(i)
				}
			}
		},
		SplitCommitted: func(r Receipt) {
			for _, e := range all {
				if e.SplitCommitted != nil {
					e.SplitCommitted(r)
				}
			}
		},
		SplitFailed: func(i FailureInfo) {
			for _, e := range all {
				if e.SplitFailed != nil {
					e.SplitFailed(i)
				}
			}
		},
		ReadOutrun: func(i OutrunInfo) {
			for _, e := range all {
				if e.ReadOutrun != nil {
					e.ReadOutrun(i)
				}
			}
		},
		Replanned: func(i ReplanInfo) {
			for _, e := range all {
				if e.Replanned != nil {
					e.Replanned(i)
				}
			}
		},
	}
}

// withDefaults gives a copy in which every function may be called.
func (e Events) withDefaults() Events { return Tee(e) }
