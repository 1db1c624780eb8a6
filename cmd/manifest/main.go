// Command manifest reads whole Cassandra tables in parallel by token range and
// turns them into statistics and training manifests.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

// errInterrupted is the cause of the context's end after Ctrl-C or SIGTERM.
var errInterrupted = errors.New("interrupted")

func main() {
	if os.Getenv("GOGC") == "" {
		// Buffers are used again, so there is little garbage: collecting it
		// twice as often costs next to nothing and keeps the memory lower.
		debug.SetGCPercent(50)
	}
	os.Exit(run(os.Args[1:]))
}

// run executes the command line and gives the exit code.
func run(args []string) int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel(errInterrupted)
		<-signals // the second one does not wait for anything
		os.Exit(exitInterrupted)
	}()

	root := newRootCommand()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, describe(err))
	}
	return exitCode(err)
}
