//go:build unix

package main

import (
	"os"
	"syscall"
)

// pauseSignals pause a run, or let it go on.
var pauseSignals = []os.Signal{syscall.SIGUSR1}
