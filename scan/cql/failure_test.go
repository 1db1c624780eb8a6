package cql

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/gocql/gocql"

	"manifest/scan"
)

// coded is what a server answers: a code of the native protocol.
type coded int

func (c coded) Code() int       { return int(c) }
func (c coded) Message() string { return "said by the server" }
func (c coded) Error() string   { return c.Message() }

func TestFailuresAreClassified(t *testing.T) {
	readFailure := func(codes ...uint16) error {
		m := gocql.ErrorMap{}
		for i, c := range codes {
			m[fmt.Sprintf("192.0.2.%d", i)] = c
		}
		return &gocql.RequestErrReadFailure{ErrorMap: m}
	}
	for _, c := range []struct {
		name string
		err  error
		want scan.Class
	}{
		// The codes are those of the specification of the protocol.
		{"server error", coded(0x0000), scan.Other},
		{"protocol error", coded(0x000A), scan.Protocol},
		{"bad credentials", coded(0x0100), scan.Authentication},
		{"unavailable", coded(0x1000), scan.Unavailable},
		{"overloaded", coded(0x1001), scan.Overloaded},
		{"bootstrapping", coded(0x1002), scan.Overloaded},
		{"read timeout", coded(0x1200), scan.Timeout},
		{"syntax", coded(0x2000), scan.Protocol},
		{"unauthorized", coded(0x2100), scan.Unauthorized},
		{"invalid", coded(0x2200), scan.SchemaChanged},
		{"unprepared", coded(0x2500), scan.Unprepared},
		{"a read failure without reasons", readFailure(), scan.ReadFailure},
		{"of an unknown reason", readFailure(0), scan.ReadFailure},
		{"by tombstones", readFailure(0, 1), scan.Tombstones},
		{"by tombstones on one of three", readFailure(2, 1, 5), scan.Tombstones},
		{"by a time-out", readFailure(2), scan.Timeout},
		{"by a node that is down", readFailure(5), scan.Unavailable},
		{"by schemas that differ", readFailure(3), scan.Other},
		{"no answer", gocql.ErrTimeoutNoResponse, scan.Timeout},
		{"deadline", fmt.Errorf("query: %w", context.DeadlineExceeded), scan.Timeout},
		{"no hosts", gocql.ErrNoConnections, scan.NoConnection},
		{"closed", gocql.ErrConnectionClosed, scan.NoConnection},
		{"cut between answers", io.EOF, scan.NoConnection},
		{"cut in an answer", errors.New("unable to read frame body: read 12/40 bytes: unexpected EOF"), scan.NoConnection},
		{"reset", &net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)}, scan.NoConnection},
		{"anything else", errors.New("what is this"), scan.Other},
	} {
		if got := classify(fmt.Errorf("page: %w", c.err)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
