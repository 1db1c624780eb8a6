package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// fromSnapshots takes a snapshot of the keyspace, and of the system's that have the ring, on every node, and returns the site as it is read
// from those.
func (s *site) fromSnapshots(t *testing.T) *site {
	t.Helper()
	tag := fmt.Sprint("e2e", time.Now().UnixNano()) // the system's keyspaces are everyone's
	keyspaces := []string{"--", s.keyspace, "system", "system_schema"}
	files := *s
	files.shared, files.env = []string{"--snapshot-tag", tag}, nil
	for node := range s.cluster.Hosts() {
		if _, err := s.cluster.NodeTool(t.Context(), node, slices.Concat([]string{"snapshot", "--tag", tag}, keyspaces)...); err != nil {
			t.Fatal(err)
		}
		dir, err := s.cluster.DataDir(node)
		if err != nil {
			t.Fatal(err)
		}
		files.shared = append(files.shared, "--snapshot", dir)
	}
	t.Cleanup(func() {
		for node := range s.cluster.Hosts() {
			if _, err := s.cluster.NodeTool(context.WithoutCancel(t.Context()), node, slices.Concat([]string{"clearsnapshot", "-t", tag}, keyspaces)...); err != nil {
				t.Error(err)
			}
		}
	})
	return &files
}

// checkSnapshots reads all tables again, from snapshots, and compares the rows with those that the other client read, and the statistics byte
// for byte with those of the live nodes.
func (s *site) checkSnapshots(t *testing.T, d draws, tables []string) {
	files := s.fromSnapshots(t)
	if o := files.command("plan", "--table", s.flag(tables[0])).run(t); o.code != exitDone || !strings.Contains(o.stdout, "within its ranges (owned)") {
		t.Errorf("the ring is not known: %s", o)
	}
	t.Run("exports", func(t *testing.T) { files.checkExports(t, d, tables) })
	t.Run("selections", func(t *testing.T) { files.checkSelections(t, d) })
	t.Run("statistics", func(t *testing.T) {
		named := []string{"--keyspace", s.keyspace}
		compareBytes(t, s.statistics(t, d, s.rows["tag_image_index"], named...), files.statistics(t, d, s.rows["tag_image_index"], named...))
		for _, c := range groupingCases {
			if slices.Contains(tables, c.table) {
				group := []string{"--table", s.flag(c.table), "--by", c.by, "--agg", c.agg}
				compareBytes(t, s.statistics(t, d, s.rows[c.table], group...), files.statistics(t, d, s.rows[c.table], group...))
			}
		}
	})
}
