package trainset

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"manifest/internal/accesspath"
	"manifest/internal/selection"
	"manifest/internal/tokensort"
	"manifest/tokenrange"
)

func TestPathsAreChosenByWhatIsKnown(t *testing.T) {
	d := func(n int32) *selection.Day { day := selection.Day(n); return &day }
	murmur := accesspath.Options{Partitioner: tokenrange.Murmur3, Distinct: true}
	with := func(change func(*accesspath.Options)) accesspath.Options { o := murmur; change(&o); return o }
	for _, c := range []struct {
		name   string
		spec   Spec
		opts   accesspath.Options
		kind   accesspath.Kind
		ranges int
		why    string
	}{
		{"tags and days", Spec{Tags: parseTags(t, "a AND NOT b"), From: d(20_240), To: d(20_249)}, murmur, accesspath.PartitionList, 20, "2 tags on 10 days"},
		{"one day", Spec{Tags: parseTags(t, "a"), From: d(20_240), To: d(20_240)}, murmur, accesspath.PartitionList, 1, "1 tags on 1 days"},
		{"an open day", Spec{Tags: parseTags(t, "a"), From: d(20_240)}, murmur, accesspath.DistinctThenRead, 0, "without a first or a last"},
		{"an open day of a snapshot", Spec{Tags: parseTags(t, "a"), From: d(20_240)}, with(func(o *accesspath.Options) { o.Distinct = false }), accesspath.FullScan, 0, "without a first or a last"},
		{"a pattern", Spec{Tags: parseTags(t, "a*"), From: d(20_240), To: d(20_240)}, murmur, accesspath.DistinctThenRead, 0, "a pattern of tags"},
		{"more than the table has", Spec{Tags: parseTags(t, "a"), From: d(20_240), To: d(20_249)}, with(func(o *accesspath.Options) { o.Partitions = 9 }), accesspath.FullScan, 0, "the table has about 9"},
		{"too many days", Spec{Tags: parseTags(t, "a OR b"), From: d(0), To: d(10_000)}, murmur, accesspath.DistinctThenRead, 0, "too many"},
		{"devices and days", Spec{Devices: []string{"x", "y"}, From: d(1), To: d(3)}, murmur, accesspath.PartitionList, 6, "2 devices on 3 days"},
		{"a pattern of devices", Spec{Devices: []string{"x*"}, From: d(1), To: d(3)}, murmur, accesspath.DistinctThenRead, 0, "a pattern of devices"},
		{"everything", Spec{}, murmur, accesspath.FullScan, 0, "nothing that is asked for"},
		{"asked for", Spec{Tags: parseTags(t, "a"), From: d(1), To: d(3)}, with(func(o *accesspath.Options) { o.Forced = accesspath.FullScan }), accesspath.FullScan, 0, "asked for"},
		{"unknown tokens", Spec{Tags: parseTags(t, "a"), From: d(1), To: d(3)}, with(func(o *accesspath.Options) { o.Partitioner = tokenrange.ExplicitPartitioner("x") }), accesspath.DistinctThenRead, 0, "can't be computed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := NewPlan(c.spec, imageTables(t))
			if err != nil {
				t.Fatal(err)
			}
			path, err := p.Path(p.Reads()[0], c.opts, "")
			if err != nil || path.Kind != c.kind || len(path.Ranges) != c.ranges || !strings.Contains(path.Why, c.why) {
				t.Errorf("got %s of %d ranges because %q, %v", path.Kind, len(path.Ranges), path.Why, err)
			}
		})
	}
	p, err := NewPlan(Spec{}, imageTables(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Path(p.Reads()[0], with(func(o *accesspath.Options) { o.Forced = accesspath.PartitionList }), ""); !errors.Is(err, ErrSpec) {
		t.Errorf("a list of nothing: %v", err)
	}
}

// The listed ranges have the rows that are wanted and hardly others, and so have those of the partition keys that were read.
func TestListedPartitionsHaveTheRows(t *testing.T) {
	images := makeImages(8, 300)
	from, to := selection.Day(20_241), selection.Day(20_242)
	p, err := NewPlan(Spec{Tags: parseTags(t, `"ß spot" OR rust`), From: &from, To: &to}, imageTables(t))
	if err != nil {
		t.Fatal(err)
	}
	read := p.Reads()[0]
	path, err := p.Path(read, accesspath.Options{Partitioner: tokenrange.Murmur3}, "")
	if err != nil || path.Kind != accesspath.PartitionList {
		t.Fatal(path, err)
	}
	g, err := accesspath.NewKeyGatherer(read.Table, read.KeyFilter(), accesspath.KeyOptions{Dir: t.TempDir(), Partitioner: tokenrange.Murmur3})
	if err != nil {
		t.Fatal(err)
	}
	ring := tokenrange.Murmur3.Ring()
	part, err := g.Begin(t.Context(), tokenrange.NewSplit(ring))
	if err != nil {
		t.Fatal(err)
	}
	rows := rowsOf(Tags, images)
	rec := record(t, read.Table, g.Columns(), rows)
	defer rec.Release()
	if err := errors.Join(part.Write(t.Context(), rec), part.Commit(t.Context())); err != nil {
		t.Fatal(err)
	}
	distinct, _, err := g.Ranges(t.Context(), []string{ring.ID()})
	if err != nil {
		t.Fatal(err)
	}
	inside := func(ranges []tokenrange.Range, token tokenrange.Token) bool {
		return slices.ContainsFunc(ranges, func(r tokenrange.Range) bool { return r.Contains(token) })
	}
	found := 0
	for _, row := range rows {
		tag, day := row.values["tag"].(string), row.values["day_bucket"].(int32)
		wanted := (tag == "rust" || tag == "ß spot") && day >= 20_241 && day <= 20_242
		if inside(path.Ranges, row.token) != wanted || inside(distinct, row.token) != wanted {
			t.Errorf("row of %s on %d: listed %t, by its key %t", tag, day, inside(path.Ranges, row.token), inside(distinct, row.token))
		}
		if wanted {
			found++
		}
	}
	if found == 0 {
		t.Error("no row is wanted, which tests nothing")
	}
}

func TestRowsOfCandidatesAreListedIfTheyAreFew(t *testing.T) {
	p, err := NewPlan(theSpec(t), imageTables(t))
	if err != nil {
		t.Fatal(err)
	}
	metadata := p.Reads()[1]
	for n, want := range map[int]int{0: 1, 3: 3, maxPoints: maxPoints, maxPoints + 1: 0} {
		run := filepath.Join(t.TempDir(), "candidates")
		var keys [][]byte
		for _, im := range makeImages(9, n) {
			keys = append(keys, tokensort.AppendKey(nil, tokenrange.Murmur3.Token(im.id[:]), im.id[:]))
		}
		slices.SortFunc(keys, slices.Compare)
		err := tokensort.WriteRun(run, func(w *tokensort.Writer) (err error) {
			for _, k := range keys {
				err = errors.Join(err, w.Add(k, nil))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		path, err := p.Path(metadata, accesspath.Options{Partitioner: tokenrange.Murmur3}, run)
		if err != nil || len(path.Ranges) != want || (path.Kind == accesspath.PartitionList) != (want > 0) {
			t.Errorf("%d candidates: %s of %d ranges, %v", n, path.Kind, len(path.Ranges), err)
		}
	}
}

// A part that is aborted leaves nothing, and one that is committed again takes the place of the first.
func TestPartsOfGatherers(t *testing.T) {
	images := makeImages(10, 20)
	p, err := NewPlan(Spec{Tags: parseTags(t, "rust"), AnyStatus: true, NoDedupe: true, Columns: []string{"image_id"}}, imageTables(t))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	read := p.Reads()[0]
	g, err := p.Gather(read, GatherOptions{Dir: dir, Partitioner: tokenrange.Murmur3, Memory: 1})
	if err != nil {
		t.Fatal(err)
	}
	ring := tokenrange.Murmur3.Ring()
	gatherSome := func(n int, commit bool) {
		part, err := g.Begin(context.Background(), tokenrange.NewSplit(ring))
		if err != nil {
			t.Fatal(err)
		}
		rec := record(t, read.Table, read.Columns, rowsOf(Tags, images[:n]))
		defer rec.Release()
		if err := part.Write(context.Background(), rec); err != nil {
			t.Fatal(err)
		}
		if !commit {
			part.Abort()
			return
		}
		if err := part.Commit(context.Background()); err != nil {
			t.Fatal(err)
		}
		part.Files(func(path string, bytes int64, digest string) {
			if st, err := os.Stat(path); err != nil || st.Size() != bytes || len(digest) != 32 {
				t.Errorf("%s of %d bytes and digest %q: %v", path, bytes, digest, err)
			}
		})
	}
	gatherSome(20, false)
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("an aborted part leaves %v", left)
	}
	gatherSome(20, true)
	gatherSome(10, true)
	runs, err := g.Runs(context.Background(), tokensort.Options{Dir: dir}, []string{ring.ID()})
	if err != nil {
		t.Fatal(err)
	}
	defer runs.Close()
	want := 0
	for _, im := range images[:10] {
		if slices.Contains(im.tags, "rust") {
			want++
		}
	}
	if runs.Rows() != int64(want) {
		t.Errorf("%d rows, want %d", runs.Rows(), want)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("beside the run lies %v", left)
	}
}
