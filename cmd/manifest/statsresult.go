package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"golang.org/x/sync/errgroup"

	"manifest/export"
	"manifest/queries"
	"manifest/scan"
)

// statsPlace is where statistics go: the tree that readers see, and the
// working directory of the run inside it.
type statsPlace struct {
	dir  string
	work string
	tree *export.StatsTree
}

func openStatsPlace(dir, run string) (*statsPlace, error) {
	tree, err := export.OpenStatsTree(dir, export.StatsTreeOptions{RunID: run})
	if err != nil {
		return nil, err
	}
	return &statsPlace{dir: dir, work: statsRunDir(dir, run), tree: tree}, nil
}

// openIncompleteStatsPlace is where the statistics of a run go that has left
// something out, in the place of those of an earlier such run.
func openIncompleteStatsPlace(place *statsPlace, run string) (*statsPlace, error) {
	dir := export.IncompleteDir(place.dir)
	if err := export.RemoveIncompleteStats(dir, ""); err != nil {
		return nil, err
	}
	tree, err := export.OpenStatsTree(dir, export.StatsTreeOptions{RunID: run + incompleteRun})
	if err != nil {
		return nil, err
	}
	return &statsPlace{dir: dir, work: place.work, tree: tree}, nil
}

// incompleteRun ends the id of a run, and so the names of its files, where
// something was left out.
const incompleteRun = ".INCOMPLETE"

// statsRunDir is the working directory of a run.
func statsRunDir(dir, run string) string { return filepath.Join(dir, ".run-"+run) }

// discard removes the working directory, and a tree in which nothing is left.
func (p *statsPlace) discard() error {
	err := os.RemoveAll(p.work)
	_ = os.Remove(p.dir) // fails, as it should, if there is anything in it
	return err
}

// statsResult is what a user is told.
type statsResult struct {
	Run        string       `json:"run"`
	Out        string       `json:"out"`
	Complete   bool         `json:"complete"`
	Tables     []tableCount `json:"tables"`
	Statistics []statCount  `json:"statistics"`
	Seconds    float64      `json:"seconds"`
	LeftOut    []string     `json:"left_out,omitempty"`
}

type tableCount struct {
	Table  string `json:"table"`
	Rows   int64  `json:"rows"`
	Splits int    `json:"splits"`
	// Largest are its largest partitions.
	Largest scan.Largest `json:"largest_partitions"`
}

type statCount struct {
	Name  string `json:"name"`
	Files int    `json:"files"`
	Rows  int64  `json:"rows"`
}

func (r statsResult) print(w io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(r)
	}
	for _, t := range r.Tables {
		fmt.Fprintf(w, "%s: %s read\n", t.Table, count(t.Rows, "row"))
		printLargest(w, t.Largest)
	}
	for _, s := range r.Statistics {
		fmt.Fprintf(w, "  %-22s %s in %s\n", s.Name, count(s.Rows, "row"), count(int64(s.Files), "file"))
	}
	return printPlace(w, r.Complete, r.Out)
}

// printLargest names the partition of the most rows, if any has several.
func printLargest(w io.Writer, l scan.Largest) {
	if len(l.ByRows) > 0 {
		p := l.ByRows[0]
		fmt.Fprintf(w, "  largest partition: %s, %s, %s of what was read\n", p.Key, count(p.Rows, "row"), sizeText(p.Bytes))
	}
}

// count gives a number of things: 1 row, 2 rows.
func count(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// publish merges the parts of all passes and makes their statistics visible
// together.
func (o statsOptions) publish(ctx context.Context, place *statsPlace, passes []*statsPass, leftOut []string) (result statsResult, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, place.tree.Abort())
		}
	}()
	result = statsResult{Run: strings.TrimPrefix(filepath.Base(place.work), ".run-"), Out: place.dir, Complete: len(leftOut) == 0, LeftOut: leftOut}
	record := export.RunRecord{ToolVersion: buildVersion(), CreatedAt: time.Now().UTC(), Query: export.Query{Text: o.text(), Where: o.rows.text()}}
	var tables []string
	for _, p := range passes {
		for i, aggregation := range p.aggregations {
			for _, table := range p.queries[i].Tables() {
				result.Statistics = append(result.Statistics, statCount{Name: o.published(table.Name)})
			}
			w := statsWriter{place: place, options: &o, query: p.queries[i], result: &result, written: map[string]bool{}}
			if err := w.write(ctx, aggregation, p.outcome.splitIDs()); err != nil {
				return result, err
			}
		}
		in := p.pass.input
		var ledgers [2]string
		if keys := p.reached.keys; keys != nil {
			if ledgers[0], err = writeLedger(place, keys.pass); err != nil {
				return result, err
			}
			record.Counts = append(record.Counts, export.StageCount{Stage: "read keys of " + in.table.String(), Rows: keys.outcome.rows})
			record.Coverage.Splits += len(keys.outcome.receipts)
		}
		if ledgers[1], err = writeLedger(place, p.pass); err != nil {
			return result, err
		}
		record.Reads = append(record.Reads, p.reached.records(in, p.outcome, ledgers[0], ledgers[1])...)
		tables = append(tables, in.table.String())
		result.Tables = append(result.Tables, tableCount{in.table.String(), p.outcome.rows, len(p.outcome.receipts), p.outcome.largest})
		record.Source = in.record
		record.Source.Table, record.Source.TableHash = strings.Join(tables, ", "), ""
		record.Counts = append(record.Counts, export.StageCount{Stage: "read " + in.table.String(), Rows: p.outcome.rows})
		record.Coverage.Partitioner = in.plan.Partitioner
		result.Complete = result.Complete && !p.outcome.incomplete
		record.Coverage.Splits, record.Coverage.LeftOut = record.Coverage.Splits+len(p.outcome.receipts), leftOut
		if record.Window.Start.IsZero() || p.outcome.started.Before(record.Window.Start) {
			record.Window.Start = p.outcome.started
		}
		if p.outcome.ended.After(record.Window.End) {
			record.Window.End = p.outcome.ended
		}
	}
	record.Coverage.Complete = result.Complete
	result.Seconds = record.Window.End.Sub(record.Window.Start).Seconds()
	return result, place.tree.Commit(ctx, record)
}

// writeLedger keeps the proof of what a pass has read, and gives its name.
func writeLedger(place *statsPlace, p pass) (string, error) {
	content, err := p.ledger()
	if err != nil {
		return "", err
	}
	return place.tree.WriteLedger(content)
}

// published is the name under which a result table is published.
func (o statsOptions) published(table string) string {
	if o.table != "" {
		return o.name
	}
	return table
}

// text is the request as a command line, without what says how to connect.
func (o statsOptions) text() string {
	parts := []string{"stats"}
	if o.table != "" {
		parts = append(parts, "--table", o.table, "--by", o.by, "--agg", o.agg)
	}
	if len(o.queries) > 0 {
		parts = append(parts, "--query", strings.Join(o.queries, ","))
	}
	return strings.Join(append(parts, o.rows.arguments()...), " ")
}

// statsWriter writes the result tables of one query, file by file.
type statsWriter struct {
	place   *statsPlace
	options *statsOptions
	query   *queries.Query
	result  *statsResult
	written map[string]bool // table and day
}

// resultPiece is a run of rows of one result table and day.
type resultPiece struct {
	table string
	day   string
	rec   arrow.Record
}

// errStopped ends a merge whose rows nobody wants any more.
var errStopped = errors.New("stopped")

// write merges the parts of a query. The merge hands its rows out and the tree
// takes them in, so that one of the two has to be a coroutine of the other.
// Rows of one table and day come next to each other. Most days are one record:
// such files are written beside each other, since making a file last is waiting.
func (w *statsWriter) write(ctx context.Context, a *queries.Aggregation, splits []string) error {
	next, stop := iter.Pull2(func(yield func(resultPiece, error) bool) {
		err := a.Finish(ctx, splits, func(table string, day *arrow.Date32, rec arrow.Record) error {
			if !yield(resultPiece{table, w.partition(table, day), rec}, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(resultPiece{}, err)
		}
	})
	defer stop()
	files, filesCtx := errgroup.WithContext(ctx)
	files.SetLimit(filesAtATime)
	err := w.writeFiles(filesCtx, files, next)
	if fileErr := files.Wait(); fileErr != nil {
		return fileErr // which ended the others
	}
	if err != nil {
		return err
	}
	return w.removeStale(ctx)
}

// filesAtATime bounds the records that wait to be written.
const filesAtATime = 8

// writeFiles writes all pieces, those of small files by the group.
func (w *statsWriter) writeFiles(ctx context.Context, files *errgroup.Group, next func() (resultPiece, error, bool)) error {
	piece, err, ok := next()
	for ok && err == nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		first := piece
		first.rec.Retain()
		w.count(first)
		w.written[first.table+"/"+first.day] = true
		w.countFile(first.table)
		same := func() bool { return ok && err == nil && piece.table == first.table && piece.day == first.day }
		write := func(rows iter.Seq2[arrow.Record, error]) error {
			defer first.rec.Release()
			return w.place.tree.Write(ctx, w.options.published(first.table), first.day, w.schema(first.table), rows)
		}
		piece, err, ok = next()
		if !same() {
			files.Go(func() error {
				return write(func(yield func(arrow.Record, error) bool) { yield(first.rec, nil) })
			})
			continue
		}
		if err := write(func(yield func(arrow.Record, error) bool) {
			if !yield(first.rec, nil) {
				return
			}
			for same() {
				w.count(piece)
				if !yield(piece.rec, nil) {
					return
				}
				piece, err, ok = next()
			}
			if err != nil {
				yield(nil, err)
			}
		}); err != nil {
			return err
		}
	}
	return err
}

// partition names the day of a table by day; others have none.
func (w *statsWriter) partition(table string, day *arrow.Date32) string {
	switch {
	case !w.table(table).ByDay:
		return ""
	case day == nil:
		return export.NullDay
	default:
		return export.DayOf(*day)
	}
}

func (w *statsWriter) table(name string) queries.ResultTable {
	for _, t := range w.query.Tables() {
		if t.Name == name {
			return t
		}
	}
	return queries.ResultTable{}
}

func (w *statsWriter) schema(table string) *arrow.Schema { return w.table(table).Schema }

func (w *statsWriter) stat(table string) *statCount {
	name := w.options.published(table)
	for i := range w.result.Statistics {
		if w.result.Statistics[i].Name == name {
			return &w.result.Statistics[i]
		}
	}
	return &statCount{}
}

func (w *statsWriter) count(p resultPiece)    { w.stat(p.table).Rows += p.rec.NumRows() }
func (w *statsWriter) countFile(table string) { w.stat(table).Files++ }

// removeStale removes the days of earlier runs that this run speaks for and
// found nothing in. A table that is not by day, and of which no row came,
// still gets its file, so that readers find the columns.
func (w *statsWriter) removeStale(ctx context.Context) error {
	for _, t := range w.query.Tables() {
		name := w.options.published(t.Name)
		if !t.ByDay {
			if !w.written[t.Name+"/"] {
				if err := w.place.tree.Write(ctx, name, "", t.Schema, func(func(arrow.Record, error) bool) {}); err != nil {
					return err
				}
				w.countFile(t.Name)
			}
			continue
		}
		days, err := w.place.tree.Days(name)
		if err != nil {
			return err
		}
		for _, day := range days {
			if w.written[t.Name+"/"+day] || !w.options.rows.speaksFor(day) {
				continue
			}
			if err := w.place.tree.Remove(name, day); err != nil {
				return err
			}
		}
	}
	return nil
}
