// Package cassandra connects to a live cluster and asks it for what planning
// needs: who owns which tokens, what a table looks like, how large it may be,
// what the role may do.
//
//	Config ──Connect──> Cluster ──┬── Topology   nodes, tokens, partitioner
//	                              ├── Table      columns and types
//	                              ├── Replication, Estimates, Grants
//	                              └── Select     a page of rows, from the wanted nodes
//
// # Invariants
//
//   - Every statement passes through the guard in guard.go: it must be a plain
//     SELECT. COUNT and other aggregates, GROUP BY and ALLOW FILTERING never
//     reach the cluster, nor does anything that writes.
//   - A statement goes to one of the nodes that its context names
//     ([WithNodes]), in that order, or fails; without names it goes to any node
//     of the local datacentre.
//   - The password is in no error, log line or String method.
//
// # What it does not do
//
// It retries nothing and reads no user table by itself: package scan/cql does,
// under the policy of package scan.
package cassandra
