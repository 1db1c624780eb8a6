package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"manifest/internal/ledger"
	"manifest/internal/sstable/s3"
	sstables "manifest/internal/sstable/snapshot"
	"manifest/scan/snapshot"
)

// snapshotOptions say which files to read, and how.
type snapshotOptions struct {
	dirs      []string
	tag       string
	backups   bool
	schema    string
	onCorrupt string
	now       string
	replicas  string
	s3        s3.Options
}

func (o *snapshotOptions) addFlags(cmd *cobra.Command) {
	o.addFindFlags(cmd)
	f := cmd.Flags()
	f.StringSliceVar(&o.dirs, "snapshot", nil, "read SSTables instead of a cluster: a snapshot, a backup, or a folder of them, of one node or of several, local or as s3://BUCKET/PREFIX (repeatable)")
	f.StringVar(&o.onCorrupt, "on-corrupt", "fail", "a damaged SSTable: fail, or skip it and end incomplete")
	f.StringVar(&o.now, "now", "", "moment as of which SSTables are read, which decides what has expired, as 2025-06-01T00:00:00Z or in seconds since 1970 (default: the start of the run)")
}

// addFindFlags adds what decides which tables there are.
func (o *snapshotOptions) addFindFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.tag, "snapshot-tag", "", "name of the snapshot to read, where a data directory has several")
	f.BoolVar(&o.backups, "incremental-backups", false, "read the SSTables of folders backups/ too, on top of the snapshot")
	f.StringVar(&o.s3.Endpoint, "s3-endpoint", "", "address of the storage of s3://BUCKET/PREFIX, as https://host:port (default: AWS_ENDPOINT_URL, or Amazon's)")
	f.StringVar(&o.s3.Region, "s3-region", "", "region of the bucket (default: AWS_REGION, or what the storage says)")
	f.StringVar(&o.replicas, "snapshot-replicas", replicasOwned, "what to read of a node's SSTables: owned, the ranges that the node replicates, where the ring and the replication are in the backup; or all, also what is left over of other ranges")
	f.StringVar(&o.schema, "schema", "", "file of CQL that defines the tables (default: schema.cql of the snapshot, or its keyspace system_schema)")
}

// What is read of a node's SSTables.
const (
	replicasOwned = "owned"
	replicasAll   = "all"
)

func (o *snapshotOptions) validate() error {
	if err := o.validateReplicas(); err != nil {
		return err
	}
	if o.onCorrupt != "fail" && o.onCorrupt != "skip" {
		return usagef("--on-corrupt %q is not fail or skip", o.onCorrupt)
	}
	_, err := o.moment()
	return err
}

func (o *snapshotOptions) validateReplicas() error {
	if o.replicas != replicasOwned && o.replicas != replicasAll {
		return usagef("--snapshot-replicas %q is not %s or %s", o.replicas, replicasOwned, replicasAll)
	}
	return nil
}

// schemaText reads --schema; "" where it is not given.
func (o *snapshotOptions) schemaText() (string, error) {
	if o.schema == "" {
		return "", nil
	}
	text, err := os.ReadFile(o.schema)
	if err != nil {
		return "", usagef("--schema: %w", err)
	}
	return string(text), nil
}

// moment reads --now; the zero time where it is not given.
func (o *snapshotOptions) moment() (time.Time, error) {
	if o.now == "" {
		return time.Time{}, nil
	}
	if seconds, err := strconv.ParseInt(o.now, 10, 64); err == nil && seconds >= 0 {
		return time.Unix(seconds, 0).UTC(), nil
	}
	t, err := time.Parse(time.RFC3339, o.now)
	if err != nil {
		return time.Time{}, usagef("--now %q is neither a time like 2025-06-01T00:00:00Z nor seconds since 1970", o.now)
	}
	return t.UTC().Truncate(time.Second), nil
}

// nowOption names the moment in ledgers.
const nowOption = "now"

// resume takes the moment of an interrupted run from its ledger, where there is
// one and the user names no other.
func (o *snapshotOptions) resume(dir string) error {
	if o.now != "" || len(o.dirs) == 0 {
		return nil
	}
	record, err := ledger.Read(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, option := range record.Header.Options {
		if option.Name == nowOption {
			o.now = option.Value
		}
	}
	return nil
}

// find looks for the tables of the snapshots.
func (o *snapshotOptions) find(ctx context.Context) (*sstables.Catalog, error) {
	var trees []sstables.Tree
	var errs []error
	for _, dir := range o.dirs {
		tree, err := o.tree(dir)
		if err != nil {
			errs = append(errs, usagef("--snapshot: %w", err))
		}
		trees = append(trees, tree)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	catalog, err := sstables.Find(ctx, trees, sstables.Options{Tag: o.tag, Backups: o.backups})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(o.dirs, ", "), err)
	}
	return catalog, nil
}

// tree is the folder, local or in a bucket.
func (o *snapshotOptions) tree(dir string) (sstables.Tree, error) {
	if !s3.IsURL(dir) {
		return sstables.Local(dir)
	}
	bucket, err := s3.Open(dir, o.s3)
	if err != nil {
		return sstables.Tree{}, err
	}
	return sstables.Tree{Path: bucket.Path(), Files: bucket}, nil
}

// remote tells whether files come over a network.
func (o *snapshotOptions) remote() bool { return slices.ContainsFunc(o.dirs, s3.IsURL) }

// remoteWorkers is how many splits are read over a network at a time: most of the
// time is waiting.
const remoteWorkers = 8

// reading sizes the reads of a table's SSTables, by so many workers.
func (o *snapshotOptions) reading(opts snapshot.Options, workers, sstables int) snapshot.Options {
	if !o.remote() {
		return opts
	}
	// All windows together: each has what is read, what is looked at, and those
	// ahead.
	const memory, ahead = 128 << 20, 2
	opts.ReadAhead = ahead
	opts.ReadBytes = min(max(memory/((ahead+2)*max(1, workers*sstables)), 64<<10), 4<<20)
	return opts
}
