package e2e

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// checkDataset checks what every dataset has: whole files under stated names, checksums of all that a reader relies on, no rests.
func checkDataset(t testing.TB, dir, format string) {
	t.Helper()
	sums := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(content)
		sums[filepath.ToSlash(name)] = hex.EncodeToString(sum[:])
		return nil
	})
	if err != nil {
		t.Fatalf("list %s: %v", dir, err)
	}
	var manifest struct {
		Rows  int64 `json:"rows"`
		Bytes int64 `json:"bytes"`
		Files []struct {
			Path   string `json:"path"`
			Rows   int64  `json:"rows"`
			Bytes  int64  `json:"bytes"`
			SHA256 string `json:"sha256"`
		} `json:"files"`
	}
	content, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &manifest); err != nil {
		t.Fatalf("manifest.json: %v", err)
	}
	want := []string{"README.md", "SHA256SUMS", "_SUCCESS", "croissant.json", "manifest.json"}
	for _, read := range readPaths(t, filepath.Join(dir, "manifest.json")).Reads {
		want = append(want, read.Ledger)
	}
	var rows, size int64
	for i, file := range manifest.Files {
		name := fmt.Sprintf("data/part-%05d-of-%05d.%s", i, len(manifest.Files), format)
		want = append(want, name)
		if file.Path != name || file.SHA256 != sums[name] {
			t.Errorf("manifest.json says %s has checksum %s, want %s with %s", file.Path, file.SHA256, name, sums[name])
		}
		if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err != nil || info.Size() != file.Bytes {
			t.Errorf("%s: manifest.json says %d bytes, got %v, %v", name, file.Bytes, info, err)
		}
		rows, size = rows+file.Rows, size+file.Bytes
	}
	if rows != manifest.Rows || size != manifest.Bytes {
		t.Errorf("manifest.json says %d rows in %d bytes, but its files have %d in %d", manifest.Rows, manifest.Bytes, rows, size)
	}
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(sums)); !slices.Equal(got, want) {
		t.Errorf("files of %s:\n got %q\nwant %q", dir, got, want)
	}
	checkSums(t, filepath.Join(dir, "SHA256SUMS"), sums)
}

// checkSums checks that SHA256SUMS, in the form that sha256sum --check reads, has the true checksum of every other file.
func checkSums(t testing.TB, path string, sums map[string]string) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	listed := map[string]string{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		sum, name, _ := strings.Cut(lines.Text(), "  ")
		listed[name] = sum
	}
	for name, sum := range sums {
		if name == "SHA256SUMS" || name == "_SUCCESS" {
			continue
		}
		if listed[name] != sum {
			t.Errorf("SHA256SUMS has %q for %s, want %s", listed[name], name, sum)
		}
	}
}
