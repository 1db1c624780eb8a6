package cql

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/gocql/gocql"

	"manifest/internal/cassandra"
	"manifest/internal/casstest"
	"manifest/tokenrange"
)

// BenchmarkKeys measures, on a real node, what it costs to read keys that are
// not wanted: two int columns of a table of wide partitions alone, with its
// partition key, and with its clustering key too. The CPU is this process's,
// per million rows.
func BenchmarkKeys(b *testing.B) {
	server := casstest.Shared(b, casstest.Options{})
	session, keyspace := casstest.Keyspace(b, server, 1)
	if err := session.Query(`CREATE TABLE t (device_id text, day_bucket date, capture_time timestamp, image_id timeuuid, width int, height int,
		PRIMARY KEY ((device_id, day_bucket), capture_time, image_id))`).Exec(); err != nil {
		b.Fatal(err)
	}
	const rows = 200_000
	for i := 0; i < rows; i += 200 {
		batch := session.NewBatch(gocql.UnloggedBatch)
		for j := i; j < i+200; j++ {
			batch.Query(`INSERT INTO t (device_id, day_bucket, capture_time, image_id, width, height) VALUES (?, ?, ?, ?, 1920, 1080)`,
				fmt.Sprintf("camera-%04d", i/1000), time.Unix(86400*20000, 0), time.UnixMilli(int64(j)), gocql.TimeUUID())
		}
		if err := session.ExecuteBatch(batch); err != nil {
			b.Fatal(err)
		}
	}
	cluster, err := cassandra.Connect(b.Context(), cassandra.Config{Hosts: server.Hosts(), Port: server.Port(), Consistency: "ONE"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(cluster.Close)
	table, err := cluster.Table(b.Context(), keyspace, "t")
	if err != nil {
		b.Fatal(err)
	}
	for _, keys := range []string{"none", "partition", "partition and clustering"} {
		b.Run(keys, func(b *testing.B) {
			p, err := newProjection(table, []string{"width", "height"}, tokenrange.Murmur3, keys == "partition and clustering", false)
			if err != nil {
				b.Fatal(err)
			}
			if keys == "none" {
				p.expected, p.keys, p.keyAt = p.expected[:2], nil, nil
				p.selection = `SELECT "width","height"`
			}
			s, err := New(cluster, table, Options{})
			if err != nil {
				b.Fatal(err)
			}
			var received int64
			began := processorTime(b)
			for b.Loop() {
				decoded, err := newRows(p, s.opts.Allocator)
				if err != nil {
					b.Fatal(err)
				}
				r := &read{source: s, rows: decoded, split: tokenrange.NewSplit(tokenrange.Murmur3.Ring()), projection: p, size: 5000}
				if err := r.all(b.Context(), func(rec arrow.Record) error { received += rec.NumRows(); return nil }); err != nil {
					b.Fatal(err)
				}
				decoded.release()
			}
			b.ReportMetric((processorTime(b)-began).Seconds()*1e6/float64(received), "CPU-s/Mrows")
		})
	}
}

func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
