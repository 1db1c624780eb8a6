package main

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/gocql/gocql"
	"golang.org/x/sync/errgroup"

	"manifest/internal/imagegen"
	"manifest/tokenrange"
)

// bareCommand makes this program the bare loop.
const bareCommand = "bare"

// undecoded takes a value and does nothing with it.
type undecoded struct{}

func (undecoded) UnmarshalCQL(gocql.TypeInfo, []byte) error { return nil }

// runBare is the least that any reader must do: ask for the columns of 64
// token ranges with the driver, with as many workers, and look at no value.
func runBare(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet(bareCommand, flag.ExitOnError)
	hosts := flags.String("hosts", "", "contact points")
	port := flags.Int("port", 9042, "port")
	workers := flags.Int("workers", 8, "ranges read at a time")
	columns := flags.String("columns", "", "columns to read")
	if err := flags.Parse(args); err != nil {
		return err
	}
	config := gocql.NewCluster(strings.Split(*hosts, ",")...)
	config.Port = *port
	config.Consistency = gocql.LocalQuorum
	session, err := config.CreateSession()
	if err != nil {
		return err
	}
	defer session.Close()
	murmur3, err := tokenrange.PartitionerByName("Murmur3Partitioner")
	if err != nil {
		return err
	}
	statement := fmt.Sprintf("SELECT %s FROM %s.%s WHERE token(image_id) > ? AND token(image_id) <= ?", *columns, imagegen.DefaultKeyspace, imagegen.MetadataTable)
	dest := make([]any, strings.Count(*columns, ",")+1)
	for i := range dest {
		dest[i] = undecoded{}
	}
	var rows atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(*workers)
	for _, r := range murmur3.Ring().Split(64) {
		group.Go(func() error {
			start, _ := r.Start.Int64()
			end, _ := r.End.Int64()
			iter := session.Query(statement, start, end).WithContext(ctx).PageSize(5000).Iter()
			for iter.Scan(dest...) {
				rows.Add(1)
			}
			return iter.Close()
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if rows.Load() == 0 {
		return fmt.Errorf("no rows")
	}
	return nil
}
