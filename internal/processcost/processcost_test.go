package processcost

import (
	"os/exec"
	"testing"
	"time"
)

func TestMedian(t *testing.T) {
	seconds := func(all ...int) (runs []Cost) {
		for _, s := range all {
			runs = append(runs, Cost{Wall: time.Duration(s) * time.Second})
		}
		return runs
	}
	for _, c := range []struct {
		runs []Cost
		want float64
	}{{seconds(7), 7}, {seconds(9, 1, 4), 4}, {seconds(8, 2, 4, 100), 6}} {
		if got := Median(c.runs, Seconds); got != c.want {
			t.Errorf("the median of %v is %v, want %v", c.runs, got, c.want)
		}
	}
}

func TestRunMeasuresTheProcess(t *testing.T) {
	c, err := Run(exec.Command("sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"))
	if err != nil {
		t.Fatal(err)
	}
	if c.CPU <= 0 || c.Wall < c.CPU/2 || MiB(c) < 0.1 {
		t.Errorf("a shell that counts cost %+v", c)
	}
	if _, err := Run(exec.Command("sh", "-c", "exit 3")); err == nil {
		t.Error("a process that failed has a cost")
	}
}

func TestChildrenCount(t *testing.T) {
	const loop = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"
	own, err := Run(exec.Command("sh", "-c", loop))
	if err != nil {
		t.Fatal(err)
	}
	child, err := Run(exec.Command("sh", "-c", "sh -c '"+loop+"'; true"))
	if err != nil {
		t.Fatal(err)
	}
	if child.CPU < own.CPU/4 {
		t.Errorf("a shell whose child counts took %s of CPU; one that counts itself %s", child.CPU, own.CPU)
	}
}
