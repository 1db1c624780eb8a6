// Command generate makes the set of SSTables of package demodata: it plays the
// same story in three of Cassandra's storage engines, of which two miss a part of
// it, packs what those two have, and writes down what the third one answers.
//
//	go run ./internal/demodata/generate OUT.tar.zst FIGURES.json
package main

import (
	"archive/tar"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/errgroup"

	"manifest/internal/demodata"
	"manifest/internal/imagegen"
	"manifest/internal/sstable/oracle"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: generate OUT.tar.zst FIGURES.json")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// tables have the same ids on all nodes, as in a cluster.
var tables = []struct{ name, id string }{
	{imagegen.MetadataTable, "5b0cc6b0-3c5a-11f0-8000-000000000001"},
	{imagegen.DeviceTable, "5b0cc6b0-3c5a-11f0-8000-000000000002"},
	{imagegen.TagTable, "5b0cc6b0-3c5a-11f0-8000-000000000003"},
	{imagegen.ReviewTable, "5b0cc6b0-3c5a-11f0-8000-000000000004"},
}

// node is an engine. The last one misses nothing, and nothing of it is packed.
type node struct {
	name, version string
	dir           string
	engine        *oracle.Oracle
}

func run(ctx context.Context, out, figures string) error {
	home, err := os.MkdirTemp("", "demodata")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	nodes := []*node{{name: "node1", version: "nb"}, {name: "node2", version: "oa"}, {name: "truth", version: "oa"}}
	for _, n := range nodes {
		n.dir = filepath.Join(home, n.name)
		if err := os.Mkdir(n.dir, 0o755); err != nil {
			return err
		}
		if n.engine, err = oracle.Start(ctx, n.version, n.dir); err != nil {
			return err
		}
		defer n.engine.Close()
	}
	tale, err := story()
	if err != nil {
		return err
	}
	// Each engine belongs to one goroutine.
	group, _ := errgroup.WithContext(ctx)
	for i, n := range nodes {
		group.Go(func() error {
			if err := n.play(tale, 1<<i); err != nil {
				return fmt.Errorf("%s: %w", n.name, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	answers, err := nodes[2].answer()
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(answers, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(figures, append(text, '\n'), 0o644); err != nil {
		return err
	}
	return pack(nodes[:2], out)
}

// play does the steps that the node sees.
func (n *node) play(tale []step, bit int) error {
	for _, s := range tale {
		if s.seen&bit == 0 {
			continue
		}
		var err error
		switch s.do {
		case execute:
			err = n.engine.Exec(s.at, s.cql)
		case flush:
			for _, t := range tables {
				err = errors.Join(err, n.engine.Flush(demodata.Keyspace, t.name))
			}
		case compact:
			err = n.engine.Compact(demodata.Keyspace, s.cql)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s.cql, err)
		}
	}
	for _, t := range tables {
		if _, err := n.engine.Snapshot(demodata.Keyspace, t.name, "demo"); err != nil {
			return err
		}
	}
	return nil
}

// answer asks for the figures.
func (n *node) answer() (demodata.Figures, error) {
	f := demodata.Figures{Rows: map[string]int64{}}
	ask := func(column, table string) (oracle.Rows, error) {
		return n.engine.Select(demodata.Now.Unix(), fmt.Sprintf("SELECT %s FROM %s.%s", column, demodata.Keyspace, table))
	}
	for _, c := range []struct {
		column, table string
		counts        *map[string]int64
	}{
		{"tag", imagegen.TagTable, &f.Tags}, {"device_id", imagegen.DeviceTable, &f.Devices},
		{"status", imagegen.ReviewTable, &f.Statuses}, {"attributes['region']", imagegen.MetadataTable, &f.Regions},
	} {
		rows, err := ask(c.column, c.table)
		if err != nil {
			return f, err
		}
		f.Rows[c.table] = int64(len(rows.Values))
		*c.counts = map[string]int64{}
		for _, v := range rows.Values {
			if v[0] != nil {
				(*c.counts)[string(v[0])]++
			}
		}
	}
	widths, err := ask("width", imagegen.MetadataTable)
	if err != nil {
		return f, err
	}
	for _, v := range widths.Values {
		if len(v[0]) == 4 {
			f.Width += int64(int32(binary.BigEndian.Uint32(v[0])))
		}
	}
	return f, nil
}

// pack writes the nodes' snapshots into one file, in order.
func pack(nodes []*node, out string) error {
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := zstd.NewWriter(f, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(8<<20))
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	for _, n := range nodes {
		data := filepath.Join(n.dir, "data")
		snapshots, err := filepath.Glob(filepath.Join(data, demodata.Keyspace, "*", "snapshots", "demo", "*"))
		if err != nil {
			return err
		}
		slices.Sort(snapshots)
		for _, path := range snapshots {
			if strings.HasSuffix(path, "-Filter.db") {
				continue // nobody reads it; TOC.txt is told below
			}
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if strings.HasSuffix(path, "-TOC.txt") {
				content = []byte(strings.ReplaceAll(string(content), "Filter.db\n", ""))
			}
			rel, err := filepath.Rel(data, path)
			if err != nil {
				return err
			}
			h := &tar.Header{Name: n.name + "/" + filepath.ToSlash(rel), Mode: 0o644, Size: int64(len(content)), Format: tar.FormatPAX}
			if err := t.WriteHeader(h); err != nil {
				return err
			}
			if _, err := t.Write(content); err != nil {
				return err
			}
		}
	}
	if err := errors.Join(t.Close(), z.Close()); err != nil {
		return err
	}
	return f.Close()
}
