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

	"manifest/internal/rowform"
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

// Builder makes a manifest of what was gathered: Select, then Join, then Decide, then Write. It belongs to one goroutine.
type Builder struct {
	plan *Plan
	opts Options

	candidates string // run: image -> cells of the tags and of the base
	digest     string // of the images in it
	accepted   string // run: image -> joined row
	rejects    *tokensort.Sorter
	counts     Counts
	decisions  decisions
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
		accepted:   filepath.Join(opts.Dir, "accepted.run"),
	}
	for _, path := range []string{b.candidates, b.accepted} { // of a process that ended
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
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
	errs := []error{b.rejects.Close()}
	if b.decisions.decisions != nil {
		errs = append(errs, b.decisions.decisions.Close())
	}
	for _, path := range []string{b.candidates, b.accepted} {
		if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Candidates is the run for GatherOptions, when Select has been called.
func (b *Builder) Candidates() string { return b.candidates }

// CandidateDigest tells sets of candidates apart, when Select has been called: rows that were gathered for others are of no use.
func (b *Builder) CandidateDigest() string { return b.digest }

// Select makes the candidates of the gathered rows of the base. Where tags don't name the images, the candidates are not yet chosen by
// them: Join does it.
func (b *Builder) Select(ctx context.Context, base *tokensort.Sorter) error {
	in, err := base.Open()
	if err != nil {
		return err
	}
	s := selecting{builder: b, images: xxh3.New()}
	err = tokensort.WriteRun(b.candidates, func(w *tokensort.Writer) error {
		s.to = w
		if err := tokensort.Each(ctx, in, s.row); err != nil {
			return err
		}
		return s.end()
	})
	if err != nil {
		return fmt.Errorf("select images: %w", err)
	}
	sum := s.images.Sum128()
	b.digest = fmt.Sprintf("%016x%016x", sum.Hi, sum.Lo)
	return nil
}

// selecting brings the rows of an image together.
type selecting struct {
	builder *Builder
	to      *tokensort.Writer
	images  *xxh3.Hasher // of the keys of all candidates
	image   []byte       // key of the image at hand
	have    bool
	tags    []string
	row1    []byte // cells of its first row
	buf     []byte
}

func (s *selecting) row(key, value []byte) error {
	s.builder.counts.IndexRows++
	n, err := tokensort.KeyLen(key)
	if err != nil {
		return err
	}
	if !s.have || string(s.image) != string(key[:n]) {
		if err := s.end(); err != nil {
			return err
		}
		s.have, s.image = true, append(s.image[:0], key[:n]...)
		s.row1, s.tags = append(s.row1[:0], value...), s.tags[:0]
	}
	if s.builder.plan.base != Tags {
		return nil
	}
	return s.addTag(key[n:])
}

func (s *selecting) addTag(suffix []byte) error {
	tag, _, err := tokensort.TakeText(nil, suffix)
	if err != nil {
		return err
	}
	if len(s.tags) == 0 || s.tags[len(s.tags)-1] != string(tag) {
		s.tags = append(s.tags, string(tag))
	}
	return nil
}

// end decides about the image at hand.
func (s *selecting) end() error {
	if !s.have {
		return nil
	}
	s.have = false
	s.builder.counts.Images++
	p := s.builder.plan
	if p.base == Tags && !p.spec.Tags.Matches(s.tags) {
		return nil
	}
	s.builder.counts.Candidates++
	s.buf = appendTags(s.buf[:0], s.tags)
	s.buf = append(s.buf, s.row1...)
	if _, err := s.images.Write(s.image); err != nil {
		return err
	}
	return s.to.Add(s.image, s.buf)
}

// appendTags appends the cell of a set of tags, which ascend.
func appendTags(dst []byte, tags []string) []byte {
	var content []byte
	for _, tag := range tags {
		content = rowform.AppendContent(content, []byte(tag))
	}
	return rowform.AppendContent(dst, content)
}

// tagsOf reads a cell that appendTags made.
func tagsOf(content []byte) (tags []string, err error) {
	cells, err := rowform.Cells(nil, content)
	for _, c := range cells {
		tags = append(tags, string(c))
	}
	if !slices.IsSorted(tags) {
		err = errors.Join(err, fmt.Errorf("%w: tags are out of order", ErrInput))
	}
	return tags, err
}
