package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"manifest/internal/sstable"
	sstables "manifest/internal/sstable/snapshot"
	"manifest/tokenrange"
)

func newSnapshotCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "snapshot",
		Short: "Look at snapshots and backups of SSTables",
		Long: `Look at snapshots and backups of SSTables. The commands that read tables take
them with --snapshot DIR.
` + exitStatus,
		Example: `  manifest snapshot ls /backup/node1 /backup/node2`,
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSnapshotLsCommand())
	return cmd
}

type snapshotLsOptions struct {
	snapshot snapshotOptions
	all      bool
	asJSON   bool
}

func newSnapshotLsCommand() *cobra.Command {
	var o snapshotLsOptions
	cmd := &cobra.Command{
		Use:   "ls DIR ...",
		Short: "List the tables of snapshots and backups",
		Long: `List the tables of snapshots and backups, and what their SSTables say of
themselves: nodes, SSTables, rows, bytes, the time in which they were written; and
what of a node's SSTables other commands read: the owned ranges, or all.
Rows and partitions are counted once for each SSTable that has something of them,
tombstones are about. No row is read.
` + exitStatus,
		Example: `  manifest snapshot ls /backup/node1 /backup/node2
  manifest snapshot ls /var/lib/cassandra/data --snapshot-tag nightly --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("which folder? Give DIR; see 'manifest snapshot ls --help'")
			}
			o.snapshot.dirs = args
			return runSnapshotLs(cmd, o)
		},
	}
	o.snapshot.addFindFlags(cmd)
	cmd.Flags().BoolVar(&o.all, "all", false, "list the system's own tables too")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print the list as JSON")
	return cmd
}

// tableListing is what the SSTables of a table say of themselves.
type tableListing struct {
	Keyspace string        `json:"keyspace"`
	Table    string        `json:"table"`
	ID       string        `json:"id"`
	Tags     []string      `json:"tags"`
	Nodes    []nodeListing `json:"nodes"`
	// Replicas tells what of the SSTables other commands read, ReplicasWhy why not
	// the owned ranges of all.
	Replicas    string   `json:"replicas"`
	ReplicasWhy []string `json:"replicas_why,omitempty"`
	listedFigures
	// Faults are why the table, or some of its SSTables, can't be read.
	Faults []string `json:"faults,omitempty"`
}

// nodeListing is the same of one node.
type nodeListing struct {
	Node    string          `json:"node"`
	Folders []string        `json:"folders"`
	Files   []sstableFigure `json:"files"`
	// Owned is the part of the ring that is read of the node's SSTables; null where
	// that is all, because it is not known.
	Owned *float64 `json:"owned"`
	listedFigures
}

// sstableFigure is the same of one SSTable.
type sstableFigure struct {
	Path    string `json:"path"`
	Version string `json:"version"`
	Level   int    `json:"level"`
	listedFigures
}

// listedFigures are sums over SSTables.
type listedFigures struct {
	SSTables   int        `json:"sstables"`
	Versions   []string   `json:"versions"`
	Partitions int64      `json:"partitions"`
	Rows       int64      `json:"rows"`
	Bytes      int64      `json:"bytes"`         // of the content
	Stored     int64      `json:"stored_bytes"`  // of Data.db
	From       *time.Time `json:"written_from"`  // earliest write; null where nothing is known
	To         *time.Time `json:"written_until"` // latest
	MaxTTL     int32      `json:"max_ttl_seconds"`
	Tombstones int64      `json:"tombstones"`
	// Unknown counts SSTables without figures.
	Unknown int `json:"without_figures,omitempty"`
}

func (f *listedFigures) add(r *sstable.Reader) {
	f.SSTables++
	if v := r.Descriptor().Name; !slices.Contains(f.Versions, v) {
		f.Versions = append(f.Versions, v)
		slices.Sort(f.Versions)
	}
	f.Bytes += r.Size()
	f.Stored += r.StoredSize()
	s := r.Stats()
	if s == nil {
		f.Unknown++
		return
	}
	f.Partitions += s.Partitions
	f.Rows += s.Rows
	f.Tombstones += s.Tombstones
	f.MaxTTL = max(f.MaxTTL, s.MaxTTL)
	// Where all there is are deletions of nothing, the times mean nothing.
	if s.MinTimestamp > s.MaxTimestamp {
		return
	}
	if from := time.UnixMicro(s.MinTimestamp).UTC(); f.From == nil || from.Before(*f.From) {
		f.From = &from
	}
	if to := time.UnixMicro(s.MaxTimestamp).UTC(); f.To == nil || to.After(*f.To) {
		f.To = &to
	}
}

func runSnapshotLs(cmd *cobra.Command, o snapshotLsOptions) error {
	if err := o.snapshot.validateReplicas(); err != nil {
		return err
	}
	schema, err := o.snapshot.schemaText()
	if err != nil {
		return err
	}
	catalog, err := o.snapshot.find(cmd.Context())
	if err != nil {
		return err
	}
	listings := []tableListing{}
	var faults []error
	for _, t := range catalog.Tables {
		if !o.all && (t.Keyspace == "system" || strings.HasPrefix(t.Keyspace, "system_")) {
			continue
		}
		l, err := listTable(cmd.Context(), t, func(p tokenrange.Partitioner) (sstables.Ownership, readReplicas, error) {
			return o.snapshot.ownership(cmd.Context(), catalog, t, schema, p)
		})
		listings = append(listings, l)
		faults = append(faults, err)
	}
	if o.asJSON {
		encoder := json.NewEncoder(cmd.OutOrStdout())
		encoder.SetIndent("", "  ")
		err = encoder.Encode(listings)
	} else {
		err = printListings(cmd.OutOrStdout(), listings)
	}
	return errors.Join(append(faults, err)...)
}

// listTable opens the SSTables of a table. ownership is asked what the nodes
// replicate. The error is of those that can't be opened.
func listTable(ctx context.Context, t sstables.Table, ownership func(tokenrange.Partitioner) (sstables.Ownership, readReplicas, error)) (tableListing, error) {
	l := tableListing{Keyspace: t.Keyspace, Table: t.Name, ID: t.ID, Tags: []string{}, Nodes: []nodeListing{}}
	l.Versions = []string{}
	if t.Fault != nil {
		l.Faults = append(l.Faults, t.Fault.Error())
	}
	var errs []error
	var owned sstables.Ownership
	var how readReplicas
	whole := 0
	for _, f := range t.Folders {
		tag := f.Tag
		if f.Backup {
			tag = "backups"
		}
		if tag != "" && !slices.Contains(l.Tags, tag) {
			l.Tags = append(l.Tags, tag)
		}
		i := slices.IndexFunc(l.Nodes, func(n nodeListing) bool { return n.Node == f.Node })
		if i < 0 {
			i = len(l.Nodes)
			l.Nodes = append(l.Nodes, nodeListing{Node: f.Node, Files: []sstableFigure{}})
			l.Nodes[i].Versions = []string{}
		}
		n := &l.Nodes[i]
		n.Folders = append(n.Folders, f.Name())
		readers, faults := f.OpenEach(ctx)
		for _, err := range faults {
			l.Faults = append(l.Faults, err.Error())
		}
		for _, r := range readers {
			file := sstableFigure{Path: r.Path(), Version: r.Descriptor().Name}
			if s := r.Stats(); s != nil {
				file.Level = s.Level
			}
			file.add(r)
			if how.mode == "" {
				var err error
				if owned, how, err = ownership(r.Partitioner()); err != nil {
					errs = append(errs, err)
				}
			}
			if tokens, ok := owned.Tokens(f.Node, r); ok {
				share := tokens.Fraction(r.Partitioner().Ring())
				n.Owned = &share
			} else {
				whole++
			}
			n.Files = append(n.Files, file)
			n.add(r)
			l.add(r)
		}
		errs = append(append(errs, faults...), sstable.CloseAll(readers))
	}
	l.Replicas, l.ReplicasWhy = modeOf(l.SSTables, whole), how.why
	return l, errors.Join(errs...)
}

func printListings(w io.Writer, listings []tableListing) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TABLE\tSNAPSHOT\tNODES\tSSTABLES\tFORMAT\tPARTITIONS\tROWS\tSTORED\tCONTENT\tWRITTEN\tTOMBSTONES\tMAX TTL\tREPLICAS")
	for _, l := range listings {
		fmt.Fprintf(table, "%s.%s\t%s\t%d\t%d\t%s\t%d\t%d\t%s\t%s\t%s\t%d\t%s\t%s\n",
			l.Keyspace, l.Table, orDash(strings.Join(l.Tags, ",")), len(l.Nodes), l.SSTables, orDash(strings.Join(l.Versions, ",")),
			l.Partitions, l.Rows, sizeText(l.Stored), sizeText(l.Bytes), span(l.From, l.To), l.Tombstones, lifetime(l.MaxTTL), l.Replicas)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	told := map[string]bool{}
	for _, l := range listings {
		for _, why := range l.ReplicasWhy {
			if told[why] {
				continue
			}
			told[why] = true
			fmt.Fprintf(w, "replicas: %s\n", why)
		}
		for _, fault := range l.Faults {
			fmt.Fprintf(w, "fault of %s.%s: %s\n", l.Keyspace, l.Table, fault)
		}
	}
	return nil
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// span shows the days of the first and the last write.
func span(from, to *time.Time) string {
	if from == nil || to == nil {
		return "-"
	}
	a, b := from.Format(time.DateOnly), to.Format(time.DateOnly)
	if a == b {
		return a
	}
	return a + ".." + b
}

// lifetime shows a time to live.
func lifetime(seconds int32) string {
	if seconds == 0 {
		return "-"
	}
	const day = 24 * 60 * 60
	if seconds%day == 0 {
		return fmt.Sprintf("%d d", seconds/day)
	}
	return (time.Duration(seconds) * time.Second).String()
}
