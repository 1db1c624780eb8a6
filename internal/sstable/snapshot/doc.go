// Package snapshot finds tables in trees of folders: in the snapshots of a node's
// data directory, in copies of them, in incremental backups.
//
// # What a tree looks like
//
// Cassandra keeps a table's files, its snapshots and its backups in
//
//	data/KEYSPACE/TABLE-ID/                      the running server's files
//	data/KEYSPACE/TABLE-ID/snapshots/TAG/        a snapshot, with manifest.json and schema.cql
//	data/KEYSPACE/TABLE-ID/backups/              what was flushed since backups are on
//	data/KEYSPACE/TABLE-ID/.../.INDEX/           the same of an index
//
// where ID is the table's uuid without dashes: a table that was dropped and made
// again has another. Copies of them have any folders in front, such as one for
// each node, and often leave snapshots/TAG out.
//
// [Find] takes the path of each folder with SSTables apart; what stands in front
// of KEYSPACE is the node's. It puts the folders of a table together in a
// [Catalog], which opens them as one table: those of all nodes, for each has only
// a part, or a copy that may lack something.
//
// # Schema
//
// What a table's columns are, and when others were dropped, comes from the first
// of these that there is: a text that the caller gives; the schema.cql of the
// table's folders, of which the latest counts; the tables of keyspace
// system_schema in the same trees, which are read like any other.
//
// # Whose the rows are
//
// [Catalog.Ownership] finds which tokens each node replicates, from the ring as the
// nodes' files have it and the keyspace's replication:
//
//	system.local, system.peers_v2     the ring, as one node knew it
//	tokenmap.json of Medusa           the same, of the node's datacentre
//	system_schema.keyspaces           the replication; or CREATE KEYSPACE
//
// What a node has of other tokens is left over, and [Ownership.Restrict] leaves it
// out. It never leaves out what may be all that there is: nodes that are not known
// are read whole, and all are where views of the ring differ; a range of which no
// replica's files are there is read of whatever has some of it.
//
// # What is refused
//
// The files of a running server, which change while they are read: a folder
// TABLE-ID with SSTables in it and snapshots or backups beside them. More than one
// snapshot of a table on a node, unless a tag says which. Snapshots that Cassandra
// made by itself before it dropped or truncated a table, unless asked for by name.
// A snapshot that lacks an SSTable of its manifest.json. A node that has a table
// and lacks the snapshot that others have of it.
package snapshot
