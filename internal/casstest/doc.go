// Package casstest runs a real Cassandra for tests, benchmarks and the demo: the server itself, on this machine, without containers.
//
// # Words
//
//   - Distribution: the server's jars of one version. Maven brings them once into the cache folder; every later use is offline.
//   - Node: one server process. Node i of a cluster listens on 127.0.0.(BaseOctet+i); methods name nodes by i, counted from 0 as in Hosts.
//   - Cluster: nodes that share a ring, started together by Start.
//   - Address lock: a file locked while a cluster runs on that address, so that the test binaries which `go test ./...` runs side by side
//     never fight for a port. Whoever comes second waits, or takes other addresses.
//   - Shared cluster: the one that the tests of a process use together (Shared), or that a whole `go test ./...` uses (casstestctl).
//
// # Who gets which cluster
//
//	                     Shared(t, Options)                              Own(t, Options)
//	                             |                                              |
//	-short ---------------- test skipped ---------------------------------- test skipped
//	                             |                                              |
//	MANIFEST_TEST_HOSTS ---- fits? -> that cluster                              |
//	                             | no                                           |
//	this process ---------- one that fits runs already? -> that                 |
//	                             | no                                           |
//	                    starts one for the process,                 starts one for this test,
//	                    stopped by Main                             stopped when the test ends
//
// A cluster that cannot be started (no Java, no Maven, a port in use) fails the test with the reason; it never skips it.
//
// # Folders
//
//	CACHE = $MANIFEST_CACHE, or the user's cache folder + /manifest
//	CACHE/cassandra-5.0.6/*.jar     the distribution
//	CACHE/nodes/127.0.0.1.lock      address lock; holds the process id of its owner
//	CACHE/nodes/127.0.0.1.json      the cluster whose first node has this address, while it runs
//	CACHE/data/127.0.0.1/           default data folder of that cluster, emptied at its start and removed at its end
//	    node0/{cassandra.yaml,...}  configuration
//	    node0/data/                 commit log, SSTables, ...
//	    node0/node.log              what the server printed
//
// # Invariants
//
//   - The servers are children of this process in process groups of their own, and die with it (on Linux even when it is killed).
//   - Ready means: every node answers CQL, lists all others as peers, has seen each of them come up, and all agree on the schema.
//   - A server that dies while it is waited for ends the wait at once, with the end of its log in the error.
//   - The tokens of a ring follow from the addresses, so two starts with the same options give the same ring.
//
// # What it does not do
//
// It keeps no server running after its process ends and tunes none for production. It never touches a server that it did not start.
package casstest
