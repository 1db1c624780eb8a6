package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"manifest/internal/casstest"
)

// noSelf stands for the program where no test may start it again: the program of a test are the tests.
func noSelf() (string, error) { return "", errors.New("a test must not run itself") }

func TestWrongUsage(t *testing.T) {
	for _, args := range [][]string{{}, {"fly"}, {"start", "surplus"}, {"run"}, {"stop", "-nodes", "many"}} {
		if code, _ := run(t.Context(), noSelf, args); code != 2 {
			t.Errorf("%q: exit code %d, want 2", args, code)
		}
	}
	for _, command := range []string{"start", "serve"} {
		code, err := run(t.Context(), noSelf, []string{command, "-partitioner", "Rot13"})
		if code != 1 || err == nil || !strings.Contains(err.Error(), `"Rot13"`) {
			t.Errorf("%s of an impossible cluster: exit code %d, %v; want 1", command, code, err)
		}
	}
}

func TestRunUsesTheClusterThatIsNamed(t *testing.T) {
	t.Setenv(casstest.HostsVariable, "192.0.2.1")
	seen := filepath.Join(t.TempDir(), "seen")
	code, err := run(t.Context(), noSelf, []string{"run", "--", "sh", "-c", `echo "$MANIFEST_TEST_HOSTS" >"$0"; exit 7`, seen})
	if code != 7 || err != nil {
		t.Errorf("exit code %d, %v; want 7, the command's", code, err)
	}
	if text, err := os.ReadFile(seen); err != nil || string(text) != "192.0.2.1\n" {
		t.Errorf("the command saw %q, %v", text, err)
	}
	if code, err := run(t.Context(), noSelf, []string{"run", "--", "/no/such/command"}); code != 1 || err == nil {
		t.Errorf("a command that is not there: exit code %d, %v; want 1", code, err)
	}
}

func TestStartAndStop(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a Cassandra server, left out by -short")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	program := filepath.Join(t.TempDir(), "casstestctl")
	if output, err := exec.CommandContext(ctx, "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, output)
	}
	ctl := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, program, args...)
		cmd.Stderr = os.Stderr
		output, err := cmd.Output()
		return string(output), err
	}
	const octet = "245"                                                             // beyond the addresses that tests take by themselves
	t.Cleanup(func() { exec.Command(program, "stop", "-base-octet", octet).Run() }) // whatever fails: no server stays
	output, err := ctl("start", "-base-octet", octet)
	if err != nil || output != "MANIFEST_TEST_HOSTS=127.0.0.245:9042\n" {
		t.Fatalf("start: %v, %q", err, output)
	}
	t.Setenv(casstest.HostsVariable, "127.0.0.245:9042")
	c := casstest.Shared(t, casstest.Options{})
	if status, err := c.NodeTool(ctx, 0, "status"); err != nil || !strings.Contains(status, "UN  127.0.0.245") {
		t.Errorf("nodetool: %v\n%s", err, status)
	}
	if _, err := ctl("stop", "-base-octet", octet); err != nil {
		t.Errorf("stop: %v", err)
	}
	if _, err := ctl("stop", "-base-octet", octet); err == nil {
		t.Error("a second stop: no error")
	}
}
