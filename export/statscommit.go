package export

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// journal is what a commit of a statistics directory is going to do. Doing it
// twice is the same as doing it once.
type journal struct {
	Renames []rename  `json:"renames"`
	Replace []string  `json:"replace"` // directories whose other parts go
	Run     RunRecord `json:"run"`
}

type rename struct {
	From string `json:"from"` // below the tree, with slashes
	To   string `json:"to"`
}

// Commit puts the run's files in their places, removes those that they replace,
// and writes the views, and run.json last. The run's id and list of statistics
// are filled in. When it fails before the journal is written nothing has
// changed; later, opening the tree completes it.
//
// A reader that looks in between may see a day of both runs.
func (t *StatsTree) Commit(ctx context.Context, run RunRecord) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	run.FormatVersion = FormatVersion
	run.RunID = t.opts.RunID
	run.Statistics = []Statistic{}
	var j journal
	for _, s := range t.staged {
		j.Replace = append(j.Replace, filepath.ToSlash(s.dir))
		if s.temp == "" {
			continue
		}
		j.Renames = append(j.Renames, rename{filepath.ToSlash(s.temp), s.stat.File.Path})
		run.Statistics = append(run.Statistics, s.stat)
	}
	j.Renames = append(j.Renames, t.ledgers...)
	run.Ledgers = t.records
	slices.SortFunc(run.Statistics, func(a, b Statistic) int { return strings.Compare(a.File.Path, b.File.Path) })
	j.Run = run
	data, err := json.Marshal(j)
	if err != nil {
		return fmt.Errorf("commit statistics: %w", err)
	}
	if err := writeFileAtomic(filepath.Join(t.dir, journalFile), data, true); err != nil {
		return fmt.Errorf("commit statistics: %w", err)
	}
	if err := syncDir(t.dir); err != nil {
		return fmt.Errorf("commit statistics: %w", err)
	}
	clear(t.given)
	t.staged, t.ledgers, t.records = nil, nil, nil
	return t.apply(j)
}

// apply does what a journal says.
func (t *StatsTree) apply(j journal) error {
	if err := t.applyFiles(j); err != nil {
		return fmt.Errorf("commit statistics: %w", err)
	}
	views, err := t.views()
	if err != nil {
		return fmt.Errorf("commit statistics: %w", err)
	}
	if err := writeFileAtomic(filepath.Join(t.dir, ViewsFile), views, true); err != nil {
		return fmt.Errorf("commit statistics: %w", err)
	}
	data, err := json.MarshalIndent(j.Run, "", "  ")
	if err != nil {
		return fmt.Errorf("commit statistics: %w", err)
	}
	if err := writeFileAtomic(filepath.Join(t.dir, RunFile), append(data, '\n'), true); err != nil {
		return fmt.Errorf("commit statistics: %w", err)
	}
	if err := os.Remove(filepath.Join(t.dir, journalFile)); err != nil {
		return fmt.Errorf("commit statistics: %w", err)
	}
	return syncDir(t.dir)
}

func (t *StatsTree) applyFiles(j journal) error {
	made := make(map[string]bool)
	for _, r := range j.Renames {
		if !filepath.IsLocal(filepath.FromSlash(r.From)) || !filepath.IsLocal(filepath.FromSlash(r.To)) {
			return fmt.Errorf("journal renames %q to %q: %w", r.From, r.To, ErrVerify)
		}
		made[r.To] = true
		from, to := filepath.Join(t.dir, filepath.FromSlash(r.From)), filepath.Join(t.dir, filepath.FromSlash(r.To))
		err := os.Rename(from, to)
		if errors.Is(err, fs.ErrNotExist) {
			_, err = os.Stat(to) // it was renamed before
		}
		if err != nil {
			return fmt.Errorf("name statistic: %w", err)
		}
		if err := syncDir(filepath.Dir(to)); err != nil {
			return err
		}
	}
	for _, dir := range j.Replace {
		if !filepath.IsLocal(filepath.FromSlash(dir)) {
			return fmt.Errorf("journal replaces %q: %w", dir, ErrVerify)
		}
		if err := t.removeOthers(dir, made); err != nil {
			return err
		}
	}
	return t.removeLedgers(made)
}

var ledgerPattern = regexp.MustCompile(`^ledger-[0-9]+\.jsonl$`)

// removeLedgers removes those of the run before that this one has not replaced.
func (t *StatsTree) removeLedgers(keep map[string]bool) error {
	entries, err := os.ReadDir(t.dir)
	if err != nil {
		return fmt.Errorf("replace ledgers: %w", err)
	}
	for _, e := range entries {
		if !ledgerPattern.MatchString(e.Name()) || keep[e.Name()] {
			continue
		}
		if err := os.Remove(filepath.Join(t.dir, e.Name())); err != nil {
			return fmt.Errorf("remove replaced ledger: %w", err)
		}
	}
	return nil
}

// removeOthers removes the parts of a directory that are not of this run, and
// the directory when it is empty then.
func (t *StatsTree) removeOthers(dir string, keep map[string]bool) error {
	path := filepath.Join(t.dir, filepath.FromSlash(dir))
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("replace statistic: %w", err)
	}
	left := len(entries)
	for _, e := range entries {
		if !isPart(e.Name()) || keep[dir+"/"+e.Name()] {
			continue
		}
		if err := os.Remove(filepath.Join(path, e.Name())); err != nil {
			return fmt.Errorf("remove replaced statistic: %w", err)
		}
		left--
	}
	if left == 0 {
		return os.Remove(path)
	}
	return nil
}

// isPart says whether a file is one that Write makes.
func isPart(name string) bool {
	return strings.HasPrefix(name, "part-") && strings.HasSuffix(name, Parquet.extension())
}

const viewsHead = `-- Views of the statistics in this directory, for DuckDB. In this directory:
--   duckdb stats.duckdb < views.duckdb.sql
-- Paths are relative to the directory that DuckDB runs in. For a database that
-- is opened elsewhere:
--   sed "s|read_parquet('|read_parquet('$PWD/|" views.duckdb.sql | duckdb /path/to/stats.duckdb
`

// views gives the SQL of a view for each statistic in the directory.
func (t *StatsTree) views() ([]byte, error) {
	entries, err := os.ReadDir(t.dir)
	if err != nil {
		return nil, fmt.Errorf("list statistics: %w", err)
	}
	var b strings.Builder
	b.WriteString(viewsHead)
	for _, e := range entries { // in the order of names
		if !e.IsDir() || !statisticPattern.MatchString(e.Name()) {
			continue
		}
		days, err := t.Days(e.Name())
		if err != nil {
			return nil, err
		}
		if len(days) == 0 {
			continue
		}
		files := e.Name() + "/dt=*/part-*" + Parquet.extension()
		if days[len(days)-1] == "" { // sorts first, so there is no other
			files = e.Name() + "/part-*" + Parquet.extension()
		}
		fmt.Fprintf(&b, "CREATE OR REPLACE VIEW %s AS SELECT * FROM read_parquet('%s', hive_partitioning = true, union_by_name = true);\n",
			strings.ReplaceAll(e.Name(), "-", "_"), files)
	}
	return []byte(b.String()), nil
}
