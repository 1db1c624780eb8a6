package pyenv

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// PythonVariable names the environment variable with an interpreter to use as it is.
const PythonVariable = "MANIFEST_PYTHON"

// installLimit bounds the making of an environment: some hundred megabytes are downloaded.
const installLimit = 15 * time.Minute

//go:embed requirements.txt
var requirements string

//go:embed spark.txt
var sparkRequirements string

//go:embed medusa.txt
var medusaRequirements string

//go:embed cqlite.txt
var cqliteRequirements string

// What a test asks for is looked up once per process: whether an environment is complete takes time to see.
var (
	process       = once(Interpreter)
	sparkProcess  = once(SparkInterpreter)
	medusaProcess = once(medusaInterpreter)
)

func once(find func(context.Context, io.Writer) (string, error)) func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		ctx, cancel := context.WithTimeout(context.Background(), installLimit)
		defer cancel()
		return find(ctx, os.Stderr)
	})
}

func medusaInterpreter(ctx context.Context, log io.Writer) (string, error) {
	return interpreter(ctx, "medusa-", medusaRequirements, log)
}

// SparkVariable asks for the tests that need Spark, with any text but "". They are left out otherwise: the packages alone are 370 MB.
const SparkVariable = "MANIFEST_SPARK"

// Spark returns the path of an interpreter that has pyspark, in an environment of its own. It needs Java 17. Without SparkVariable the test
// is skipped.
func Spark(t testing.TB) string {
	t.Helper()
	if os.Getenv(SparkVariable) == "" {
		t.Skipf("needs Spark, which %s=1 asks for", SparkVariable)
	}
	path, err := sparkProcess()
	if err != nil {
		t.Fatalf("no Spark for this test: %v", err)
	}
	return path
}

// Medusa returns the path of the program that backs nodes up, cassandra-medusa, whose packages want other versions than the rest. With
// -short the test is skipped.
func Medusa(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		sayShort()
		t.Skip("needs Medusa, left out by -short")
	}
	path, err := medusaProcess()
	if err != nil {
		t.Fatalf("no Medusa for this test: %v", err)
	}
	return filepath.Join(filepath.Dir(path), "medusa")
}

// Python returns the path of an interpreter that has the packages. With -short the test is skipped. Where the environment cannot be had,
// the test fails with the reason.
func Python(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		sayShort()
		t.Skip("needs Python packages, left out by -short")
	}
	path, err := process()
	if err != nil {
		t.Fatalf("no Python for this test: %v", err)
	}
	return path
}

var sayShort = sync.OnceFunc(func() {
	fmt.Fprintln(os.Stderr, "pyenv: tests that need Python packages are left out, by -short")
})

// Interpreter returns the path of an interpreter that has the packages, making the environment if the cache does not hold it. On log goes
// a line before anything that takes time. ctx bounds the wait for another process and the downloads.
func Interpreter(ctx context.Context, log io.Writer) (string, error) {
	if path := os.Getenv(PythonVariable); path != "" {
		found, err := exec.LookPath(path)
		if err != nil {
			return "", fmt.Errorf("%s: %w", PythonVariable, err)
		}
		return found, nil
	}
	return interpreter(ctx, "python-", requirements, log)
}

// SparkInterpreter is like Interpreter, with the environment that has pyspark, whatever SparkVariable says.
func SparkInterpreter(ctx context.Context, log io.Writer) (string, error) {
	return interpreter(ctx, "spark-", sparkRequirements, log)
}

// CQLiteInterpreter is like Interpreter, with the environment that has CQLite, another reader of SSTables.
func CQLiteInterpreter(ctx context.Context, log io.Writer) (string, error) {
	return interpreter(ctx, "cqlite-", cqliteRequirements, log)
}

// interpreter returns that of the environment of a list of packages, in a folder whose name begins with prefix.
func interpreter(ctx context.Context, prefix, requirements string, log io.Writer) (string, error) {
	base, version, err := baseInterpreter(ctx)
	if err != nil {
		return "", err
	}
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	return environment{
		dir:          filepath.Join(cache, prefix+hash(requirements, version)),
		base:         base,
		requirements: requirements,
	}.ready(ctx, log)
}

// baseInterpreter finds python3 and its version.
func baseInterpreter(ctx context.Context) (path, version string, err error) {
	if path, err = exec.LookPath("python3"); err != nil {
		return "", "", fmt.Errorf("find python3: %w", err)
	}
	out, err := exec.CommandContext(ctx, path, "-c", "import sys; print(sys.implementation.cache_tag, sys.version)").Output()
	if err != nil {
		return "", "", fmt.Errorf("ask %s for its version: %w", path, err)
	}
	return path, string(out), nil
}

func cacheDir() (string, error) {
	if dir := os.Getenv("MANIFEST_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find cache folder: %w", err)
	}
	return filepath.Join(dir, "manifest"), nil
}

func hash(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(sum[:6])
}

// environment is a virtual environment that exists or is to be made.
type environment struct {
	dir          string
	base         string // interpreter that makes it
	requirements string // text of the requirements file
}

func (e environment) python() string { return filepath.Join(e.dir, "bin", "python") }

// completeFile is written when everything is installed.
func (e environment) completeFile() string { return filepath.Join(e.dir, "complete") }

func (e environment) isComplete() bool {
	_, err := os.Stat(e.completeFile())
	return err == nil
}

// ready returns the interpreter of the environment, which it makes if need be.
func (e environment) ready(ctx context.Context, log io.Writer) (string, error) {
	if e.isComplete() {
		return e.python(), nil
	}
	if err := os.MkdirAll(filepath.Dir(e.dir), 0o755); err != nil {
		return "", fmt.Errorf("make cache folder: %w", err)
	}
	unlock, err := lock(ctx, e.dir+".lock", log)
	if err != nil {
		return "", err
	}
	defer unlock()
	if e.isComplete() { // by the process that held the lock
		return e.python(), nil
	}
	fmt.Fprintf(log, "pyenv: installing Python packages into %s, once\n", e.dir)
	if err := e.make(ctx); err != nil {
		return "", fmt.Errorf("make Python environment: %w", err)
	}
	return e.python(), nil
}

func (e environment) make(ctx context.Context) error {
	if err := os.RemoveAll(e.dir); err != nil {
		return err
	}
	if err := run(ctx, e.base, "-m", "venv", e.dir); err != nil {
		return err
	}
	list := filepath.Join(e.dir, "requirements.txt")
	if err := os.WriteFile(list, []byte(e.requirements), 0o644); err != nil {
		return err
	}
	// Wheels, but for what the list names: nothing is compiled on this machine. What the list does not name is not installed.
	install := []string{"-m", "pip", "install", "--quiet", "--no-input", "--only-binary", ":all:", "--no-deps", "-r", list}
	if err := run(ctx, e.python(), install...); err != nil {
		return err
	}
	if err := run(ctx, e.python(), "-m", "pip", "check"); err != nil {
		return err
	}
	return os.WriteFile(e.completeFile(), nil, 0o644)
}

// run runs a command; an error carries the end of what it printed.
func run(ctx context.Context, name string, args ...string) error {
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err == nil {
		return nil
	}
	const enough = 2000
	text := strings.TrimSpace(string(out[max(0, len(out)-enough):]))
	return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), errors.Join(ctx.Err(), err), text)
}
