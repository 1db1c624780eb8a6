package e2e

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"manifest/internal/casstest"
	"manifest/internal/pyenv"
)

// worker is a Python process that reads tables with another client and files with other readers, and compares. Its side is
// reference/worker.py. It answers one question at a time.
type worker struct {
	process   *exec.Cmd
	questions io.WriteCloser
	answers   *bufio.Reader
}

// startWorker starts a worker that ends with the test.
func startWorker(t *testing.T) *worker {
	t.Helper()
	w := &worker{process: exec.Command(pyenv.Python(t), "reference/worker.py")}
	w.process.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PYTHONHASHSEED=0", "TZ=UTC")
	w.process.Stderr = os.Stderr
	var err error
	if w.questions, err = w.process.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	answers, err := w.process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	w.answers = bufio.NewReader(answers)
	if err := w.process.Start(); err != nil {
		t.Fatalf("start Python: %v", err)
	}
	t.Cleanup(func() {
		w.questions.Close()
		if err := w.process.Wait(); err != nil {
			t.Errorf("Python ended: %v", err)
		}
	})
	return w
}

// connect gives the worker a session.
func (w *worker) connect(t testing.TB, c *casstest.Cluster) {
	t.Helper()
	params := map[string]any{"hosts": c.Hosts(), "port": c.Port()}
	if c.Options().Auth {
		params["user"], params["password"] = casstest.Superuser, casstest.SuperuserPassword
	}
	ask[struct{}](t, w, "connect", params)
}

// ask asks the worker and waits for the answer. An error of the worker ends the test.
func ask[T any](t testing.TB, w *worker, method string, params map[string]any) T {
	t.Helper()
	result, err := askForError[T](w, method, params)
	if err != nil {
		t.Fatalf("%s %v: %v", method, params, err)
	}
	return result
}

func askForError[T any](w *worker, method string, params map[string]any) (result T, err error) {
	question, err := json.Marshal(map[string]any{"method": method, "params": params})
	if err != nil {
		return result, err
	}
	if _, err := w.questions.Write(append(question, '\n')); err != nil {
		return result, fmt.Errorf("ask: %w", err)
	}
	line, err := w.answers.ReadBytes('\n')
	if err != nil {
		return result, fmt.Errorf("read answer: %w", err)
	}
	var answer struct {
		Result json.RawMessage `json:"result"`
		Error  string          `json:"error"`
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		return result, fmt.Errorf("read answer %q: %w", line, err)
	}
	if answer.Error != "" {
		return result, errors.New(answer.Error)
	}
	return result, json.Unmarshal(answer.Result, &result)
}
