package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"manifest/internal/processcost"
)

// outcome is what one run of a subject gave.
type outcome struct {
	cost processcost.Cost
	// job is the time without that of starting up, where the tool tells it.
	job    time.Duration
	answer string
}

// runOnce runs a subject in a folder of its own, which is gone afterwards. A run that does not count is not asked for its answer.
func runOnce(ctx context.Context, s subject, t tools, home string, counts bool) (outcome, error) {
	dir, err := os.MkdirTemp(home, "run")
	if err != nil {
		return outcome{}, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "out")
	var stdout, stderr bytes.Buffer
	cmd := s.command(ctx, out)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	cost, err := processcost.Run(cmd)
	switch {
	case err != nil:
		return outcome{}, fmt.Errorf("%w\n%s", err, stderr.Bytes()[max(0, stderr.Len()-4000):])
	case !counts:
		return outcome{cost: cost}, nil
	}
	answer, err := ask(ctx, t.python, s.answer(out))
	return outcome{cost, jobTime(stdout.String()), answer}, err
}

var jobLine = regexp.MustCompile(`(?m)^job ([0-9.]+)$`)

// jobTime is what a tool's output says of the time of its job alone; 0 if nothing.
func jobTime(output string) time.Duration {
	match := jobLine.FindStringSubmatch(output)
	if match == nil {
		return 0
	}
	seconds, err := strconv.ParseFloat(match[1], 64)
	if err != nil {
		return 0
	}
	return time.Duration(seconds * float64(time.Second))
}
