package main

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"manifest/internal/sstable"
	"manifest/internal/sstable/fault"
	sstables "manifest/internal/sstable/snapshot"
	"manifest/tokenrange"
)

// snapshotDescription describes a plan that reads SSTables: the load of each node
// whose files they are is what it has of them.
func snapshotDescription(table *sstable.Table, found sstables.Table, plan tokenrange.Plan, now time.Time) planDescription {
	type load struct {
		sstables    int
		rows, bytes int64
	}
	loads := map[string]load{}
	versions := map[string]bool{}
	var all load
	for _, r := range table.Readers() {
		node := nodeOf(found, r)
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
	d := planDescription{
		heading: []string{
			fmt.Sprintf("%s of %s, %s", found, count(int64(len(table.Readers())), "SSTable"), table.Partitioner().Name()),
			fmt.Sprintf("access path: full scan, %d splits, all copies merged as of %s", len(plan.Splits), now.Format(time.RFC3339)),
			fmt.Sprintf("format: %s; about %d rows with copies, %s to decompress", strings.Join(slices.Sorted(maps.Keys(versions)), ", "), all.rows, sizeText(all.bytes)),
		},
		columns: []string{"NODE", "SSTABLES", "ROWS", "BYTES"},
	}
	for _, node := range slices.Sorted(maps.Keys(loads)) {
		l := loads[node]
		d.loads = append(d.loads, []string{node, fmt.Sprint(l.sstables), fmt.Sprint(l.rows), sizeText(l.bytes)})
	}
	return d
}

// nodeOf is the node whose folder an SSTable is in.
func nodeOf(found sstables.Table, r *sstable.Reader) string {
	for _, f := range found.Folders {
		if path.Clean(f.Name()) == path.Dir(r.Path()) && f.Node != "" {
			return f.Node
		}
	}
	return path.Dir(r.Path())
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
