// Package e2e tests the binary as its users run it: against real servers, its results compared with those of other programs. It has no
// code of its own.
//
// # Words
//
//   - Site: a cluster with a keyspace of tables, and the rows that another client has read from them.
//   - Worker: a Python process (reference/worker.py) with the other client, cassandra-driver, and other readers of files: pyarrow, DuckDB,
//     Polars, pandas. It brings the values of all of them into one form (reference/canonical.py) and compares there.
//   - Reading: the flags that must not change what is read: splits, workers, page size, seed. They are drawn at random, and the seed of the
//     draws is printed; MANIFEST_TEST_SEED repeats it.
//   - Fault: a command that must fail, with an exit code, a message and nothing left behind.
//
// # What is compared
//
//	                    +--> binary: export, stats --> files --> readers --+
//	                    |    (drawn splits, workers, ...)                  |
//	tables in a cluster |                                                  +--> the same rows, in token order; the same statistics
//	                    |                                                  |
//	                    +--> cassandra-driver --> rows --> naive.py -------+
//
// The tables are in testdata/tables, one file for each kind of thing that can go wrong, and in size_test.go and edges_test.go. A new kind of
// table is a new file there: every test takes it up.
//
// # How long it takes
//
// Some minutes on two cores, of which the servers' start is the most; beside three shared nodes no more than three run at a time. MANIFEST_TEST_LONG=1 has a
// partition of a million rows, all tables with all numbers of replicas, many readings, and other partitioners. With -short there is nothing
// left to do.
//
// # Invariants
//
//   - What is expected comes from the documentation (docs/format) and from other programs, never from the binary's own output.
//   - The other client knows nothing of token ranges.
package e2e
