package main

import (
	"context"
	"log/slog"
	"strings"

	sstables "manifest/internal/sstable/snapshot"
	"manifest/tokenrange"
)

// readReplicas is what of a table's SSTables is read.
type readReplicas struct {
	// mode is owned, all, or mixed.
	mode string
	// why says why it is not owned.
	why []string
}

// replicasMixed is the mode where some of the SSTables are read whole.
const replicasMixed = "mixed"

// modeOf names what is read of so many SSTables, some of them whole.
func modeOf(sstables, whole int) string {
	switch whole {
	case 0:
		return replicasOwned
	case sstables:
		return replicasAll
	}
	return replicasMixed
}

// restrict limits the SSTables of a table to what their nodes replicate, where that
// is asked for and can be told.
func (o *snapshotOrigin) restrict(ctx context.Context, found sstables.Table, table *sstables.Opened, log *slog.Logger) (readReplicas, error) {
	owned, how, err := o.options.ownership(ctx, o.catalog, found, o.schema, table.Partitioner())
	if err != nil {
		return how, err
	}
	if how.mode != replicasAll {
		whole := owned.Restrict(table)
		how.mode = modeOf(len(table.Readers()), whole)
		if whole > 0 && len(owned.Unknown) == 0 {
			how.why = append(how.why, count(int64(whole), "SSTable")+" written by another node than the one that has it, and read whole")
		}
	}
	level := slog.LevelInfo
	if len(how.why) > 0 && o.options.replicas == replicasOwned && !owned.Silent() {
		level = slog.LevelWarn
	}
	log.Log(ctx, level, "of each node's SSTables are read", "table", found.String(), "replicas", how.mode, "why", strings.Join(how.why, "; "))
	return how, nil
}

// ownership finds which tokens each node of a table replicates, if that is of use.
func (o *snapshotOptions) ownership(ctx context.Context, catalog *sstables.Catalog, found sstables.Table, schema string, p tokenrange.Partitioner) (sstables.Ownership, readReplicas, error) {
	if o.replicas == replicasAll {
		return sstables.Ownership{}, readReplicas{mode: replicasAll, why: []string{"--snapshot-replicas all"}}, nil
	}
	owned, err := catalog.Ownership(ctx, found, schema, p)
	if err != nil {
		return owned, readReplicas{}, err
	}
	how := readReplicas{mode: replicasOwned, why: owned.Reasons()}
	if !owned.Known() {
		how.mode = replicasAll
	}
	return owned, how, nil
}
