package scan

import (
	"errors"
	"fmt"
	"strings"

	"manifest/tokenrange"
)

// Class says what kind of failure a read met, and so what can be done about it.
type Class uint8

const (
	// Other failures are tried again a few times.
	Other Class = iota
	// Timeout: the coordinator or a replica did not answer in time.
	Timeout
	// Unavailable: too few replicas are alive for the consistency level.
	Unavailable
	// Overloaded: the coordinator refused the work for now.
	Overloaded
	// ReadFailure: a replica failed while reading.
	ReadFailure
	// Tombstones: a replica gave up over too many tombstones.
	Tombstones
	// NoConnection: no wanted node can be reached.
	NoConnection
	// Unprepared: the coordinator does not know the prepared statement, though
	// it was prepared again.
	Unprepared
	// Authentication: the cluster does not take the credentials any more.
	Authentication
	// Unauthorized: the role may not read the table.
	Unauthorized
	// SchemaChanged: the table is not, or no longer, what was planned.
	SchemaChanged
	// Protocol: the answer or a value in it could not be understood.
	Protocol
)

var classNames = [...]string{
	Other: "other", Timeout: "timeout", Unavailable: "unavailable", Overloaded: "overloaded", ReadFailure: "read failure",
	Tombstones: "tombstones", NoConnection: "no connection", Unprepared: "unprepared", Authentication: "authentication",
	Unauthorized: "unauthorized", SchemaChanged: "schema changed", Protocol: "protocol",
}

// String gives the class as used in logs and metrics.
func (c Class) String() string { return classNames[c] }

// Classes are all classes, for listings.
func Classes() []Class {
	all := make([]Class, len(classNames))
	for i := range all {
		all[i] = Class(i)
	}
	return all
}

// ReadError is a failed read of a token range.
type ReadError struct {
	// Range that was read; invalid where all of the table is concerned.
	Range tokenrange.Range
	// Node is the id of the last node that was asked; empty if none was.
	Node  string
	Class Class
	// Key is the partition key of the last row that was read, as text; empty if
	// there was none, or the source does not see it.
	Key string
	Err error
}

func (e *ReadError) Error() string {
	var b strings.Builder
	if e.Range.IsValid() {
		fmt.Fprintf(&b, "read token range %v", e.Range)
	} else {
		b.WriteString("read the table")
	}
	if e.Node != "" {
		fmt.Fprintf(&b, " from node %s", e.Node)
	}
	fmt.Fprintf(&b, ": %s: %v", e.Class, e.Err)
	return b.String()
}

func (e *ReadError) Unwrap() error { return e.Err }

// ClassOf gives the class of an error of [Source.Read]; Other if it has none.
func ClassOf(err error) Class {
	if re, ok := errors.AsType[*ReadError](err); ok {
		return re.Class
	}
	return Other
}

// ErrTooManyFailures means that a run was given up before its end because too
// many splits could not be read.
var ErrTooManyFailures = errors.New("too many splits could not be read")

// Poisoned is a partition that can't be read, though all around it can.
type Poisoned struct {
	// Token is that of the partition.
	Token tokenrange.Token `json:"token"`
	// Key is its key as text, where some row of it could be read.
	Key string `json:"key,omitempty"`
	// Class of the failure, and what was said at last.
	Class Class `json:"-"`
	Err   error `json:"-"`
}

func (p Poisoned) String() string {
	s := "token " + p.Token.String()
	if p.Key != "" {
		s += " (" + p.Key + ")"
	}
	return s + ": " + p.Class.String()
}

// IncompleteError means that part of the asked token ranges was not committed.
// What was committed stays, and a later run can read the rest.
type IncompleteError struct {
	// Missing are the ranges without a receipt, in token order.
	Missing []tokenrange.Range
	// Poisoned are the partitions among them that were found to be unreadable,
	// in token order.
	Poisoned []Poisoned
	// Causes are why, joined; one of them may be the context's error.
	Causes error
}

func (e *IncompleteError) Error() string {
	s := fmt.Sprintf("incomplete: %d token ranges were not read", len(e.Missing))
	if len(e.Missing) > 0 {
		s += fmt.Sprintf(", the first is %v", e.Missing[0])
	}
	for i, p := range e.Poisoned {
		if i == 3 {
			s += fmt.Sprintf("; and %d more partitions", len(e.Poisoned)-i)
			break
		}
		s += "; unreadable partition at " + p.String()
	}
	if e.Causes != nil {
		s += ": " + e.Causes.Error()
	}
	return s
}

func (e *IncompleteError) Unwrap() error { return e.Causes }
