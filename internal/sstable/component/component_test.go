package component

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"manifest/internal/sstable/fault"
)

func TestParseFileName(t *testing.T) {
	for name, want := range map[string]struct {
		descriptor, component string
		format                Format
	}{
		"nb-1-big-Data.db":                            {"nb-1-big", "Data.db", Big},
		"ma-4200000000-big-TOC.txt":                   {"ma-4200000000-big", "TOC.txt", Big},
		"oa-13-big-Digest.crc32":                      {"oa-13-big", "Digest.crc32", Big},
		"da-7-bti-Partitions.db":                      {"da-7-bti", "Partitions.db", BTI},
		"nb-2-big-SI_by_device.db":                    {"nb-2-big", "SI_by_device.db", Big},
		"oa-1-big-SAI+aa+i+Meta.db":                   {"oa-1-big", "SAI+aa+i+Meta.db", Big},
		"da-3gvh_0lgl_1qhs42p4d0j8q4tsxl-bti-Data.db": {"da-3gvh_0lgl_1qhs42p4d0j8q4tsxl-bti", "Data.db", BTI},
	} {
		d, component, err := ParseFileName(name)
		if err != nil || d.String() != want.descriptor || component != want.component || d.Format != want.format {
			t.Errorf("%s: %v %q %v", name, d, component, err)
		}
		if err == nil && d.FileName(component) != name {
			t.Errorf("%s: written as %s", name, d.FileName(component))
		}
	}
}

func TestParseFileNameRefuses(t *testing.T) {
	for name, want := range map[string]error{
		"ob-1-big-Data.db":           fault.ErrUnsupported, // later than any known
		"la-1-big-Data.db":           fault.ErrUnsupported,
		"me-1-bti-Data.db":           fault.ErrUnsupported,
		"oa-1-bti-Data.db":           fault.ErrUnsupported,
		"aa-1-bti-Data.db":           fault.ErrUnsupported, // of DataStax Enterprise
		"nb-1-trie-Data.db":          fault.ErrUnsupported,
		"ks-images-ka-1-Data.db":     fault.ErrUnsupported,
		"ks-images-tmp-jb-1-Data.db": fault.ErrUnsupported,
		"manifest.json":              ErrNoComponent,
		"schema.cql":                 ErrNoComponent,
		"nb-1-Data.db":               ErrNoComponent,
		"nb-12345678901-big-Data.db": ErrNoComponent,
		"nb-1-big-Data":              ErrNoComponent,
		"../nb-1-big-Data.db":        ErrNoComponent,
	} {
		if _, _, err := ParseFileName(name); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
}

func TestVersionFlags(t *testing.T) {
	for _, c := range []struct {
		format                                            Format
		name                                              string
		checksum, unsigned, lower, intervals, pending, id bool
	}{
		{Big, "ma", false, false, false, false, false, false},
		{Big, "mb", false, false, true, false, false, false},
		{Big, "mc", false, false, true, true, false, false},
		{Big, "md", false, false, true, true, false, false},
		{Big, "me", false, false, true, true, false, true},
		{Big, "na", true, false, true, true, true, false},
		{Big, "nb", true, false, true, true, true, true},
		{Big, "oa", true, true, true, true, true, true},
		{BTI, "da", true, true, true, true, true, true},
	} {
		v := Version{c.format, c.name}
		if !v.supported() || v.HasMetadataChecksum() != c.checksum || v.HasMaxCompressedLength() != c.checksum ||
			v.HasUnsignedDeletionTime() != c.unsigned || v.HasImprovedMinMax() != c.unsigned || v.HasKeyRange() != c.unsigned ||
			v.HasCommitLogLowerBound() != c.lower || v.HasCommitLogIntervals() != c.intervals || v.HasPendingRepair() != c.pending ||
			v.HasOriginatingHostID() != c.id {
			t.Errorf("%v: wrong flags", v)
		}
	}
}

func folder(toc string, names ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for _, name := range names {
		fsys[name] = &fstest.MapFile{Data: []byte(toc)}
	}
	return fsys
}

const toc = "Data.db\nStatistics.db\nTOC.txt\nCompressionInfo.db\n"

func TestFind(t *testing.T) {
	fsys := folder(toc, "nb-2-big-Data.db", "nb-2-big-Statistics.db", "nb-2-big-TOC.txt", "nb-2-big-CompressionInfo.db",
		"oa-1-big-Data.db", "oa-1-big-Statistics.db", "oa-1-big-TOC.txt", "oa-1-big-CompressionInfo.db",
		"manifest.json", "schema.cql", "backups/nb-1-big-Data.db")
	sets, err := Find(t.Context(), FS(fsys))
	if err != nil || len(sets) != 2 || sets[0].String() != "nb-2-big" || sets[1].String() != "oa-1-big" {
		t.Fatalf("%v, %v", sets, err)
	}
	if !sets[0].Has(CompressionInfo) || sets[0].Has(CRC) {
		t.Error("wrong components")
	}
	b, err := sets[0].Read(t.Context(), Data, 1<<20)
	if err != nil || string(b) != toc {
		t.Errorf("read %q, %v", b, err)
	}
	if _, err := sets[0].Read(t.Context(), Data, 3); !errors.Is(err, fault.ErrCorrupt) {
		t.Errorf("read past the limit: %v", err)
	}
	if _, err := sets[0].Open(t.Context(), CRC); !errors.Is(err, fault.ErrMissing) {
		t.Errorf("open what is not there: %v", err)
	}
}

func TestFindRefuses(t *testing.T) {
	all := []string{"nb-1-big-Data.db", "nb-1-big-Statistics.db", "nb-1-big-TOC.txt", "nb-1-big-CompressionInfo.db"}
	without := func(name string) []string {
		var names []string
		for _, n := range all {
			if n != name {
				names = append(names, n)
			}
		}
		return names
	}
	for _, c := range []struct {
		name  string
		toc   string
		files []string
		want  error
		text  string
	}{
		{"no Data.db", toc, without(all[0]), fault.ErrMissing, "nb-1-big-Data.db"},
		{"no Statistics.db", toc, without(all[1]), fault.ErrMissing, "nb-1-big-Statistics.db"},
		{"no TOC.txt", toc, without(all[2]), fault.ErrMissing, "nb-1-big-TOC.txt"},
		{"no CompressionInfo.db though listed", toc, without(all[3]), fault.ErrMissing, "nb-1-big-CompressionInfo.db"},
		{"CompressionInfo.db not listed", "Data.db\nStatistics.db\nTOC.txt\n", all, fault.ErrCorrupt, "nb-1-big-TOC.txt"},
		{"Data.db not listed", "Statistics.db\nTOC.txt\nCompressionInfo.db", all, fault.ErrCorrupt, "Data.db is not listed"},
		{"listed file missing", toc + "Index.db\n", all, fault.ErrMissing, "nb-1-big-Index.db"},
		{"unknown version", toc, append([]string{"zz-1-big-Data.db"}, all...), fault.ErrUnsupported, "zz-1-big-Data.db"},
		{"unknown file", toc, append([]string{"something.db"}, all...), fault.ErrUnsupported, "something.db"},
		{"being written", toc, append([]string{"nb-3-big-Data.db.tmp"}, all...), fault.ErrUnsupported, "running server"},
		{"compaction", toc, append([]string{"nb_txn_compaction_x.log"}, all...), fault.ErrUnsupported, "running server"},
		{"ScyllaDB", toc, append([]string{"me-3-big-Scylla.db"}, all...), fault.ErrUnsupported, "ScyllaDB"},
	} {
		_, err := Find(t.Context(), FS(folder(c.toc, c.files...)))
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, want %v that names %s", c.name, err, c.want, c.text)
		}
	}
}

func TestFindIgnoresMissingSecondaryIndexes(t *testing.T) {
	fsys := folder(toc+"SI_by_device.db\nSAI+aa+i+Meta.db\n", "nb-1-big-Data.db", "nb-1-big-Statistics.db", "nb-1-big-TOC.txt", "nb-1-big-CompressionInfo.db")
	if sets, err := Find(t.Context(), FS(fsys)); err != nil || len(sets) != 1 {
		t.Errorf("%v, %v", sets, err)
	}
}

func TestDir(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "nb-1-big-Data.db"), []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "backups"), 0o700); err != nil {
		t.Fatal(err)
	}
	names, err := Dir(dir).Names(t.Context())
	if err != nil || len(names) != 1 || names[0] != "nb-1-big-Data.db" {
		t.Fatalf("%v, %v", names, err)
	}
	f, err := Dir(dir).Open(t.Context(), names[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, 4)
	if err := ReadAt(f, "x", b, 3); err != nil || string(b) != "tent" || f.Size() != 7 {
		t.Errorf("%q of %d, %v", b, f.Size(), err)
	}
	if err := ReadAt(f, "x", b, 5); !errors.Is(err, fault.ErrCorrupt) {
		t.Errorf("read past the end: %v", err)
	}
	if _, err := Dir(dir).Open(t.Context(), "other"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("open what is not there: %v", err)
	}
}
