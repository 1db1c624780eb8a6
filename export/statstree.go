package export

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"manifest/export/internal/textvalue"
)

// Names of files in a statistics directory.
const (
	RunFile     = "run.json"
	ViewsFile   = "views.duckdb.sql"
	journalFile = ".commit.json"
)

// NullDay is the partition of rows whose day is NULL, as Hive names it.
const NullDay = "__HIVE_DEFAULT_PARTITION__"

// StatsTree is a directory of statistics that runs add to:
//
//	NAME/dt=YYYY-MM-DD/part-RUN.parquet   a statistic by day
//	NAME/part-RUN.parquet                 one that is not
//	views.duckdb.sql                      a view for each statistic
//	run.json                              the last run
//	ledger-N.jsonl                        what it read of its tables, split by split
//
// A run replaces the days that it computed. Its files come into being together:
// Commit first writes down what it is going to do, and a Commit that was broken
// off is completed when the tree is opened again. One process at a time may have
// a tree open, and one goroutine use it, but for Write, which many may call at a
// time.
type StatsTree struct {
	dir    string
	opts   StatsTreeOptions
	mu     sync.Mutex
	given  map[string]bool // directories for which a day was given
	staged []stagedStatistic
	// ledgers are the records of the run's reading, under hidden names.
	ledgers []rename
	records []File
}

// StatsTreeOptions of OpenStatsTree.
type StatsTreeOptions struct {
	RunID   string // as in TargetOptions
	Parquet ParquetOptions
}

// stagedStatistic is one day of a statistic that the run replaces.
type stagedStatistic struct {
	dir  string // below the tree
	temp string // below the tree; "" where the day is only removed
	stat Statistic
}

// Statistic is a file of a statistics directory.
type Statistic struct {
	Name string `json:"name"`
	Day  string `json:"day,omitempty"` // the partition; "" where it is not by day
	File File   `json:"file"`          // its path is below the directory
}

// RunRecord is what run.json says.
type RunRecord struct {
	FormatVersion int          `json:"format_version"`
	RunID         string       `json:"run_id"`
	ToolVersion   string       `json:"tool_version"`
	CreatedAt     time.Time    `json:"created_at"`
	Source        Source       `json:"source"`
	Query         Query        `json:"query"`
	Window        Window       `json:"window"`
	Coverage      Coverage     `json:"coverage"`
	Counts        []StageCount `json:"counts,omitempty"`
	Statistics    []Statistic  `json:"statistics"`
	// Ledgers are the records of what was read, one for each of Counts.
	Ledgers []File `json:"ledgers,omitempty"`
	// Reads tells how the rows of each table were reached.
	Reads []TableRead `json:"reads,omitempty"`
}

var (
	statisticPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,99}$`)
	dayPattern       = regexp.MustCompile(`^[+-]?[0-9]+-[0-9]{2}-[0-9]{2}$`)
)

// DayOf gives the partition of a day, YYYY-MM-DD. Years outside of 0 to 9999
// have a sign and six digits.
func DayOf(day arrow.Date32) string { return textvalue.Date(int64(day)) }

// OpenStatsTree opens a directory, which it makes if needed, and completes a
// commit that was broken off.
func OpenStatsTree(dir string, opts StatsTreeOptions) (*StatsTree, error) {
	if !runIDPattern.MatchString(opts.RunID) {
		return nil, fmt.Errorf("run id %q can't be part of a file's name", opts.RunID)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make statistics directory: %w", err)
	}
	t := &StatsTree{dir: dir, opts: opts, given: map[string]bool{}}
	data, err := os.ReadFile(filepath.Join(dir, journalFile))
	if errors.Is(err, fs.ErrNotExist) {
		return t, t.probe()
	}
	if err != nil {
		return nil, fmt.Errorf("open statistics directory: %w", err)
	}
	var j journal
	if err := json.Unmarshal(data, &j); err != nil {
		return nil, fmt.Errorf("read %s of statistics directory: %w", journalFile, err)
	}
	return t, t.apply(j)
}

// probe finds out that the directory can't be written before anything is read.
func (t *StatsTree) probe() error {
	a, err := createAtomic(filepath.Join(t.dir, RunFile), false)
	if err != nil {
		return fmt.Errorf("open statistics directory: %w", err)
	}
	a.abort()
	return nil
}

// Days gives the partitions that a statistic has, in order, "" among them where
// it has a file that is not of a day.
func (t *StatsTree) Days(name string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(t.dir, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list days of statistic %s: %w", name, err)
	}
	var days []string
	for _, e := range entries {
		if isPart(e.Name()) {
			days = append(days, "")
			continue
		}
		day, ok := strings.CutPrefix(e.Name(), "dt=")
		if !ok || !e.IsDir() {
			continue
		}
		parts, err := os.ReadDir(filepath.Join(t.dir, name, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("list days of statistic %s: %w", name, err)
		}
		if slices.ContainsFunc(parts, func(p fs.DirEntry) bool { return isPart(p.Name()) }) {
			days = append(days, day)
		}
	}
	slices.Sort(days)
	return slices.Compact(days), nil
}

// Write writes one day of a statistic, "" for one that is not by day. It is not
// to be seen before Commit. Its columns must not be named dt.
func (t *StatsTree) Write(ctx context.Context, name, day string, schema *arrow.Schema, recs iter.Seq2[arrow.Record, error]) (err error) {
	s, err := t.stage(name, day)
	if err != nil {
		return err
	}
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if err != nil {
			delete(t.given, s.dir)
			return
		}
		t.staged = append(t.staged, s)
	}()
	if schema.HasField("dt") {
		return fmt.Errorf("statistic %s has a column dt, which is the name of the partition: %w", name, ErrColumn)
	}
	if err := os.MkdirAll(filepath.Join(t.dir, s.dir), 0o755); err != nil {
		return fmt.Errorf("write statistic %s: %w", name, err)
	}
	part := "part-" + t.opts.RunID + Parquet.extension()
	s.temp = filepath.Join(s.dir, "."+part+".tmp")
	if s.stat.File, err = WriteParquetFile(ctx, filepath.Join(t.dir, s.temp), schema, recs, t.opts.Parquet); err != nil {
		return fmt.Errorf("write statistic %s: %w", name, err)
	}
	s.stat.File.Path = filepath.ToSlash(filepath.Join(s.dir, part))
	return nil
}

// Remove removes one day of a statistic at Commit: the run found nothing there.
func (t *StatsTree) Remove(name, day string) error {
	s, err := t.stage(name, day)
	if err != nil {
		return err
	}
	t.staged = append(t.staged, s)
	return nil
}

// WriteLedger keeps the record of what the run read of a table: content is that
// of its ledger. It is not to be seen before Commit, which removes those of the
// run before.
func (t *StatsTree) WriteLedger(content []byte) (name string, err error) {
	name = fmt.Sprintf("ledger-%d.jsonl", len(t.ledgers)+1)
	temp := "." + name + "." + t.opts.RunID + ".tmp"
	if err := writeFileAtomic(filepath.Join(t.dir, temp), content, true); err != nil {
		return "", fmt.Errorf("write %s: %w", name, err)
	}
	if err := os.Chmod(filepath.Join(t.dir, temp), 0o600); err != nil { // it can hold keys, which statistics do not
		return "", fmt.Errorf("write %s: %w", name, err)
	}
	t.ledgers = append(t.ledgers, rename{temp, name})
	sum := sha256.Sum256(content)
	t.records = append(t.records, File{Path: name, Bytes: int64(len(content)), SHA256: hex.EncodeToString(sum[:])})
	return name, nil
}

func (t *StatsTree) stage(name, day string) (stagedStatistic, error) {
	if !statisticPattern.MatchString(name) {
		return stagedStatistic{}, fmt.Errorf("statistic %q can't be the name of a directory: %w", name, ErrColumn)
	}
	s := stagedStatistic{dir: name, stat: Statistic{Name: name, Day: day}}
	if day != "" {
		if day != NullDay && !dayPattern.MatchString(day) {
			return stagedStatistic{}, fmt.Errorf("statistic %s: %q is not a day: %w", name, day, ErrColumn)
		}
		s.dir = filepath.Join(name, "dt="+day)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.given[s.dir] {
		return stagedStatistic{}, fmt.Errorf("statistic %s, day %q is given twice: %w", name, day, ErrColumn)
	}
	t.given[s.dir] = true
	return s, nil
}

// Abort removes what was written.
func (t *StatsTree) Abort() error {
	var errs []error
	for _, s := range t.staged {
		if s.temp != "" {
			errs = append(errs, os.Remove(filepath.Join(t.dir, s.temp)))
			_ = os.Remove(filepath.Join(t.dir, s.dir)) // if it was made for nothing
		}
	}
	for _, l := range t.ledgers {
		errs = append(errs, os.Remove(filepath.Join(t.dir, l.From)))
	}
	clear(t.given)
	t.staged, t.ledgers, t.records = nil, nil, nil
	return errors.Join(errs...)
}
