package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"manifest/internal/casstest"
	"manifest/internal/imagegen"
	"manifest/internal/sstable/oracle"
)

const (
	metadata = imagegen.MetadataTable
	index    = imagegen.TagTable

	// octet is that of the node's address: one that tests do not use, which may run at the same time.
	octet = 201
)

// folders are those of the tables, named as a node names them and CQLite wants them.
var folders = map[string]string{
	metadata: metadata + "-0c5a7e10c5a711f0a7e10c5a7e10c5a7",
	index:    index + "-1c5a7e10c5a711f0a7e10c5a7e10c5a7",
}

// sstables are the folders of what the tools read.
type sstables struct {
	images string // folder with ks/image_metadata-ID
	tables map[string]string
}

// writeSSTables writes what the folder does not hold yet.
func writeSSTables(ctx context.Context, o options) (sstables, error) {
	images := filepath.Join(o.dir, fmt.Sprintf("images-%d", o.rows))
	tags := filepath.Join(o.dir, fmt.Sprintf("tags-%d-%d", o.rows, o.indexRows))
	data := sstables{images: images, tables: map[string]string{
		metadata: filepath.Join(images, "ks", folders[metadata]),
		index:    filepath.Join(tags, "ks", folders[index]),
	}}
	for table, write := range map[string]func(dir string) error{
		metadata: func(dir string) error { return oracle.WriteImages(ctx, "oa", o.rows, dir) },
		index:    func(dir string) error { return oracle.WriteTagIndex(ctx, "oa", o.rows, o.indexRows, dir) },
	} {
		dir := data.tables[table]
		if _, err := os.Stat(filepath.Join(dir, "schema.cql")); err == nil { // which is written last
			continue
		}
		fmt.Fprintf(os.Stderr, "writing SSTables of %s ...\n", table)
		if err := errors.Join(os.RemoveAll(dir), write(dir)); err != nil {
			return data, err
		}
	}
	return data, nil
}

// serve starts a node and has it import the SSTables.
func serve(ctx context.Context, data sstables) (_ *casstest.Cluster, err error) {
	cluster, err := casstest.Start(ctx, casstest.Options{BaseOctet: octet, HeapMB: 4096, Optimizing: true, Log: os.Stderr})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, cluster.Stop())
		}
	}()
	session, err := cluster.Session("")
	if err != nil {
		return nil, err
	}
	defer session.Close()
	if err := casstest.CreateImageTables(ctx, session, imagegen.DefaultKeyspace, 1); err != nil {
		return nil, err
	}
	for table, dir := range data.tables {
		if _, err := cluster.NodeTool(ctx, 0, "import", "--copy-data", imagegen.DefaultKeyspace, table, dir); err != nil {
			return nil, err
		}
	}
	// Both our plan and Spark's go by the estimates, which a node renews every five minutes.
	_, err = cluster.NodeTool(ctx, 0, "refreshsizeestimates")
	return cluster, err
}
