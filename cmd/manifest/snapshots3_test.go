package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"manifest/internal/s3client/s3test"
)

// TestExportFromABucket reads a snapshot that is in a bucket, as a user would: by
// the variables that S3 clients know.
func TestExportFromABucket(t *testing.T) {
	server := s3test.Start(t)
	data := writeSnapshot(t, "oa/partitions")
	objects := map[string][]byte{}
	for _, path := range find(t, data, "") {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.IsDir() {
			continue
		}
		rel, err := filepath.Rel(data, path)
		if err != nil {
			t.Fatal(err)
		}
		if objects["nodes/one/"+filepath.ToSlash(rel)], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	server.Put(t, "backups", objects)
	t.Setenv("AWS_ENDPOINT_URL", server.Endpoint)
	t.Setenv("AWS_ACCESS_KEY_ID", server.AccessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", server.SecretKey)
	t.Setenv("AWS_REGION", "us-east-1")
	out := filepath.Join(t.TempDir(), "out")
	if r := manifest("export", "--snapshot", "s3://backups/nodes", "--table", "ks.partitions", "--format", "jsonl", "--out", out, "--progress", "none"); r.code != exitDone {
		t.Fatal(r)
	}
	if got := exported(t, out); !slices.Equal(got, partitionLines()) {
		t.Errorf("%d rows, want %d", len(got), len(partitionLines()))
	}
	t.Setenv("AWS_SECRET_ACCESS_KEY", "another")
	if r := manifest("plan", "--snapshot", "s3://backups/nodes", "--table", "ks.partitions"); r.code != exitNoAccess {
		t.Errorf("wrong credentials: %v", r)
	}
}
