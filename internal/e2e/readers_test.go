package e2e

import (
	"path/filepath"
	"testing"
)

// checkReaders exports each table as Parquet and CSV, and has the readers that people use open the files.
func (s *site) checkReaders(t *testing.T) {
	for _, table := range s.tables {
		if table == "wide" { // has nothing that the others have not
			continue
		}
		t.Run(table, func(t *testing.T) {
			dir := scratch(t)
			parquet, csv := filepath.Join(dir, "parquet"), filepath.Join(dir, "csv")
			s.export(t, exported{table: table, format: "parquet"}, parquet, "--shards", "3")
			s.export(t, exported{table: table, format: "csv"}, csv)
			s.reportProblems(t, "compare_readers", map[string]any{"table": s.full(table), "parquet": parquet, "csv": csv})
		})
	}
}
