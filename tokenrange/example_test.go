package tokenrange_test

import (
	"errors"
	"fmt"
	"log"

	"manifest/tokenrange"
)

// exampleRing is a cluster of three nodes, as system.local and system.peers describe it.
func exampleRing() *tokenrange.Ring {
	partitioner, err := tokenrange.PartitionerByName("org.apache.cassandra.dht.Murmur3Partitioner")
	if err != nil {
		log.Fatal(err)
	}
	var nodes []tokenrange.Node
	for i, text := range []string{"-6148914691236517206", "0", "6148914691236517206"} {
		token, err := partitioner.Parse(text)
		if err != nil {
			log.Fatal(err)
		}
		nodes = append(nodes, tokenrange.Node{
			ID:         fmt.Sprintf("node-%d", i+1),
			Datacenter: "eu",
			Rack:       fmt.Sprintf("rack-%d", i+1),
			Tokens:     []tokenrange.Token{token},
		})
	}
	ring, err := tokenrange.NewRing(partitioner, nodes)
	if err != nil {
		log.Fatal(err)
	}
	return ring
}

// A plan says what to read, and where from: a worker takes the splits in their order and asks
// the first replica for the rows with
//
//	SELECT ... FROM table WHERE token(key) > start AND token(key) <= end
func Example() {
	ring := exampleRing()

	// As in the replication column of system_schema.keyspaces.
	strategy, err := tokenrange.ParseStrategy(map[string]string{
		"class": "org.apache.cassandra.locator.NetworkTopologyStrategy",
		"eu":    "2",
	})
	if err != nil {
		log.Fatal(err)
	}

	// As in system.size_estimates of each node: 96 MiB in all.
	var estimates []tokenrange.Estimate
	for _, primary := range ring.PrimaryRanges() {
		share := primary.Range.Fraction(ring.Range())
		estimates = append(estimates, tokenrange.Estimate{
			Range:      primary.Range,
			Partitions: int64(share * 393_216),
			MeanBytes:  256,
		})
	}

	plan, err := tokenrange.NewPlan(ring, strategy, estimates, tokenrange.PlanOptions{
		TargetBytes:     16 << 20,
		MinSplits:       1,
		LocalDatacenter: "eu",
		Seed:            7,
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, split := range plan.Splits {
		fmt.Println(split.Range, split.Replicas, split.Bytes>>20, "MiB")
	}
	// Output:
	// (6148914691236517206, 9223372036854775807] [node-2 node-1] 16 MiB
	// (0, 3074457345618258603] [node-3 node-1] 16 MiB
	// (-9223372036854775808, -6148914691236517206] [node-1 node-2] 16 MiB
	// (-6148914691236517206, -3074457345618258603] [node-2 node-3] 16 MiB
	// (-3074457345618258603, 0] [node-3 node-2] 16 MiB
	// (3074457345618258603, 6148914691236517206] [node-1 node-3] 16 MiB
}

// The token of a row follows from its partition key, serialized as Cassandra does.
func ExamplePartitioner_Token() {
	// PRIMARY KEY ((tag, day_bucket), ...) with tag 'leaf_spot' and the day 2024-02-29, which is
	// day 19,782 of the epoch and counted from -2^31.
	tag, day := []byte("leaf_spot"), []byte{0x80, 0x00, 0x4d, 0x46}
	key := tokenrange.PartitionKey(tag, day)
	fmt.Printf("%x\n", key)
	fmt.Println(tokenrange.Murmur3.Token(key))
	fmt.Println(tokenrange.Random.Token(key))
	// Output:
	// 00096c6561665f73706f7400000480004d4600
	// 1252400069398085660
	// 99429155099481700764954202206214977427
}

// Cassandra reports ranges that go around the end of the ring; a Range never does.
func ExampleUnwrap() {
	const minimum = -1 << 63
	ring := tokenrange.Murmur3.Ring()
	fmt.Println(tokenrange.Unwrap(tokenrange.Int64Token(6000), tokenrange.Int64Token(-6000), ring))
	fmt.Println(tokenrange.Unwrap(tokenrange.Int64Token(6000), tokenrange.Int64Token(minimum), ring))
	// Output:
	// [(-9223372036854775808, -6000] (6000, 9223372036854775807]]
	// [(6000, 9223372036854775807]]
}

// Whether a run has read everything is not a matter of counting splits.
func ExampleCheckTiling() {
	parse := func(text string) tokenrange.Range {
		r, err := tokenrange.ParseRange(text)
		if err != nil {
			log.Fatal(err)
		}
		return r
	}
	asked := tokenrange.NewIntervalSet(parse("0:900"))
	done := []tokenrange.Range{parse("600:900"), parse("0:300"), parse("301:600")}

	err := tokenrange.CheckTiling(asked, done)
	fmt.Println(err)
	var fault *tokenrange.TilingError
	if errors.As(err, &fault) && fault.Fault == tokenrange.Gap {
		fmt.Println("to be read:", fault.Range)
	}
	// Output:
	// gap: tokens (300, 301] are not covered
	// to be read: (300, 301]
}

// A run that was stopped goes on from the ranges it has committed, whatever the splits were.
func ExamplePlan_Remaining() {
	plan, err := tokenrange.NewPlan(exampleRing(), tokenrange.Strategy{}, nil, tokenrange.PlanOptions{Splits: 4})
	if err != nil {
		log.Fatal(err)
	}
	done := tokenrange.NewIntervalSet(
		plan.ByToken()[0].Range,
		tokenrange.Range{Start: tokenrange.Int64Token(-1), End: tokenrange.Int64Token(1 << 61)},
	)
	left := plan.Remaining(done)
	for _, split := range left.ByToken() {
		fmt.Println(split.Range)
	}
	fmt.Printf("%.1f%% done\n", 100*done.Fraction(tokenrange.Murmur3.Ring()))
	// Output:
	// (-4611686018427387905, -1]
	// (2305843009213693952, 4611686018427387903]
	// (4611686018427387903, 9223372036854775807]
	// 37.5% done
}
