package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"text/tabwriter"

	"manifest/internal/accesspath"
)

// plannedRead is how a table would be reached for a training manifest.
type plannedRead struct {
	Role       string   `json:"role"`
	Table      string   `json:"table"`
	Path       string   `json:"access_path"`
	Why        string   `json:"why"`
	Partitions int      `json:"partitions,omitempty"` // that are listed
	Estimated  int64    `json:"estimated_partitions"` // of the table
	Columns    []string `json:"columns"`
	Rows       string   `json:"rows,omitempty"` // condition on those that are of use
}

// request is the training manifest that is planned.
func (o planOptions) request() exportOptions {
	return exportOptions{settings: o.settings, origin: o.origin, rows: o.rows, train: o.train, path: o.path, run: runOptions{scan: o.scan}}
}

// validateRequest checks what a training manifest is asked to be, or that none is.
func (o planOptions) validateRequest() error {
	if o.table == "" {
		_, err := o.request().spec()
		return err
	}
	if err := o.train.forbid(o.settings.given); err != nil {
		return usageError{err}
	}
	return nil
}

// planTraining shows how the tables of a training manifest would be reached.
func (o planOptions) planTraining(ctx context.Context, w io.Writer, from origin, log *slog.Logger) error {
	request := o.request()
	spec, err := request.spec()
	if err != nil {
		return err
	}
	t := &training{options: request, spec: spec, from: from, log: log}
	if t.plan, err = t.planOf(ctx); err != nil {
		return err
	}
	var reads []plannedRead
	for _, read := range t.plan.Reads() {
		in := t.inputs[read.Role]
		path, err := t.plan.Path(read, t.pathOptions(read, in), "")
		if err != nil {
			return usageError{err}
		}
		reads = append(reads, plannedRead{
			Role: string(read.Role), Table: in.table.String(), Path: string(path.Kind), Why: path.Why, Partitions: len(path.Ranges),
			Estimated: partitionsOf(in.plan), Columns: read.Columns, Rows: read.Rows.String(),
		})
	}
	if o.asJSON {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(reads)
	}
	return printReads(w, reads)
}

func printReads(w io.Writer, reads []plannedRead) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TABLE\tACCESS PATH\tPARTITIONS\tWHY")
	for _, r := range reads {
		partitions := fmt.Sprintf("about %d", r.Estimated)
		switch {
		case r.Path == string(accesspath.PartitionList) && r.Estimated == 0:
			partitions = fmt.Sprint(r.Partitions)
		case r.Path == string(accesspath.PartitionList):
			partitions = fmt.Sprintf("%d of about %d", r.Partitions, r.Estimated)
		case r.Estimated == 0:
			partitions = "unknown"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", r.Table, r.Path, partitions, r.Why)
	}
	return table.Flush()
}
