package e2e

import (
	"strings"
	"testing"
)

func TestHelp(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the binary, left out by -short")
	}
	for _, command := range []string{"doctor", "plan", "stats", "export"} {
		o := invocation{args: []string{command, "--help"}}.run(t)
		if o.code != exitDone || o.stderr != "" {
			t.Errorf("help: %s", o)
		}
		for _, part := range []string{"EXIT STATUS", "130", "Examples:", "manifest " + command, "--hosts"} {
			if !strings.Contains(o.stdout, part) {
				t.Errorf("the help of %s does not say %q", command, part)
			}
		}
	}
	if o := (invocation{args: []string{"completion", "bash"}}).run(t); o.code != exitDone || !strings.Contains(o.stdout, "complete") {
		t.Errorf("completion: %s", o)
	}
	if o := (invocation{args: []string{"version"}}).run(t); o.code != exitDone || strings.TrimSpace(o.stdout) == "" {
		t.Errorf("version: %s", o)
	}
	// A typing error in a name of a flag is met with the name, not with a page of help.
	if o := (invocation{args: []string{"stats", "--memroy", "1MiB"}}).run(t); o.code != exitUsage || strings.Contains(o.stderr, "Flags:") {
		t.Errorf("unknown flag: %s", o)
	}
}
