// Package processcost measures what a process costs as a whole: the time it took,
// the processor time, and the most memory that was resident. The benchmarks run
// what they compare as processes of their own, so that one's garbage is not the
// other's, and compare medians of several runs.
package processcost

import (
	"fmt"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// Cost is what one run cost.
type Cost struct {
	// Wall is from start to end, CPU in user and system mode of all threads.
	Wall, CPU time.Duration
	// Memory is the largest resident size in bytes; 0 where it is not known.
	Memory int64
}

// Run runs a command to its end. What children cost that it waited for is its own:
// their CPU time is added, and the memory is that of the largest process.
func Run(cmd *exec.Cmd) (Cost, error) {
	started := time.Now()
	if err := cmd.Run(); err != nil {
		return Cost{}, fmt.Errorf("run %s: %w", cmd, err)
	}
	c := Cost{Wall: time.Since(started), CPU: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		c.Memory = usage.Maxrss << 10 // Linux counts KiB
	}
	return c, nil
}

// Seconds, CPUSeconds and MiB are the figures of a cost, for Median.
func Seconds(c Cost) float64    { return c.Wall.Seconds() }
func CPUSeconds(c Cost) float64 { return c.CPU.Seconds() }
func MiB(c Cost) float64        { return float64(c.Memory) / (1 << 20) }

// Median gives the median of a figure; of an even number of runs, the mean of the
// two in the middle. There is at least one run.
func Median(runs []Cost, figure func(Cost) float64) float64 {
	var values []float64
	for _, r := range runs {
		values = append(values, figure(r))
	}
	slices.Sort(values)
	middle := len(values) / 2
	if len(values)%2 == 1 {
		return values[middle]
	}
	return (values[middle-1] + values[middle]) / 2
}
