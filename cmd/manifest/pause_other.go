//go:build !unix

package main

import "os"

// pauseSignals is empty where there is no SIGUSR1.
var pauseSignals []os.Signal
