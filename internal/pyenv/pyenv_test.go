package pyenv

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestPackagesImportInTheStatedVersions(t *testing.T) {
	if os.Getenv(PythonVariable) != "" {
		t.Skipf("%s is set: its packages are its owner's affair", PythonVariable)
	}
	python := Python(t)
	const listed = `import importlib.metadata as m
import cassandra.cluster, datasets, duckdb, mlcroissant, pandas, polars, pyarrow.parquet, webdataset
for d in m.distributions(): print(d.name + "==" + d.version)`
	out, err := exec.CommandContext(t.Context(), python, "-c", listed).CombinedOutput()
	if err != nil {
		t.Fatalf("import: %v: %s", err, out)
	}
	installed := strings.Split(strings.ToLower(string(out)), "\n")
	for line := range strings.Lines(requirements) {
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "--") {
			continue
		}
		if !slices.Contains(installed, strings.ToLower(strings.TrimSpace(line))) {
			t.Errorf("%q is not installed", line)
		}
	}
}

// empty gives an environment without packages, which takes no download.
func empty(t *testing.T) environment {
	t.Helper()
	if testing.Short() {
		t.Skip("makes a virtual environment, left out by -short")
	}
	base, _, err := baseInterpreter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return environment{dir: filepath.Join(t.TempDir(), "python"), base: base, requirements: "# nothing\n"}
}

func TestOneOfManyMakesAnewWhatAKilledProcessLeft(t *testing.T) {
	e := empty(t)
	debris := filepath.Join(e.dir, "lib", "half")
	if err := os.MkdirAll(debris, 0o755); err != nil {
		t.Fatal(err)
	}
	logs := make([]strings.Builder, 3)
	var group sync.WaitGroup
	for i := range logs {
		group.Go(func() {
			if _, err := e.ready(t.Context(), &logs[i]); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	made := 0
	for i := range logs {
		made += strings.Count(logs[i].String(), "installing")
	}
	if made != 1 {
		t.Errorf("made %d times, want once", made)
	}
	if _, err := os.Stat(debris); !os.IsNotExist(err) {
		t.Errorf("debris of the earlier attempt: %v, want it gone", err)
	}
	if out, err := exec.CommandContext(t.Context(), e.python(), "-c", "print(6*7)").Output(); err != nil || string(out) != "42\n" {
		t.Errorf("interpreter: %q, %v", out, err)
	}
}

func TestAFailureSaysWhatPipSaid(t *testing.T) {
	e := empty(t)
	e.requirements = "not a requirement ==\n"
	_, err := e.ready(t.Context(), io.Discard)
	if err == nil || !strings.Contains(err.Error(), "not a requirement") {
		t.Fatalf("got %v, want an error that quotes the bad line", err)
	}
	if e.isComplete() {
		t.Error("the environment counts as complete")
	}
}

func TestTheInterpreterCanBeNamed(t *testing.T) {
	if testing.Short() {
		t.Skip("needs python3, left out by -short")
	}
	t.Setenv(PythonVariable, "/nowhere/python")
	if _, err := Interpreter(t.Context(), io.Discard); err == nil || !strings.Contains(err.Error(), PythonVariable) {
		t.Errorf("got %v, want an error that names %s", err, PythonVariable)
	}
	base, _, err := baseInterpreter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(PythonVariable, base)
	if got, err := Interpreter(t.Context(), io.Discard); err != nil || got != base {
		t.Errorf("got %q, %v, want %q", got, err, base)
	}
}
