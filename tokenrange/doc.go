// Package tokenrange plans the reading of a whole Cassandra table: it cuts the ring of tokens
// into splits that cover every partition exactly once, says which nodes to read each from, and
// proves the coverage. It knows no driver and opens no connection.
//
// # Words
//
// A partition key is hashed by the cluster's [Partitioner] to a [Token], a place on the ring.
// Each [Node] has one token, or many (vnodes), and owns the tokens from the one before, of
// whichever node, up to and including its own. That is a [Range], (start, end]. The [Strategy]
// of a keyspace says which further nodes hold a range, its replicas. A [Split] is a range to be
// read in one piece, and a [Plan] is the splits of a table.
//
//	ring      -2^63                                              2^63-1
//	            (----------]------]--------------]--------]---------]
//	tokens                 n1     n2             n1       n3
//	primary         n1        n2        n1           n3       n1      the last arc goes on to
//	replicas (RF 2) n1 n2     n2 n1     n1 n3        n3 n1    n1 n2   the first token: two ranges
//	splits      (----](----](-----](------](-----](-------](--](----]
//
// # What holds
//
// Ranges are half-open and never wrap: what Cassandra reports around the end of the ring is
// taken apart by [Unwrap]. All arithmetic on tokens is exact, in 128 bits, because the
// RandomPartitioner's tokens reach 2^127; only shares and estimates are floating point, and they
// decide how many splits there are and where they end, never whether they fit together.
//
// The splits of a plan tile the part of the ring that was asked for. [CheckTiling] proves it of
// any ranges, and names the first gap or overlap; it is as good for what has been read in the end
// as for what is planned. What has been read is an [IntervalSet], and [Plan.Remaining] is what is
// left, so that work goes on after the ring or the plan has changed.
//
// A plan depends on nothing but its input: not on the order of nodes or estimates, on time, or
// on the machine. Estimates are hints; any of them may be missing or wrong.
//
// # What it does not do
//
// It fetches neither the ring nor the estimates, reads no rows, and watches no topology: whoever
// does makes a new [Ring]. Byte-ordered tokens don't fit a [Token].
//
// Everything here is a value or does not change once made, and may be used by many goroutines.
package tokenrange
