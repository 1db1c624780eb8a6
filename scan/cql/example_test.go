package cql_test

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"manifest/internal/cassandra"
	"manifest/scan/cql"
	"manifest/tokenrange"
)

// A source reads one split at a time; scan.Run does this for a whole plan, with
// retries. (It needs a cluster, so it is compiled but not run.)
func Example() {
	ctx := context.Background()
	cluster, err := cassandra.Connect(ctx, cassandra.Config{Hosts: []string{"10.0.0.1"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cluster.Close()
	table, err := cluster.Table(ctx, "image_keyspace", "image_metadata")
	if err != nil {
		fmt.Println(err)
		return
	}
	source, err := cql.New(cluster, table, cql.Options{PageSize: 1000})
	if err != nil {
		fmt.Println(err)
		return
	}
	murmur3, err := tokenrange.PartitionerByName("Murmur3Partitioner")
	if err != nil {
		fmt.Println(err)
		return
	}
	split := tokenrange.NewSplit(murmur3.Ring().Split(1000)[0])
	_, err = source.Read(ctx, split, []string{"image_id", "width"}, func(rec arrow.Record) error {
		fmt.Println(rec.NumRows(), "rows") // rec is valid until this returns
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
}
