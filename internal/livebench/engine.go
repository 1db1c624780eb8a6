package main

import (
	"context"
	"errors"
	"flag"
	"strings"

	"manifest/internal/cassandra"
	"manifest/internal/imagegen"
	"manifest/scan"
	"manifest/scan/cql"
	"manifest/tokenrange"
)

// engineCommand makes this program the engine without consumers: reading and
// decoding into Arrow, and nothing else.
const engineCommand = "engine"

func runEngine(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet(engineCommand, flag.ExitOnError)
	hosts := flags.String("hosts", "", "contact points")
	port := flags.Int("port", 9042, "port")
	workers := flags.Int("workers", 8, "splits read at a time")
	columns := flags.String("columns", "", "columns to read")
	if err := flags.Parse(args); err != nil {
		return err
	}
	cluster, err := cassandra.Connect(ctx, cassandra.Config{Hosts: strings.Split(*hosts, ","), Port: *port})
	if err != nil {
		return err
	}
	defer cluster.Close()
	table, err := cluster.Table(ctx, imagegen.DefaultKeyspace, imagegen.MetadataTable)
	if err != nil {
		return err
	}
	source, err := cql.New(cluster, table, cql.Options{})
	if err != nil {
		return err
	}
	murmur3, err := tokenrange.PartitionerByName("Murmur3Partitioner")
	if err != nil {
		return err
	}
	plan := tokenrange.Plan{Partitioner: murmur3.Name(), Asked: []tokenrange.Range{murmur3.Ring()}}
	for _, r := range murmur3.Ring().Split(64) {
		plan.Splits = append(plan.Splits, tokenrange.Split{ID: r.ID(), Range: r})
	}
	result, err := scan.Run(ctx, plan, source, nil, scan.Options{Columns: strings.Split(*columns, ","), Workers: *workers})
	if err == nil && result.Rows == 0 {
		err = errors.New("no rows")
	}
	return err
}
