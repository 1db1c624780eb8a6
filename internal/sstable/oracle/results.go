package oracle

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path"

	"github.com/klauspost/compress/zstd"
)

// ReadResults reads what scenarios have left, by version/scenario, from the
// archive that command fixtures writes.
func ReadResults(archive string) (map[string]*Result, error) {
	f, err := os.Open(archive)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	results := map[string]*Result{}
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return results, nil
		}
		if err != nil {
			return nil, err
		}
		b, err := io.ReadAll(t)
		if err != nil {
			return nil, err
		}
		dir, name := path.Split(h.Name)
		r := results[path.Clean(dir)]
		if r == nil {
			r = &Result{Files: map[string][]byte{}}
			results[path.Clean(dir)] = r
		}
		if name == "result.json" {
			if err := json.Unmarshal(b, r); err != nil {
				return nil, err
			}
			continue
		}
		r.Files[name] = b
	}
}
