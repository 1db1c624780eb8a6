package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"manifest/export"
	"manifest/internal/ledger"
	"manifest/internal/tokensort"
	"manifest/internal/trainset"
)

type verifyOptions struct {
	settings settings
	place    placeOptions
	asJSON   bool
	revoked  revokedOptions
}

func newVerifyCommand() *cobra.Command {
	var o verifyOptions
	cmd := &cobra.Command{
		Use:   "verify DIR",
		Short: "Read a dataset or statistics again, and prove that they are whole",
		Long: `Read a published dataset, or the files of the last run of statistics, again:
checksums, sizes, rows (every page of every column is read), columns, counts, and
from the ledgers beside them that the token ranges that were read cover what was
asked exactly once. No cluster is needed. Of the directory of an unfinished run,
what is missing is said. What is in an object store is copied to this machine first.

Of a training manifest, the rows are read too: no image is there twice, no group
and no content is in two splits, and the splits and the order are those that the
hashes give. With --revoked the review statuses are read again, from the cluster
or from snapshots, and the images that are rejected or deleted by now are listed.
` + exitStatus,
		Example: `  manifest verify images
  manifest verify stats --json
  manifest verify s3://bucket/datasets/images
  manifest verify leaf --revoked --hosts 10.0.0.1`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("which directory? Give one; see 'manifest verify --help'")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.settings.apply(cmd); err != nil {
				return err
			}
			if o.revoked.wanted {
				return runRevoked(cmd, args[0], o)
			}
			o.asJSON = o.revoked.run.asJSON
			o.place.takeStore(o.revoked.origin)
			return runVerify(cmd, args[0], o)
		},
	}
	o.settings.addFlags(cmd)
	o.place.addFlags(cmd)
	o.revoked.addFlags(cmd)
	return cmd
}

// verified is what a verification read, and found.
type verified struct {
	Dir    string `json:"dir"`
	Kind   string `json:"kind"` // dataset, statistics or run
	Run    string `json:"run"`
	Files  int    `json:"files"`
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	Splits int    `json:"splits"`
	// Faults are what does not hold.
	Faults []string `json:"faults"`
}

func runVerify(cmd *cobra.Command, dir string, o verifyOptions) error {
	v, err := o.verify(cmd.Context(), dir)
	if err != nil && !errors.Is(err, export.ErrVerify) {
		return err
	}
	v.Faults = faults(err)
	if printed := v.print(cmd.OutOrStdout(), o.asJSON); printed != nil {
		return printed
	}
	if err != nil {
		return fmt.Errorf("%s: %w", dir, &differencesError{len(v.Faults)})
	}
	return nil
}

// verify reads a directory, or a copy of what an object store has.
func (o verifyOptions) verify(ctx context.Context, dir string) (verified, error) {
	where, err := o.place.open(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		return verified{}, err
	}
	defer where.close()
	if !where.remote() {
		return verifyDirectory(ctx, dir)
	}
	copied, err := where.copyHere(ctx)
	if err != nil {
		return verified{}, err
	}
	v, err := verifyDirectory(ctx, copied)
	v.Dir = dir
	return v, errors.Join(err, os.RemoveAll(copied))
}

// differencesError is a verification that found something.
type differencesError struct{ found int }

func (e *differencesError) Error() string { return count(int64(e.found), "fault") + " found" }

// faults lists the errors that were joined, one by one.
func faults(err error) []string {
	all := []string{}
	if err == nil {
		return all
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			if errors.Is(e, export.ErrVerify) && e != export.ErrVerify {
				all = append(all, faults(e)...)
			}
		}
		if len(all) > 0 {
			return all
		}
	}
	return []string{err.Error()}
}

// verifyDirectory tells by the files of a directory what it is.
func verifyDirectory(ctx context.Context, dir string) (verified, error) {
	if st, err := os.Stat(dir); err != nil {
		return verified{}, usageError{err}
	} else if !st.IsDir() {
		return verified{}, usagef("%s is not a directory", dir)
	}
	v, err := verifyDataset(ctx, dir)
	if !errors.Is(err, export.ErrNotDataset) {
		return v, err
	}
	v, err = verifyStatistics(ctx, dir)
	if !errors.Is(err, export.ErrNotDataset) {
		return v, err
	}
	record, err := ledger.Read(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return v, fmt.Errorf("%s holds neither %s nor %s nor %s: %w", dir, export.ManifestFile, export.RunFile, ledger.FileName, export.ErrNotDataset)
	}
	if err != nil {
		return v, err
	}
	v = verified{Dir: dir, Kind: "run", Run: record.Header.Run}
	v.take(record)
	return v, record.Prove()
}

func verifyDataset(ctx context.Context, dir string) (verified, error) {
	m, err := export.Verify(ctx, dir)
	v := verified{Dir: dir, Kind: "dataset", Run: m.RunID, Files: len(m.Files), Rows: m.Rows, Bytes: m.Bytes}
	if err != nil && !errors.Is(err, export.ErrVerify) {
		return v, err
	}
	if m.Training != nil {
		return v, errors.Join(err, v.verifyTraining(ctx, dir, m))
	}
	read := int64(-1)
	for _, c := range m.Counts {
		if c.Stage == "read" {
			read = c.Rows
		}
	}
	errs := []error{err, v.proveCoverage(filepath.Join(dir, ledger.FileName), read)}
	for _, r := range m.Reads {
		if r.Ledger != ledger.FileName {
			errs = append(errs, v.proveRead(dir, r))
		}
	}
	return v, errors.Join(errs...)
}

// verifyTraining reads the rows of a training manifest, and the ledgers of its tables.
func (v *verified) verifyTraining(ctx context.Context, dir string, m export.Manifest) error {
	v.Kind = "training manifest"
	errs := []error{trainset.Verify(ctx, dir, m, tokensort.Options{})}
	for _, r := range m.Training.Reads {
		errs = append(errs, v.proveRead(dir, r))
	}
	if len(m.Training.Reads) == 0 {
		errs = append(errs, fmt.Errorf("no table was read: %w", export.ErrVerify))
	}
	return errors.Join(errs...)
}

// proveRead reads the ledger of one of several reads of a dataset.
func (v *verified) proveRead(dir string, r export.TableRead) error {
	if !filepath.IsLocal(filepath.FromSlash(r.Ledger)) {
		return fmt.Errorf("ledger %q is not inside of the dataset: %w", r.Ledger, export.ErrVerify)
	}
	return v.proveCoverage(filepath.Join(dir, filepath.FromSlash(r.Ledger)), r.Rows)
}

func verifyStatistics(ctx context.Context, dir string) (verified, error) {
	run, err := export.VerifyStats(ctx, dir)
	v := verified{Dir: dir, Kind: "statistics", Run: run.RunID, Files: len(run.Statistics)}
	if err != nil && !errors.Is(err, export.ErrVerify) {
		return v, err
	}
	for _, s := range run.Statistics {
		v.Rows, v.Bytes = v.Rows+s.File.Rows, v.Bytes+s.File.Bytes
	}
	if len(run.Ledgers) != len(run.Counts) {
		err = errors.Join(err, fmt.Errorf("%d ledgers of %d tables: %w", len(run.Ledgers), len(run.Counts), export.ErrVerify))
	}
	for i := range min(len(run.Ledgers), len(run.Counts)) {
		err = errors.Join(err, v.proveCoverage(filepath.Join(dir, filepath.FromSlash(run.Ledgers[i].Path)), run.Counts[i].Rows))
	}
	return v, err
}

// proveCoverage reads a ledger and checks that what it says was read covers
// what was asked once, and has as many rows as the result says were read.
func (v *verified) proveCoverage(path string, rows int64) error {
	record, err := ledger.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s, which proves the coverage, is missing: %w", filepath.Base(path), export.ErrVerify)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", export.ErrVerify, err)
	}
	total := v.take(record)
	if err := record.Prove(); err != nil {
		return fmt.Errorf("%s: %w: %w", filepath.Base(path), export.ErrVerify, err)
	}
	if total != rows {
		return fmt.Errorf("%s: %d rows were read, and the result says %d: %w", filepath.Base(path), total, rows, export.ErrVerify)
	}
	return nil
}

// take counts what a ledger has, and gives its rows.
func (v *verified) take(record ledger.Record) (rows int64) {
	v.Splits += len(record.Receipts)
	for _, r := range record.Receipts {
		rows += r.Rows
	}
	if v.Kind == "run" {
		v.Rows += rows
	}
	return rows
}

func (v verified) print(w io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(v)
	}
	fmt.Fprintf(w, "%s %s of run %s: %s in %s, %s, read in %s\n", v.Kind, v.Dir, v.Run,
		count(v.Rows, "row"), count(int64(v.Files), "file"), sizeText(v.Bytes), count(int64(v.Splits), "split"))
	for _, f := range v.Faults {
		fmt.Fprintf(w, "  %s\n", f)
	}
	if len(v.Faults) > 0 {
		return nil
	}
	_, err := fmt.Fprintln(w, "whole: every file, row and token range is as it was recorded")
	return err
}
