package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"manifest/export"
	"manifest/internal/accesspath"
	"manifest/internal/metrics"
	"manifest/internal/tokensort"
	"manifest/internal/trainset"
	"manifest/queries"
	"manifest/scan"
	"manifest/tokenrange"
)

// revokedOptions say where the statuses of today are read.
type revokedOptions struct {
	wanted bool
	origin originOptions
	run    runOptions
	log    logOptions
}

func (o *revokedOptions) addFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.wanted, "revoked", false, "read the review statuses again, and list images of a training manifest that are rejected or deleted by now")
	o.origin.addFlags(cmd)
	o.run.addFlags(cmd)
	o.log.addFlags(cmd)
}

// revocations is what was found.
type revocations struct {
	Dir     string                `json:"dir"`
	Run     string                `json:"run"`
	Images  int64                 `json:"images"`
	Revoked []trainset.Revocation `json:"revoked"`
}

// runRevoked compares a training manifest with the review statuses of today.
func runRevoked(cmd *cobra.Command, dir string, o verifyOptions) (err error) {
	m, err := export.ReadManifest(dir)
	if err != nil {
		return err
	}
	if m.Training == nil {
		return usagef("%s is no training manifest: --revoked is about images", dir)
	}
	if err := errors.Join(o.revoked.run.validate(), o.revoked.origin.validate(o.settings)); err != nil {
		return err
	}
	log, err := o.revoked.log.logger()
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "manifest-revoked-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	id, err := o.revoked.run.runID(func(id string) string { return filepath.Join(work, id) })
	if err != nil {
		return err
	}
	watch, err := o.revoked.run.oversight.begin(cmd.Context(), metrics.Info{Run: id, Command: "verify", Output: dir, Version: buildVersion(), Started: time.Now()}, log)
	if err != nil {
		return err
	}
	defer func() { watch.finish(err) }()
	from, err := o.revoked.origin.open(cmd.Context(), log)
	if err != nil {
		return err
	}
	defer closeOrigin(from, log)
	found, err := o.revokedOf(cmd.Context(), dir, m, from, id, work, watch, log)
	if err != nil {
		return err
	}
	if err := found.print(cmd.OutOrStdout(), o.revoked.run.asJSON); err != nil {
		return err
	}
	if n := len(found.Revoked); n > 0 {
		return fmt.Errorf("%s: %w", dir, &differencesError{n})
	}
	return nil
}

// revokedOf reads the statuses of the images of a manifest.
func (o verifyOptions) revokedOf(ctx context.Context, dir string, m export.Manifest, from origin, id, work string, watch *oversight, log *slog.Logger) (found revocations, err error) {
	found = revocations{Dir: dir, Run: m.RunID, Revoked: []trainset.Revocation{}}
	keyspace, table := o.revoked.origin.tableName(o.settings.Names.tables().Of(queries.ReviewStatus))
	in, err := from.open(ctx, keyspace, table, o.revoked.run.scan, log)
	if err != nil {
		return found, err
	}
	plan, err := trainset.NewReviewPlan(in.table, o.settings.Names.Columns)
	if err != nil {
		return found, usageError{err}
	}
	read, partitioner, images := plan.Reads()[0], partitionerOf(in.plan), filepath.Join(work, "images.run")
	sorting := tokensort.Options{Dir: work}
	if found.Images, err = plan.WriteImages(ctx, dir, m, partitioner, images, sorting); err != nil {
		return found, err
	}
	path, err := plan.Path(read, accesspath.Options{Partitioner: partitioner, Partitions: partitionsOf(in.plan)}, images)
	if err != nil {
		return found, err
	}
	if path.Kind == accesspath.PartitionList {
		if in, err = in.within(path.Ranges); err != nil {
			return found, err
		}
	}
	parts := filepath.Join(work, "parts")
	if err := os.MkdirAll(parts, 0o755); err != nil {
		return found, err
	}
	gatherer, err := plan.Gather(read, trainset.GatherOptions{Dir: parts, Partitioner: partitioner, Candidates: images})
	if err != nil {
		return found, err
	}
	p := pass{
		dir: work, input: in, columns: readColumns(in.table, read.Columns),
		consumers: []scan.Consumer{scan.ConsumerFunc(func(ctx context.Context, s tokenrange.Split) (scan.Part, error) {
			return gatherer.Begin(ctx, s)
		})},
		query: in.options,
	}
	out, err := p.run(ctx, id, o.revoked.run, watch, log)
	if err != nil {
		return found, err
	}
	statuses, err := gatherer.Runs(ctx, sorting, out.splitIDs())
	if err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, statuses.Close()) }()
	return found, plan.Revoked(ctx, images, statuses, func(r trainset.Revocation) error {
		found.Revoked = append(found.Revoked, r)
		return nil
	})
}

func (f revocations) print(w io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(f)
	}
	for _, r := range f.Revoked {
		fmt.Fprintf(w, "%s %s %s\n", r.Image, r.Split, r.Status)
	}
	_, err := fmt.Fprintf(w, "%d of %s of %s are rejected or deleted by now\n", len(f.Revoked), count(f.Images, "image"), f.Dir)
	return err
}
