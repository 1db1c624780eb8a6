package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"manifest/export"
	"manifest/internal/cassandra"
	"manifest/internal/objectstore"
	"manifest/scan"
)

func TestExitCodes(t *testing.T) {
	incomplete := func(cause error) error { return &interruptedError{"RUN", &scan.IncompleteError{Causes: cause}} }
	read := func(c scan.Class) error { return &scan.ReadError{Class: c, Err: errors.New("x")} }
	for name, c := range map[string]struct {
		err  error
		want int
	}{
		"done":              {nil, 0},
		"fault":             {errors.New("disk full"), 1},
		"usage":             {fmt.Errorf("stats: %w", usagef("no")), 2},
		"no such table":     {&cassandra.NotFoundError{What: "table", Name: "a.b"}, 2},
		"output exists":     {fmt.Errorf("x: %w", export.ErrExists), 2},
		"unreadable range":  {incomplete(read(scan.Unavailable)), 3},
		"too many failures": {incomplete(fmt.Errorf("%w: %w", scan.ErrTooManyFailures, read(scan.Timeout))), 3},
		"table changed":     {incomplete(read(scan.SchemaChanged)), 1},
		"table dropped": {incomplete(&scan.ReadError{Class: scan.SchemaChanged,
			Err: &cassandra.NotFoundError{What: "table", Name: "ks.t"}}), 1},
		"disk full while read": {incomplete(errors.New("no space left on device")), 1},
		"no host":              {fmt.Errorf("x: %w", cassandra.ErrNoHost), 5},
		"credentials":          {fmt.Errorf("x: %w", cassandra.ErrCredentials), 5},
		"no SELECT":            {incomplete(read(scan.Unauthorized)), 5},
		"store not reached":    {fmt.Errorf("x: %w", objectstore.ErrUnreachable), 5},
		"store refuses":        {&uploadError{"RUN", objectstore.ErrAccess}, 5},
		"upload broke":         {&uploadError{"RUN", objectstore.ErrUnreachable}, 3},
		"upload interrupted":   {&uploadError{"RUN", context.Canceled}, 130},
		"interrupted":          {incomplete(errInterrupted), 130},
		"cancelled":            {context.Canceled, 130},
	} {
		if got := exitCode(c.err); got != c.want {
			t.Errorf("%s: exit code %d, want %d", name, got, c.want)
		}
	}
}

func TestAnInterruptedRunSaysHowToGoOn(t *testing.T) {
	err := &interruptedError{"20250601T000000Z-abcd", &scan.IncompleteError{Causes: errInterrupted}}
	if got := describe(err); !strings.Contains(got, "--resume 20250601T000000Z-abcd") {
		t.Error(got)
	}
	gone := &interruptedError{"RUN", &scan.IncompleteError{Causes: &scan.ReadError{Class: scan.SchemaChanged, Err: errors.New("x")}}}
	if got := describe(gone); strings.Contains(got, "--resume") {
		t.Errorf("a run that cannot go on: %s", got)
	}
}

func TestCommandLineFaults(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"exprot"}, `is "export" meant?`},
		{[]string{"frobnicate"}, `unknown command "frobnicate"`},
		{[]string{"export", "--tabel", "x"}, "unknown flag: --tabel"},
		{[]string{"export", "extra"}, `unexpected argument "extra"`},
		{[]string{"export"}, "--out"},
		{[]string{"export", "--out", "x", "--tags", "(leaf_spot OR"}, "--tags: "},
		{[]string{"export", "--out", "x", "--split", "train=0.5"}, "add up to 0.5"},
		{[]string{"export", "--out", "x", "--balance", "device"}, "--limit: "},
		{[]string{"export", "--out", "x", "--max-per", "device"}, "--max-per: "},
		{[]string{"export", "--out", "x", "--status", "any,approved"}, "--status any"},
		{[]string{"export", "--out", "x", "--pin-from", "y"}, "--split"},
		{[]string{"export", "--out", "x", "--token-start", "0"}, "--table"},
		{[]string{"export", "--table", "t", "--out", "x", "--limit", "5"}, "--limit is of training manifests"},
		{[]string{"diff", "x"}, "which two directories"},
		{[]string{"explain", "x"}, "which image"},
		{[]string{"stats"}, "--out"},
		{[]string{"stats", "--out", "x", "--query", "tgas"}, `is "tags" meant?`},
		{[]string{"stats", "--out", "x", "--by", "a"}, "--table"},
		{[]string{"plan", "--access-path", "guess"}, "--access-path"},
		{[]string{"export", "--table", "t", "--out", "x", "--progress", "loud"}, "--progress"},
		{[]string{"export", "--table", "t", "--out", "x", "--resume", "../x"}, "--resume"},
		{[]string{"export", "--table", "t", "--out", t.TempDir() + "/x", "--consistency", "MOST"}, "MOST"},
	} {
		root := newRootCommand()
		root.SetArgs(c.args)
		err := root.ExecuteContext(t.Context())
		if exitCode(err) != exitUsage || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v (exit %d), want %q", c.args, err, exitCode(err), c.want)
		}
	}
}

func TestEveryCommandTeaches(t *testing.T) {
	for _, cmd := range newRootCommand().Commands() {
		if cmd.Example == "" || !strings.Contains(cmd.Long, "EXIT STATUS") || cmd.Short == "" {
			t.Errorf("%s lacks an example, a summary or the exit codes", cmd.Name())
		}
	}
}
