package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"manifest/internal/accesspath"
	"manifest/internal/cassandra"
	"manifest/internal/schema"
	"manifest/tokenrange"
)

type planOptions struct {
	settings settings
	origin   originOptions
	scan     scanOptions
	rows     rowOptions
	path     pathOptions
	train    trainOptions
	log      logOptions
	table    string
	asJSON   bool
}

func newPlanCommand() *cobra.Command {
	o := planOptions{scan: scanOptions{nodeRate: 16 << 20}}
	cmd := &cobra.Command{
		Use:   "plan [--table KS.T]",
		Short: "Show how a table, or those of a training manifest, would be read",
		Long: `Show how a table would be read: the splits that tile the token ring, the nodes
that would serve them, the partitions and bytes that the nodes' own estimates, or
the figures of the SSTables, promise, and how long each node would be busy. With
conditions on the rows it says whether the wanted partitions can be read alone,
and why. No row of the table is read. With --json the plan itself is printed.

Without --table, show how the tables of a training manifest would be reached, by
the flags that export has for it, and why: as a list of partitions, by reading the
partition keys first, or by a full scan.
` + exitStatus,
		Example: `  manifest plan --hosts 10.0.0.1 --table image_keyspace.image_metadata
  manifest plan --table image_metadata --splits 64 --json
  manifest plan --table tag_image_index --tags leaf_spot --from 2025-06-01 --to 2025-06-30
  manifest plan --tags "leaf_spot AND NOT blurry" --from 2025-06-01 --to 2025-06-30
  manifest plan --table image_metadata --snapshot /backup/node1 --snapshot /backup/node2`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.settings.apply(cmd); err != nil {
				return err
			}
			return runPlan(cmd, o)
		},
	}
	o.settings.addFlags(cmd)
	o.origin.addFlags(cmd)
	o.scan.addPlanFlags(cmd)
	o.rows.addFlags(cmd)
	o.path.addFlags(cmd)
	o.train.addFlags(cmd)
	o.log.addFlags(cmd)
	cmd.Flags().StringVar(&o.table, "table", "", "table to read, as KS.T or T (default: those of a training manifest)")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print the plan as JSON")
	cmd.Flags().Var(&o.scan.nodeRate, "node-rate", "bytes of values that a node hands out per second, for the time that is printed")
	return cmd
}

func runPlan(cmd *cobra.Command, o planOptions) error {
	if o.scan.nodeRate <= 0 {
		return usagef("--node-rate has to be more than nothing")
	}
	if err := errors.Join(o.scan.validate(), o.path.validate(), o.origin.validate(o.settings), o.validateRequest()); err != nil {
		return err
	}
	log, err := o.log.logger()
	if err != nil {
		return err
	}
	from, err := o.origin.open(cmd.Context(), log)
	if err != nil {
		return err
	}
	defer closeOrigin(from, log)
	if o.table == "" {
		return o.planTraining(cmd.Context(), cmd.OutOrStdout(), from, log)
	}
	keyspace, table := o.origin.tableName(o.table)
	in, err := from.open(cmd.Context(), keyspace, table, o.scan, log)
	if err != nil {
		return err
	}
	path, err := o.reach(&in, log)
	if err != nil {
		return err
	}
	if o.asJSON {
		encoder := json.NewEncoder(cmd.OutOrStdout())
		encoder.SetIndent("", "  ")
		return errors.Join(encoder.Encode(in.plan), incomplete(from))
	}
	return errors.Join(in.describe.print(cmd.OutOrStdout(), path), incomplete(from))
}

// reach gives the access path to the wanted rows of a table, and plans a list of
// partitions in place of the whole table.
func (o planOptions) reach(in **input, log *slog.Logger) (accesspath.Path, error) {
	filter, err := o.rows.filter((*in).table)
	if err != nil {
		return accesspath.Path{}, err
	}
	reading := tableReading{rows: o.rows, filter: filter, path: o.path, scan: o.scan, log: log}
	path, err := reading.choose(*in)
	if err == nil && path.Kind == accesspath.PartitionList {
		*in, err = reading.within(*in, path.Ranges)
	}
	return path, err
}

// planDescription is a plan for people.
type planDescription struct {
	// heading has a line for each thing to know; access goes on the line that
	// begins with the access path.
	heading []string
	access  string
	// loads is what each node has to do with it, columns its names.
	columns []string
	loads   [][]string
}

func (d planDescription) print(w io.Writer, path accesspath.Path) error {
	fmt.Fprintln(w, d.heading[0])
	fmt.Fprintf(w, "access path: %s, %s\n", strings.ReplaceAll(string(path.Kind), "-", " "), d.access)
	fmt.Fprintf(w, "  why: %s\n", path.Why)
	if path.Kind == accesspath.DistinctThenRead {
		fmt.Fprintln(w, "  the keys are read first and say which partitions are wanted; what follows is the whole table")
	}
	for _, line := range d.heading[1:] {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, strings.Join(d.columns, "\t"))
	for _, load := range d.loads {
		fmt.Fprintln(table, strings.Join(load, "\t"))
	}
	return table.Flush()
}

// clusterDescription describes a plan of a live cluster, each node of which
// hands out nodeRate bytes per second.
func clusterDescription(t *schema.Table, plan tokenrange.Plan, topology cassandra.Topology, consistency string, nodeRate int64) planDescription {
	var partitions, bytes int64
	for _, s := range plan.Splits {
		partitions, bytes = partitions+s.Partitions, bytes+s.Bytes
	}
	d := planDescription{
		heading: []string{
			fmt.Sprintf("%s of cluster %q, Cassandra %s, %s", t, topology.ClusterName, topology.Version, topology.Partitioner),
			fmt.Sprintf("estimated by the nodes: about %d partitions, %s", partitions, sizeText(bytes)),
		},
		access:  fmt.Sprintf("%d splits, consistency %s", len(plan.Splits), consistency),
		columns: []string{"NODE", "DATACENTRE", "RACK", "SPLITS", "PARTITIONS", "BYTES", "TIME"},
	}
	if nodeRate > 0 && plan.Basis != tokenrange.ByRing {
		d.heading = append(d.heading, fmt.Sprintf("times are at %s/s from each node (--node-rate); the metrics of a run tell yours", sizeText(nodeRate)))
	}
	if plan.Basis == tokenrange.ByRing {
		d.heading[1] = "the nodes have no estimates of its size yet: the splits follow from the ring alone"
	}
	addresses := map[string]tokenrange.Node{}
	for _, n := range topology.Nodes {
		addresses[n.ID] = n
	}
	for _, load := range plan.Load() {
		n := addresses[load.Node]
		if n.Address == "" {
			n.Address = "any"
		}
		d.loads = append(d.loads, []string{n.Address, n.Datacenter, n.Rack, fmt.Sprint(load.Splits), fmt.Sprint(load.Partitions), sizeText(load.Bytes), busyTime(plan, load.Bytes, nodeRate)})
	}
	return d
}

// busyTime is how long a node takes to hand out so many bytes.
func busyTime(plan tokenrange.Plan, bytes, nodeRate int64) string {
	if nodeRate <= 0 || plan.Basis == tokenrange.ByRing {
		return "unknown"
	}
	return "about " + time.Duration(float64(bytes)/float64(nodeRate)*float64(time.Second)).Round(time.Second).String()
}

// sizeText gives a size for people, in the largest unit of which there is one.
func sizeText(bytes int64) string {
	size, units := float64(bytes), []string{"B", "KiB", "MiB", "GiB", "TiB"}
	for size >= 1024 && len(units) > 1 {
		size, units = size/1024, units[1:]
	}
	if units[0] == "B" {
		return fmt.Sprintf("%d B", bytes)
	}
	return fmt.Sprintf("%.1f %s", size, units[0])
}
