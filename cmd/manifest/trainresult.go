package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"manifest/export"
	"manifest/internal/trainset"
)

// publish describes the manifest and puts it in its place.
func (t *training) publish(ctx context.Context, w *trainset.Written) (export.Manifest, error) {
	record := t.record()
	record.PinFrom = t.pinned
	record.Splits, record.Rejects = w.Splits, w.Rejects
	for _, r := range w.Counts.Rejected {
		record.Rejected = append(record.Rejected, export.StageCount{Stage: r.Name, Rows: r.Images})
	}
	record.Proof = export.TrainingProof{
		Rows: w.Proof.Rows, RepeatedImages: w.Proof.Repeated, Groups: w.Proof.Groups, GroupsAcrossSplits: w.Proof.GroupsAcross,
		ContentHashes: w.Proof.Hashes, HashesAcrossSplits: w.Proof.HashesAcross, ContentHashesShared: w.Proof.SharedHashes, HashesKnown: w.HashesKnown,
	}
	base := t.reads[0].pass.input
	m := export.Manifest{
		Kind: "training", RunID: t.id, ToolVersion: buildVersion(), CreatedAt: time.Now().UTC(),
		Source:   base.record,
		Query:    export.Query{Text: t.options.trainText(), Columns: t.options.columns, Where: t.spec.Where.String()},
		Coverage: export.Coverage{Partitioner: base.plan.Partitioner, Complete: len(t.from.leftOut()) == 0, LeftOut: t.from.leftOut()},
		Training: record, Unfit: w.Unfit,
	}
	for _, r := range t.reads {
		record.Reads = append(record.Reads, r.record)
		m.Coverage.Splits += r.record.Splits
		if m.Window.Start.IsZero() || r.outcome.started.Before(m.Window.Start) {
			m.Window.Start = r.outcome.started
		}
		if r.outcome.ended.After(m.Window.End) {
			m.Window.End = r.outcome.ended
		}
		proof, err := r.pass.ledger()
		if err != nil {
			return m, err
		}
		if err := t.target.WriteFile(r.record.Ledger, proof); err != nil {
			return m, err
		}
	}
	w.Dataset.DescribeTraining(&m, w.Files, stagesOf(w.Counts))
	if !m.Coverage.Complete { // damaged SSTables were left out
		return m, t.target.PublishIncomplete(ctx, m)
	}
	if err := t.options.beside.write(ctx, t.target, m, w.Dataset.Schema(), t.shown); err != nil {
		return m, err
	}
	return m, t.target.Publish(ctx, m)
}

// stagesOf are the numbers of images behind each stage, in order.
func stagesOf(c trainset.Counts) []export.StageCount {
	stages := []export.StageCount{
		{Stage: "index_rows", Rows: c.IndexRows}, {Stage: "images", Rows: c.Images}, {Stage: "candidates", Rows: c.Candidates},
		{Stage: "matching", Rows: c.Matching}, {Stage: "accepted", Rows: c.Accepted}, {Stage: "unique", Rows: c.Unique},
	}
	for _, s := range c.Sampled {
		stages = append(stages, export.StageCount{Stage: s.Name, Rows: s.Images})
	}
	return append(stages, export.StageCount{Stage: "written", Rows: c.Kept})
}

// trainText is the request as a command line, without what says how to connect.
func (o exportOptions) trainText() string {
	args := []string{"export", "--format", o.format}
	if len(o.columns) > 0 {
		args = append(args, "--columns")
		args = append(args, strings.Join(o.columns, ","))
	}
	return shellWords(slices.Concat(args, o.derived.arguments(), o.rows.arguments(), o.train.arguments(), o.path.arguments()))
}

// trainedResult is what a user is told of a published manifest.
func trainedResult(out string, m export.Manifest) exportResult {
	r := exportResult{
		Run: m.RunID, Out: out, Complete: m.Coverage.Complete, Rows: m.Rows, Bytes: m.Bytes, Files: len(m.Files), Unfit: m.Unfit,
		Seconds: m.Window.End.Sub(m.Window.Start).Seconds(), Counts: m.Counts, Rejected: m.Training.Rejected, Splits: m.Training.Splits, LeftOut: m.Coverage.LeftOut,
	}
	if !r.Complete {
		r.Out = export.IncompleteDir(out)
	}
	for _, read := range m.Training.Reads {
		r.Read += read.Rows
	}
	return r
}

// printTraining tells a person how many images there were at each stage.
func (r exportResult) printTraining(w io.Writer) error {
	for _, c := range r.Counts {
		fmt.Fprintf(w, "%-12s %d\n", c.Stage, c.Rows)
	}
	for _, c := range r.Rejected {
		fmt.Fprintf(w, "rejected     %d %s\n", c.Rows, c.Stage)
	}
	for _, s := range r.Splits {
		fmt.Fprintf(w, "%s: %s in %s, %s\n", s.Name, count(s.Rows, "image"), count(int64(s.Files), "file"), sizeText(s.Bytes))
	}
	return printPlace(w, r.Complete, r.Out)
}
