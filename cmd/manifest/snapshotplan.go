package main

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"manifest/internal/sstable/fault"
	sstables "manifest/internal/sstable/snapshot"
	"manifest/tokenrange"
)

// snapshotDescription describes a plan that reads SSTables: the load of each node
// whose files they are is what it has of them.
func snapshotDescription(table *sstables.Opened, found sstables.Table, plan tokenrange.Plan, now time.Time, how readReplicas) planDescription {
	type load struct {
		sstables    int
		rows, bytes int64
	}
	loads := map[string]load{}
	versions := map[string]bool{}
	var all load
	for i, r := range table.Readers() {
		node := table.Nodes[i]
		if node == "" {
			node = path.Dir(r.Path())
		}
		l := loads[node]
		l.sstables++
		l.bytes += r.Size()
		all.bytes += r.Size()
		if s := r.Stats(); s != nil {
			l.rows += s.Rows
			all.rows += s.Rows
		}
		loads[node] = l
		versions[r.Descriptor().Name] = true
	}
	read := "all copies merged"
	if how.mode != replicasAll {
		read = fmt.Sprintf("all replicas merged, each within its ranges (%s)", how.mode)
	}
	d := planDescription{
		heading: []string{
			fmt.Sprintf("%s of %s, %s", found, count(int64(len(table.Readers())), "SSTable"), table.Partitioner().Name()),
			fmt.Sprintf("format: %s; about %d rows with copies, %s to decompress", strings.Join(slices.Sorted(maps.Keys(versions)), ", "), all.rows, sizeText(all.bytes)),
		},
		access:  fmt.Sprintf("%d splits, %s as of %s", len(plan.Splits), read, now.Format(time.RFC3339)),
		columns: []string{"NODE", "SSTABLES", "ROWS", "BYTES"},
	}
	for _, node := range slices.Sorted(maps.Keys(loads)) {
		l := loads[node]
		d.loads = append(d.loads, []string{node, fmt.Sprint(l.sstables), fmt.Sprint(l.rows), sizeText(l.bytes)})
	}
	return d
}

// damaged finds in an error the SSTable that is damaged, by its Data.db.
func (o *snapshotOrigin) damaged(err error) (string, bool) {
	if !errors.Is(err, fault.ErrCorrupt) && !errors.Is(err, fault.ErrMissing) {
		return "", false
	}
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return "", false
	}
	for _, t := range o.opened {
		for _, r := range t.Readers() {
			if files := strings.TrimSuffix(r.Path(), "Data.db"); strings.HasPrefix(f.File, files) {
				return r.Path(), true
			}
		}
	}
	return "", false
}

// examineReplicas says once what is known of the nodes' ranges.
func (x *examination) examineReplicas(in *input) {
	if in.record.Kind != "snapshot" {
		return
	}
	detail := "what nodes have left of ranges that they don't replicate is not read"
	if in.record.Replicas != replicasOwned {
		detail = fmt.Sprintf("%s of each node's files is read, what is left over of ranges that it has lost too: %s", in.record.Replicas, strings.Join(in.record.ReplicasWhy, "; "))
	}
	for _, f := range x.findings {
		if f.Check == "replicas" && f.Detail == detail {
			return
		}
	}
	if in.record.Replicas == replicasOwned && len(in.record.ReplicasWhy) == 0 {
		x.ok("replicas", "%s", detail)
		return
	}
	x.warn("replicas", "a snapshot of all keyspaces, which has the ring in the keyspaces system and system_schema; or nodetool cleanup before the snapshot", "%s", detail)
}

// examineSnapshots looks at what was found in the folders.
func (x *examination) examineSnapshots(o *snapshotOrigin) {
	nodes, tables := map[string]bool{}, 0
	for _, t := range o.catalog.Tables {
		for _, n := range t.Nodes() {
			nodes[n] = true
		}
		if t.Fault == nil {
			tables++
		}
	}
	x.ok("snapshot", "%s in %s of %s", count(int64(tables), "table"), strings.Join(o.options.dirs, ", "), count(int64(len(nodes)), "node"))
	if len(nodes) == 1 {
		x.warn("snapshot", "--snapshot once more for each of the other nodes, if there are any", "these are the files of one node: of a cluster of several, that is only a part of each table")
	}
}
