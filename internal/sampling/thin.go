package sampling

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"

	"manifest/internal/tokensort"
)

// fraction keeps the rows whose sample hash is below the share of all hashes.
type fraction struct {
	below       uint64
	probability float64 // with which a row stays
}

func newFraction(f Share) fraction {
	t := threshold(f.rat(), 63)
	below := uint64(math.MaxUint64)
	if t.IsUint64() {
		below = t.Uint64()
	}
	return fraction{below: below, probability: float64(below) / (1 << 63)}
}

func (f fraction) keeps(hash int64) bool { return uint64(hash) < f.below }

// keepFraction hands on what a fraction keeps.
func keepFraction(f fraction, next func(item) error) func(item) error {
	return func(it item) error {
		if !f.keeps(it.hash) {
			return nil
		}
		it.weight /= f.probability
		return next(it)
	}
}

// caps tell how many rows of each stratum stay.
type caps struct {
	each int64 // of every stratum
	// One row more of extra strata of those that have more than each, which are larger in number.
	extra, larger int64
}

// probability with which a row of a stratum of n rows stays.
func (c caps) probability(n int64) float64 {
	if n <= c.each {
		return 1
	}
	more := 0.0
	if c.larger > 0 {
		more = float64(c.extra) / float64(c.larger)
	}
	return (float64(c.each) + more) / float64(n)
}

// capping chooses the caps for strata of the given sizes, which come in ascending order.
type capping func(strata int64, sizes tokensort.Stream) (caps, error)

func fixedCap(limit int64) capping {
	return func(int64, tokensort.Stream) (caps, error) { return caps{each: limit}, nil }
}

// equalCaps fills strata like vessels of different heights: the smallest are full first, the others share what is left.
func equalCaps(limit int64) capping {
	return func(strata int64, sizes tokensort.Stream) (caps, error) {
		for left := limit; ; {
			err := sizes.Next()
			if errors.Is(err, io.EOF) {
				return caps{each: math.MaxInt64 - 1}, nil
			}
			if err != nil {
				return caps{}, err
			}
			n := int64(binary.BigEndian.Uint64(sizes.Key()))
			if n > left/strata { // sizes ascend: no stratum from here on fits whole
				return caps{each: left / strata, extra: left % strata, larger: strata}, nil
			}
			left -= n
			strata--
		}
	}
}

// thinning keeps rows of each stratum by their sample hashes.
//
//	rows      stratum, sample hash, name -> item
//	strata    stratum -> number of rows
//	sizes     number of rows of a stratum
type thinning struct {
	decider *Decider
	rows    *tokensort.Sorter
	stratum func(item) []byte
	capping capping
	next    func(item) error

	key, value []byte
}

// thin adds a stage, and gives the function that takes its items.
func (d *Decider) thin(stratum func(item) []byte, c capping, next func(item) error) (func(item) error, error) {
	rows, err := d.newSorter()
	if err != nil {
		return nil, err
	}
	t := &thinning{decider: d, rows: rows, stratum: stratum, capping: c, next: next}
	d.finish = append(d.finish, t.finish)
	return t.add, nil
}

func (t *thinning) add(it item) error {
	t.key = appendHash(tokensort.AppendText(t.key[:0], t.stratum(it)), it.hash)
	t.key = append(t.key, it.name...)
	t.value = it.append(t.value[:0])
	return t.rows.Add(t.key, t.value)
}

func (t *thinning) finish(ctx context.Context) error {
	if t.rows.Rows() == 0 {
		return nil
	}
	strata, chosen, err := t.measure(ctx)
	if err != nil {
		return err
	}
	extra, err := t.decider.newSorter()
	if err != nil {
		return err
	}
	counts, err := strata.Open()
	if err != nil {
		return err
	}
	in, err := t.rows.Open()
	if err != nil {
		return errors.Join(err, counts.Close())
	}
	var it item
	var rank int64
	var last []byte
	join := tokensort.NewJoin(in, textLen, counts)
	err = tokensort.Each(ctx, join, func(key, value []byte) error {
		n, err := textLen(key)
		if err != nil {
			return err
		}
		if last == nil || string(last) != string(key[:n]) {
			last, rank = append(last[:0], key[:n]...), 0
		}
		rank++
		if rank > chosen.each+1 || rank > chosen.each && chosen.extra == 0 {
			return nil
		}
		size, _ := join.Right(0)
		if err := it.parse(value); err != nil {
			return err
		}
		it.weight /= chosen.probability(int64(binary.BigEndian.Uint64(size)))
		if rank <= chosen.each {
			return t.next(it)
		}
		t.value = it.append(t.value[:0])
		return extra.Add(key[n:], t.value)
	})
	if err != nil {
		return err
	}
	return errors.Join(t.takeExtra(ctx, extra, chosen.extra), extra.Close(), strata.Close(), t.rows.Close())
}

// measure counts the rows of strata and chooses the caps.
func (t *thinning) measure(ctx context.Context) (strata *tokensort.Sorter, chosen caps, err error) {
	if strata, err = t.decider.newSorter(); err != nil {
		return nil, caps{}, err
	}
	sizes, err := t.decider.newSorter()
	if err != nil {
		return nil, caps{}, err
	}
	var last []byte
	var n uint64
	end := func() error {
		if n == 0 {
			return nil
		}
		size := binary.BigEndian.AppendUint64(nil, n)
		n = 0
		return errors.Join(strata.Add(last, size), sizes.Add(size, nil))
	}
	err = eachItem(ctx, t.rows, func(key []byte, _ item) error {
		length, err := textLen(key)
		if err != nil {
			return err
		}
		if n > 0 && string(last) != string(key[:length]) {
			if err := end(); err != nil {
				return err
			}
		}
		last = append(last[:0], key[:length]...)
		n++
		return nil
	})
	if err := errors.Join(err, end(), strata.Sort(ctx), sizes.Sort(ctx)); err != nil {
		return nil, caps{}, err
	}
	in, err := sizes.Open()
	if err != nil {
		return nil, caps{}, err
	}
	chosen, err = t.capping(sizes.Rows(), in)
	return strata, chosen, errors.Join(err, in.Close())
}

// takeExtra hands on the n rows of smallest sample hash among the first that did not fit.
func (t *thinning) takeExtra(ctx context.Context, extra *tokensort.Sorter, n int64) error {
	return eachItem(ctx, extra, func(_ []byte, it item) error {
		if n <= 0 {
			return nil
		}
		n--
		return t.next(it)
	})
}
