package snapshot_test

import (
	"context"
	"fmt"
	"os"

	"manifest/internal/demodata"
	sstables "manifest/internal/sstable/snapshot"
	"manifest/scan"
	"manifest/scan/snapshot"
	"manifest/tokenrange"
)

// A snapshot's table is found, opened, planned and read. Without consumers, a run
// counts rows.
func Example() {
	if err := count(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// image_keyspace.image_metadata: 3884 rows in 8 splits
}

func count(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := demodata.Unpack(dir); err != nil {
		return err
	}
	tree, err := sstables.Local(dir) // of two nodes
	if err != nil {
		return err
	}
	catalog, err := sstables.Find(ctx, []sstables.Tree{tree}, sstables.Options{})
	if err != nil {
		return err
	}
	found, err := catalog.Table(ctx, demodata.Keyspace, "image_metadata")
	if err != nil {
		return err
	}
	table, err := catalog.Open(ctx, found, sstables.OpenOptions{})
	if err != nil {
		return err
	}
	defer table.Close()
	source, err := snapshot.New(table.Table, snapshot.Options{Now: demodata.Now})
	if err != nil {
		return err
	}
	plan, err := source.Plan(tokenrange.PlanOptions{})
	if err != nil {
		return err
	}
	result, err := scan.Run(ctx, plan, source, nil, scan.Options{Columns: []string{"image_id"}})
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d rows in %d splits\n", found, result.Rows, len(plan.Splits))
	return nil
}
