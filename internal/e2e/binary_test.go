package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"manifest/internal/casstest"
)

// The exit codes that the binary documents.
const (
	exitDone        = 0
	exitFault       = 1
	exitUsage       = 2
	exitIncomplete  = 3
	exitDifferences = 4
	exitNoAccess    = 5
	exitInterrupted = 130
)

// binaryDir holds the binary; TestMain removes it.
var binaryDir string

// quickSchema spares servers the flush at every schema change, without which loading the tables takes less than half the time. It is for
// servers that are not killed and started again, which would not know of their last tables.
const quickSchema = "-Dcassandra.test.flush_local_schema_changes=false"

func TestMain(m *testing.M) {
	if err := os.Setenv("JDK_JAVA_OPTIONS", strings.TrimSpace(os.Getenv("JDK_JAVA_OPTIONS")+" "+quickSchema)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	if binaryDir, err = os.MkdirTemp("", "manifest-e2e-"); err != nil {
		return 1, err
	}
	defer os.RemoveAll(binaryDir)
	if err := os.Chmod(binaryDir, 0o755); err != nil { // for runAsNobody
		return 1, err
	}
	code = casstest.Main(m)
	if dir, err := memoryDir(); err == nil {
		err = os.RemoveAll(dir)
		if err != nil {
			return 1, err
		}
	}
	return code, nil
}

// buildBinary builds the binary at the first call: -short needs none.
var buildBinary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(binaryDir, "manifest")
	build := exec.Command("go", "build", "-o", path, "manifest/cmd/manifest")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the binary: %w: %s", err, out)
	}
	return path, nil
})

// outcome is what a run of the binary gave.
type outcome struct {
	command string // for messages
	code    int
	stdout  string
	stderr  string
}

func (o outcome) String() string {
	return fmt.Sprintf("%s\nexit code %d\nstandard error: %s\nstandard output: %s", o.command, o.code, o.stderr, o.stdout)
}

// invocation is a run of the binary to be.
type invocation struct {
	args []string
	env  []string // beside the variables of this process
	dir  string   // "" is this package's
}

// command prepares the process. Settings of the one who tests must not reach the binary.
func (i invocation) command(ctx context.Context, t testing.TB) *exec.Cmd {
	t.Helper()
	path, err := buildBinary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, path, i.args...)
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "MANIFEST_") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Env = append(cmd.Env, i.env...)
	cmd.Dir = i.dir
	return cmd
}

// run runs the binary to its end.
func (i invocation) run(t testing.TB) outcome {
	t.Helper()
	return i.runCommand(t, i.command(t.Context(), t))
}

// runAsNobody runs the binary without the rights of root, which has all.
func (i invocation) runAsNobody(t testing.TB) outcome {
	t.Helper()
	cmd := i.command(t.Context(), t)
	if os.Getuid() == 0 {
		const nobody = 65534
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	return i.runCommand(t, cmd)
}

func (i invocation) runCommand(t testing.TB, cmd *exec.Cmd) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("run the binary: %v", err)
	}
	return outcome{
		command: "manifest " + strings.Join(i.args, " "),
		code:    cmd.ProcessState.ExitCode(),
		stdout:  stdout.String(),
		stderr:  stderr.String(),
	}
}
