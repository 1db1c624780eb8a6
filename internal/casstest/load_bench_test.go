package casstest

import (
	"testing"

	"manifest/internal/imagegen"
)

// BenchmarkLoad writes b.N images into a node that runs as in production: one operation is one image. Run it with -benchtime 1000000x.
func BenchmarkLoad(b *testing.B) {
	for _, bench := range []struct {
		name   string
		tables []string
	}{
		{"image_metadata", []string{imagegen.MetadataTable}},
		{"four tables", nil},
	} {
		b.Run(bench.name, func(b *testing.B) {
			c := Shared(b, Options{Optimizing: true})
			session, keyspace := Keyspace(b, c, 1)
			if err := CreateImageTables(b.Context(), session, keyspace, 1); err != nil {
				b.Fatal(err)
			}
			set, err := imagegen.New(imagegen.Options{Images: b.N})
			if err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			stats, err := Load(b.Context(), session, set, LoadOptions{Keyspace: keyspace, Tables: bench.tables})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(stats.RowsPerSecond(), "rows/s")
		})
	}
}
