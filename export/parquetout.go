package export

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"

	"github.com/apache/arrow/go/v17/arrow"

	"manifest/export/internal/parquetfile"
)

// WriteParquetFile writes one Parquet file of records that have the types of
// schema, which are not shaped. The file gets its name when it is complete. A
// record is not kept beyond its turn, and is not released here. The Path of the
// result is the file's name without directory.
func WriteParquetFile(ctx context.Context, name string, schema *arrow.Schema, recs iter.Seq2[arrow.Record, error], opts ParquetOptions) (File, error) {
	a, err := createHashed(name, true)
	if err != nil {
		return File{}, err
	}
	rows, err := writeParquet(ctx, a, schema, recs, opts)
	if err != nil {
		a.abort()
		return File{}, fmt.Errorf("write %s: %w", name, err)
	}
	if err := a.commit(); err != nil {
		return File{}, err
	}
	return File{Path: filepath.Base(name), Rows: rows, Bytes: a.size, SHA256: a.sum()}, syncDir(filepath.Dir(name))
}

func writeParquet(ctx context.Context, a *atomicFile, schema *arrow.Schema, recs iter.Seq2[arrow.Record, error], opts ParquetOptions) (int64, error) {
	w, err := parquetfile.NewWriter(a, schema, opts.internal(""))
	if err != nil {
		return 0, err
	}
	defer w.Discard()
	for rec, err := range recs {
		if err != nil {
			return 0, err
		}
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if err := w.Write(rec); err != nil {
			return 0, err
		}
	}
	info, err := w.Close()
	return info.Rows, err
}
