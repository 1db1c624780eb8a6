package trainset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/zeebo/xxh3"

	"manifest/internal/tokensort"
)

// Options of a Builder.
type Options struct {
	// Dir is an existing directory for what does not fit the memory.
	Dir string
	// Memory is about the most that is held at a time. Default 512 MiB.
	Memory int64
	// Parallelism is how many pieces of files are encoded at a time. Default the number of processors.
	Parallelism int
}

func (o Options) withDefaults() Options {
	o.Memory = cmp.Or(o.Memory, 512<<20)
	o.Parallelism = cmp.Or(o.Parallelism, runtime.GOMAXPROCS(0))
	return o
}

// Builder makes a manifest of what was gathered: Select, then Make. It belongs to one goroutine.
type Builder struct {
	plan *Plan
	opts Options

	base       *tokensort.Sorter // gathered rows
	candidates string            // run: image -> cells of the tags and of the base
	digest     string            // of the images in it; empty where there is no such run
	rejects    *tokensort.Sorter
	counts     Counts
	weight     float32 // of every kept image; 0 where each has its own
}

// Counts tells how many images there were at each stage.
type Counts struct {
	IndexRows  int64 // of use, of the base
	Images     int64 // that these rows name
	Candidates int64 // of these, that the tags choose
	Matching   int64 // of these, that the condition chooses
	Accepted   int64 // of these, that have metadata and an accepted status
	Unique     int64 // of these, that are no duplicates
	Sampled    []Stage
	Kept       int64
	Splits     []Stage
	Rejected   []Stage // by reason
}

// Stage is a number of images.
type Stage struct {
	Name   string
	Images int64
}

// NewBuilder makes a builder. Close removes what it leaves.
func (p *Plan) NewBuilder(opts Options) (*Builder, error) {
	opts = opts.withDefaults()
	b := &Builder{
		plan: p, opts: opts,
		candidates: filepath.Join(opts.Dir, "candidates.run"),
	}
	if err := removeIfThere(b.candidates); err != nil { // of a process that ended
		return nil, err
	}
	var err error
	b.rejects, err = tokensort.NewSorter(b.sorting())
	return b, err
}

// sorting gives the options of a sorter, of which there are up to four at a time; the rest is for what the collector has not yet freed.
func (b *Builder) sorting() tokensort.Options {
	return tokensort.Options{Dir: b.opts.Dir, Memory: max(1<<16, b.opts.Memory/8), FanIn: int(max(4, min(64, b.opts.Memory/(4<<20))))}
}

// Close removes what is on the disk, but for what was gathered.
func (b *Builder) Close() error {
	return errors.Join(b.rejects.Close(), removeIfThere(b.candidates))
}

// removeIfThere removes a file that may not be there.
func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Candidates is the run for the GatherOptions of a Read of candidates, when Select has been called.
func (b *Builder) Candidates() string { return b.candidates }

// CandidateDigest tells sets of candidates apart, when Select has been called: rows that were gathered for others are of no use. It is
// empty where none are gathered for candidates.
func (b *Builder) CandidateDigest() string { return b.digest }

// Select makes the candidates of the gathered rows of the base. Where tags don't name the images, the candidates are not yet chosen by
// them: Join does it. Where no table is read for the rows of candidates alone, Join makes them on its way.
func (b *Builder) Select(ctx context.Context, base *tokensort.Sorter) error {
	b.base = base
	if !slices.ContainsFunc(b.plan.reads, func(r *Read) bool { return r.OfCandidates }) {
		return nil
	}
	in, err := b.makeCandidates()
	if err != nil {
		return err
	}
	in.digest = xxh3.New()
	err = tokensort.WriteRun(b.candidates, func(w *tokensort.Writer) error { return tokensort.Each(ctx, in, w.Add) })
	if err != nil {
		return fmt.Errorf("select images: %w", err)
	}
	sum := in.digest.Sum128()
	b.digest = fmt.Sprintf("%016x%016x", sum.Hi, sum.Lo)
	return nil
}

// openCandidates is the stream of candidates, when Select has been called.
func (b *Builder) openCandidates() (tokensort.Stream, error) {
	if b.digest == "" {
		return b.makeCandidates()
	}
	return tokensort.Open(b.candidates)
}
