package export

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// published makes a dataset of three shards, 30 rows in all.
func published(t *testing.T, format Format) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	target := prepare(t, dir, "r1", false)
	d := newDataset(t, imageSchema(), Options{WorkDir: target.PartsDir(), Format: format, Shards: 3})
	var splits []string
	for i := range 3 {
		split := fmt.Sprint(i)
		writePart(t, t.Context(), d, split, imageRecord(10*i, 10*i+10))
		splits = append(splits, split)
	}
	res, err := d.Finish(t.Context(), splits, target.Dir())
	if err != nil {
		t.Fatal(err)
	}
	m := Manifest{Kind: "table", RunID: "r1", CreatedAt: time.Unix(1_748_736_000, 0).UTC(), Source: Source{Kind: "cql", Keyspace: "k", Table: "t"}, Coverage: Coverage{Complete: true}}
	d.Describe(&m, res)
	if err := target.Publish(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	return dir
}

// edit replaces a text in a file that has it.
func edit(t *testing.T, name, from, to string) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(data, []byte(from)) {
		t.Fatalf("%s does not contain %q", name, from)
	}
	if err := os.WriteFile(name, bytes.Replace(data, []byte(from), []byte(to), 1), 0o600); err != nil {
		t.Fatal(err)
	}
}

// flip turns the lowest bit of the byte in the middle of a file.
func flip(t *testing.T, name string) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// reseal makes SHA256SUMS fit the files again, as somebody who means to deceive
// would: what is left to find is what the sums can't tell.
func reseal(t *testing.T, dir string) {
	t.Helper()
	name := filepath.Join(dir, ChecksumsFile)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		file := line[66:]
		_, sum, err := hashFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s  %s\n", sum, file)
	}
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestPublishedDatasetsVerify(t *testing.T) {
	for _, format := range formats {
		m, err := Verify(t.Context(), published(t, format))
		if err != nil {
			t.Errorf("%s: %v", format, err)
		}
		if m.Rows != 30 || len(m.Files) != 3 {
			t.Errorf("%s: %d rows in %d files, not 30 in 3", format, m.Rows, len(m.Files))
		}
	}
}

func TestVerifyFinds(t *testing.T) {
	shard := func(dir string, format Format, n int) string {
		return filepath.Join(dir, "data", fmt.Sprintf("part-%05d-of-00003.%s", n, format))
	}
	for _, format := range formats {
		for _, c := range []struct {
			name   string
			damage func(t *testing.T, dir string)
			says   string
		}{
			{"a flipped bit", func(t *testing.T, dir string) { flip(t, shard(dir, format, 1)) }, "data/part-00001-of-00003." + string(format) + " has changed"},
			{"a lost shard", func(t *testing.T, dir string) { remove(t, shard(dir, format, 2)) }, "part-00002-of-00003." + string(format) + " is missing"},
			{"a file too many", func(t *testing.T, dir string) {
				if err := os.WriteFile(shard(dir, format, 3), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}, "part-00003-of-00003." + string(format) + " does not belong"},
			{"a cut file", func(t *testing.T, dir string) {
				if err := os.Truncate(shard(dir, format, 0), 100); err != nil {
					t.Fatal(err)
				}
			}, "part-00000-of-00003." + string(format) + " has 100 bytes"},
			{"no _SUCCESS", func(t *testing.T, dir string) { remove(t, filepath.Join(dir, SuccessFile)) }, "_SUCCESS is missing"},
			{"no sums", func(t *testing.T, dir string) { remove(t, filepath.Join(dir, ChecksumsFile)) }, "SHA256SUMS is missing"},
			{"a wrong total", func(t *testing.T, dir string) {
				edit(t, filepath.Join(dir, ManifestFile), "\n  \"rows\": 30,", "\n  \"rows\": 31,")
				reseal(t, dir)
			}, "says 31 rows"},
			{"a wrong count of a file", func(t *testing.T, dir string) {
				edit(t, filepath.Join(dir, ManifestFile), `"rows": 10`, `"rows": 11`)
				edit(t, filepath.Join(dir, ManifestFile), "\n  \"rows\": 30,", "\n  \"rows\": 31,")
				reseal(t, dir)
			}, "." + string(format) + " holds 10 rows, not 11"},
			{"a stage that lost rows", func(t *testing.T, dir string) {
				edit(t, filepath.Join(dir, ManifestFile), "\"stage\": \"read\",\n      \"rows\": 30", "\"stage\": \"read\",\n      \"rows\": 29")
				reseal(t, dir)
			}, "counts 29 rows read"},
			{"another column", func(t *testing.T, dir string) {
				edit(t, filepath.Join(dir, ManifestFile), `"name": "width"`, `"name": "girth"`)
				reseal(t, dir)
			}, "has another hash of its columns"},
			{"an incomplete run", func(t *testing.T, dir string) {
				edit(t, filepath.Join(dir, ManifestFile), `"complete": true`, `"complete": false`)
				reseal(t, dir)
			}, "is incomplete"},
			{"a path that leads out", func(t *testing.T, dir string) {
				edit(t, filepath.Join(dir, ManifestFile), `"path": "data/`, `"path": "../data/`)
				reseal(t, dir)
			}, "not inside of the dataset"},
			{"another version", func(t *testing.T, dir string) {
				edit(t, filepath.Join(dir, ManifestFile), `"format_version": 1`, `"format_version": 2`)
			}, "is of format 2"},
		} {
			t.Run(string(format)+"/"+c.name, func(t *testing.T) {
				dir := published(t, format)
				c.damage(t, dir)
				_, err := Verify(t.Context(), dir)
				if !errors.Is(err, ErrVerify) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("verification says %v, not %q", err, c.says)
				}
			})
		}
	}
}

// The sum of a Parquet file covers all of it; the CRC of a page covers what is
// in the page, but not its header, which is a large part of such small pages.
// Reading back is what finds a file whose sum was made after the damage.
func TestParquetIsReadBackPageByPage(t *testing.T) {
	dir := published(t, Parquet)
	name := filepath.Join(dir, "data", "part-00001-of-00003.parquet")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for i := 4; i < len(data)/3; i++ { // pages come first
		damaged := bytes.Clone(data)
		damaged[i] ^= 0x10
		if err := os.WriteFile(name, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if rows, _, _, err := countRows(name, Parquet, nil); err != nil || rows != 10 {
			found++
		}
	}
	if tried := len(data)/3 - 4; found < tried*3/4 {
		t.Errorf("of %d flipped bits in pages, reading found %d", tried, found)
	}
}

func TestVerifyRefusesWhatIsNoDataset(t *testing.T) {
	if _, err := Verify(t.Context(), t.TempDir()); !errors.Is(err, ErrNotDataset) {
		t.Errorf("an empty directory: %v", err)
	}
	if _, err := VerifyStats(t.Context(), t.TempDir()); !errors.Is(err, ErrNotDataset) {
		t.Errorf("an empty directory: %v", err)
	}
}

func TestVerifyStatsFinds(t *testing.T) {
	const day = "sizes/dt=2025-06-01/part-r1.parquet"
	for _, c := range []struct {
		name   string
		damage func(t *testing.T, dir string)
		says   string
	}{
		{"nothing", func(*testing.T, string) {}, ""},
		{"a flipped bit", func(t *testing.T, dir string) { flip(t, filepath.Join(dir, day)) }, day + " has changed"},
		{"a lost file", func(t *testing.T, dir string) { remove(t, filepath.Join(dir, day)) }, day + " is missing"},
		{"a wrong count", func(t *testing.T, dir string) { edit(t, filepath.Join(dir, RunFile), `"rows": 2`, `"rows": 3`) }, day + " holds 2 rows, not 3"},
		{"a changed ledger", func(t *testing.T, dir string) { edit(t, filepath.Join(dir, "ledger-1.jsonl"), "a", "b") }, "ledger-1.jsonl has changed"},
		{"a lost ledger", func(t *testing.T, dir string) { remove(t, filepath.Join(dir, "ledger-2.jsonl")) }, "ledger-2.jsonl is missing"},
		{"a broken commit", func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, journalFile), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, "broken off"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			tree := openTree(t, dir, "r1")
			write(t, tree, "sizes", "2025-06-01", counts(20240, 5, 6))
			for range 2 {
				if _, err := tree.WriteLedger([]byte("a\n")); err != nil {
					t.Fatal(err)
				}
			}
			if err := tree.Commit(t.Context(), RunRecord{Coverage: Coverage{Complete: true}}); err != nil {
				t.Fatal(err)
			}
			c.damage(t, dir)
			_, err := VerifyStats(t.Context(), dir)
			if c.says == "" && err != nil {
				t.Errorf("verification says %v", err)
			}
			if c.says != "" && (!errors.Is(err, ErrVerify) || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("verification says %v, not %q", err, c.says)
			}
		})
	}
}

func TestLedgersOfTheRunBeforeGo(t *testing.T) {
	dir := t.TempDir()
	for run, ledgers := range []int{3, 1} {
		tree := openTree(t, dir, fmt.Sprintf("r%d", run))
		for range ledgers {
			if _, err := tree.WriteLedger([]byte(fmt.Sprint(run))); err != nil {
				t.Fatal(err)
			}
		}
		if err := tree.Commit(t.Context(), RunRecord{Coverage: Coverage{Complete: true}}); err != nil {
			t.Fatal(err)
		}
	}
	names, err := filepath.Glob(filepath.Join(dir, "*ledger*"))
	if err != nil || len(names) != 1 {
		t.Fatalf("ledgers: %v, %v", names, err)
	}
	if data, _ := os.ReadFile(names[0]); string(data) != "1" {
		t.Errorf("the ledger is that of run %s", data)
	}
	if st, _ := os.Stat(names[0]); st.Mode().Perm() != 0o600 {
		t.Errorf("the ledger, which can hold keys, has mode %v", st.Mode())
	}
}
