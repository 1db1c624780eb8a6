package sstable_test

import (
	"errors"
	"strings"
	"testing"

	"manifest/internal/sstable"
	"manifest/internal/sstable/fault"
)

func TestVerify(t *testing.T) {
	for _, version := range versions {
		for _, scenario := range []string{"basics", "chunks_plain", "chunks_lz4raw"} {
			r := fixture(t, version, scenario)
			verify := func() error {
				readers, err := sstable.OpenAll(t.Context(), storage(r.Files))
				if err != nil {
					t.Fatal(err)
				}
				defer sstable.CloseAll(readers)
				var errs []error
				for _, reader := range readers {
					errs = append(errs, reader.Verify(t.Context()))
				}
				return errors.Join(errs...)
			}
			if err := verify(); err != nil {
				t.Errorf("%s %s: %v", version, scenario, err)
			}
			for name, b := range r.Files {
				if strings.HasSuffix(name, "-Digest.crc32") || strings.HasSuffix(name, "-Data.db") {
					b[len(b)-1] ^= 1
					if err := verify(); !errors.Is(err, fault.ErrCorrupt) {
						t.Errorf("%s %s: %s damaged: %v", version, scenario, name, err)
					}
					b[len(b)-1] ^= 1
				}
			}
		}
	}
}
