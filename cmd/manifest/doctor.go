package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/apache/arrow/go/v17/arrow"

	"manifest/internal/cassandra"
	"manifest/tokenrange"
)

type doctorOptions struct {
	settings settings
	origin   originOptions
	log      logOptions
	tables   []string
	asJSON   bool
}

func newDoctorCommand() *cobra.Command {
	var o doctorOptions
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check that the cluster and its tables can be read",
		Long: `Check each step that a run depends on: the connection, the nodes, the partitioner,
the tables and their columns, the size estimates, the role's grants, and one row
of each table; of snapshots, that they are found and that their SSTables can be
opened. Each fault comes with what to do about it.
` + exitStatus,
		Example: `  manifest doctor --hosts 10.0.0.1 --user reader --password-file secret
  manifest doctor --table other_keyspace.events
  manifest doctor --snapshot /backup/node1 --snapshot /backup/node2`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.settings.apply(cmd); err != nil {
				return err
			}
			return runDoctor(cmd, o)
		},
	}
	o.settings.addFlags(cmd)
	o.origin.addFlags(cmd)
	o.log.addFlags(cmd)
	cmd.Flags().StringSliceVar(&o.tables, "table", nil, "tables to check (default: those of the named statistics)")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print the findings as JSON")
	return cmd
}

// finding is what one check found.
type finding struct {
	Check  string `json:"check"`
	Status string `json:"status"` // ok, warning or fault
	Detail string `json:"detail"`
	Try    string `json:"try,omitempty"`
}

// examination gathers findings; the first error decides the exit code.
type examination struct {
	findings []finding
	err      error
}

func (x *examination) ok(check, format string, args ...any) {
	x.findings = append(x.findings, finding{Check: check, Status: "ok", Detail: fmt.Sprintf(format, args...)})
}

func (x *examination) warn(check, try, format string, args ...any) {
	x.findings = append(x.findings, finding{Check: check, Status: "warning", Detail: fmt.Sprintf(format, args...), Try: try})
}

func (x *examination) fault(check string, err error) {
	x.findings = append(x.findings, finding{Check: check, Status: "fault", Detail: err.Error(), Try: hint(err)})
	if x.err == nil {
		x.err = fmt.Errorf("%s: %w", check, err)
	}
}

func runDoctor(cmd *cobra.Command, o doctorOptions) error {
	log, err := o.log.logger()
	if err != nil {
		return err
	}
	tables := o.tables
	if len(tables) == 0 {
		tables = o.settings.Names.imageTables()
	}
	if err := o.origin.validate(o.settings); err != nil {
		return err
	}
	var x examination
	from, err := o.origin.open(cmd.Context(), log)
	if err != nil {
		x.fault(o.origin.step(), err)
	} else {
		defer closeOrigin(from, log)
		x.examineOrigin(cmd.Context(), from, o)
		for _, name := range tables {
			keyspace, table := o.origin.tableName(name)
			x.examineTable(cmd.Context(), from, keyspace, table)
		}
		if cluster, ok := from.(*clusterOrigin); ok && o.origin.connection.user != "" {
			x.examineGrants(cmd.Context(), cluster.cluster)
		}
	}
	if err := x.print(cmd.OutOrStdout(), o.asJSON); err != nil {
		return err
	}
	return x.err
}

// step names the first thing that can go wrong.
func (o *originOptions) step() string {
	if o.fromSnapshots() {
		return "snapshot"
	}
	return "connection"
}

// examineOrigin looks at what all tables share.
func (x *examination) examineOrigin(ctx context.Context, from origin, o doctorOptions) {
	switch from := from.(type) {
	case *clusterOrigin:
		x.ok("connection", "%s, local datacentre %q, consistency %s", strings.Join(o.origin.connection.hosts, ","), from.cluster.LocalDC(), from.cluster.Consistency())
		x.examineCluster(ctx, from.cluster)
	case *snapshotOrigin:
		x.examineSnapshots(from)
	}
}

func (x *examination) examineCluster(ctx context.Context, cluster *cassandra.Cluster) {
	topology, err := cluster.Topology(ctx)
	if err != nil {
		x.fault("topology", err)
		return
	}
	datacenters := map[string]int{}
	for _, n := range topology.Nodes {
		datacenters[n.Datacenter]++
	}
	x.ok("topology", "cluster %q, Cassandra %s, nodes per datacentre: %v", topology.ClusterName, topology.Version, datacenters)
	if datacenters[cluster.LocalDC()] == 0 {
		x.warn("topology", "--local-dc with one of these names", "no node is in datacentre %q", cluster.LocalDC())
	}
	partitioner, err := tokenrange.PartitionerByName(topology.Partitioner)
	if err != nil {
		x.fault("partitioner", err)
		return
	}
	x.ok("partitioner", "%s", partitioner.Name())
	if _, err := tokenrange.NewRing(partitioner, topology.Nodes); err != nil {
		x.fault("ring", err)
	}
	for _, n := range topology.Nodes {
		if n.Datacenter != cluster.LocalDC() {
			continue
		}
		if err := cluster.Ping(ctx, n.ID); err != nil {
			x.warn("node "+n.Address, "open the CQL port of this node to this machine, or start the node: its replicas serve meanwhile", "does not answer: %v", err)
			continue
		}
		x.ok("node "+n.Address, "answers")
	}
}

func (x *examination) examineTable(ctx context.Context, from origin, keyspace, name string) {
	check := "table " + keyspace + "." + name
	in, err := from.open(ctx, keyspace, name, scanOptions{seed: 1, pageSize: 1}, discard)
	if err != nil {
		x.fault(check, err)
		return
	}
	if _, err := in.source.Schema(in.table.Names()); err != nil {
		x.fault(check, err)
		return
	}
	x.examineReplicas(in)
	var bytes int64
	for _, s := range in.plan.Splits {
		bytes += s.Bytes
	}
	if bytes == 0 {
		x.ok(check, "there are no size estimates, as of a new or small table; the plan does without")
	}
	rows, err := firstRow(ctx, in)
	if err != nil {
		x.fault(check, err)
		return
	}
	x.ok(check, "%d columns, %d splits, about %s; %s", len(in.table.Columns), len(in.plan.Splits), sizeText(bytes), rows)
}

// errEnough ends a read after its first page.
var errEnough = errors.New("enough")

// firstRow reads a row of the table, if its first split has one.
func firstRow(ctx context.Context, in *input) (string, error) {
	keys := []string{in.table.Columns[0].Name}
	_, err := in.source.Read(ctx, in.plan.Splits[0], keys, func(arrow.Record) error { return errEnough })
	switch {
	case errors.Is(err, errEnough):
		return "a row was read", nil
	case err != nil:
		return "", err
	default:
		return "no row in the first split", nil
	}
}

func (x *examination) examineGrants(ctx context.Context, cluster *cassandra.Cluster) {
	grants, err := cluster.Grants(ctx)
	switch {
	case errors.Is(err, cassandra.ErrGrantsHidden):
		x.warn("grants", "nothing: the role needs only SELECT on the tables it reads", "%v", err)
	case err != nil:
		x.fault("grants", err)
	case len(grants) == 0:
		x.ok("grants", "none recorded: the cluster does not authorise, or the role is a superuser")
	default:
		for _, g := range grants {
			beyond := slices.DeleteFunc(slices.Clone(g.Permissions), func(p string) bool { return p == "SELECT" || p == "DESCRIBE" })
			if len(beyond) > 0 {
				x.warn("grants", "a role with SELECT alone: nothing else is needed", "%s on %s: %s", g.Role, g.Resource, strings.Join(g.Permissions, ", "))
				continue
			}
			x.ok("grants", "%s on %s: %s", g.Role, g.Resource, strings.Join(g.Permissions, ", "))
		}
	}
}

func (x *examination) print(w io.Writer, asJSON bool) error {
	if asJSON {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(x.findings)
	}
	for _, f := range x.findings {
		if _, err := fmt.Fprintf(w, "%-8s %s: %s\n", f.Status, f.Check, f.Detail); err != nil {
			return err
		}
		if f.Try != "" {
			fmt.Fprintf(w, "         try: %s\n", f.Try)
		}
	}
	return nil
}
