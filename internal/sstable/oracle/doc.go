// Package oracle asks Cassandra itself, for tests: it runs the server's storage
// engine in a Java process, without a network and within seconds, and so makes
// real SSTables and tells what Cassandra reads in them.
//
// There are two answers to compare with. Dump is physical: everything that one
// SSTable holds, before any merge. Select is logical: what a query shows of all
// SSTables and the memtable together. A reader that forgets to reconcile passes
// the first and fails the second.
//
// Every statement names the time at which it is executed, so that expirations
// and tombstones are the same in each run; with USING TIMESTAMP the SSTables
// hold the same content each time.
//
//	o, err := oracle.Start(ctx, "oa", dir)
//	o.Exec(now, `CREATE TABLE ...`)
//	o.Exec(now, `INSERT INTO ...`)
//	o.Flush("ks", "t")                        an SSTable
//	o.Snapshot("ks", "t", "tag")              the folder with all SSTables
//	o.Dump(folder + "/oa-1-big-Data.db")
//	o.Select(now+60, `SELECT * FROM ks.t`)
//
// It is no cluster: there are no replicas, no gossip, no repair, and compactions
// happen on request. Package casstest has those.
package oracle
