package sampling

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"manifest/internal/tokensort"
)

// Pins are the splits of groups in an older manifest.
type Pins struct {
	groups *tokensort.Sorter // group -> number of the split
	splits []Split
}

// NewPins makes pins to these splits. Close is to be called after the decisions have been made.
func NewPins(splits []Split, opts tokensort.Options) (*Pins, error) {
	groups, err := tokensort.NewSorter(opts)
	if err != nil {
		return nil, err
	}
	return &Pins{groups, splits}, nil
}

// Add pins a group to the split of that name, which must be one of those asked for. The same may be said many times.
func (p *Pins) Add(group int64, split string) error {
	for i, s := range p.splits {
		if s.Name == split {
			return p.groups.Add(appendID(nil, group), []byte{byte(i)})
		}
	}
	return fmt.Errorf("%w: the older manifest has a split %q, which is not asked for", ErrOptions, split)
}

// Close removes what is on the disk.
func (p *Pins) Close() error { return p.groups.Close() }

// apart marks a unit that is pinned to several splits.
const apart = 255

// appendID appends the id of a group or unit so that bytes have the order of numbers.
func appendID(dst []byte, id int64) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(id)^1<<63)
}

func parseID(b []byte) (int64, error) {
	if len(b) != 8 {
		return 0, fmt.Errorf("%w: an id of %d bytes", tokensort.ErrCorrupt, len(b))
	}
	return int64(binary.BigEndian.Uint64(b) ^ 1<<63), nil
}

// units finds the unit of each row, and its split: that of a pin, or by its hash.
type units struct {
	decider *Decider
	items   *tokensort.Sorter // group, name -> item
	edges   *tokensort.Sorter // nil without Connect
	pins    *Pins             // nil without

	key, value []byte
}

func (u *units) add(it item) error {
	u.key = append(appendID(u.key[:0], it.group), it.name...)
	u.value = it.append(u.value[:0])
	return u.items.Add(u.key, u.value)
}

func groupPrefix(key []byte) (int, error) {
	if len(key) < 8 {
		return 0, fmt.Errorf("%w: a key without a group", tokensort.ErrCorrupt)
	}
	return 8, nil
}

func (u *units) finish(ctx context.Context) error {
	roots, err := u.roots(ctx)
	if err != nil {
		return err
	}
	pins, err := u.pinnedUnits(ctx, roots)
	if err != nil {
		return err
	}
	byUnit, err := u.byUnit(ctx, roots)
	if err != nil {
		return err
	}
	return u.assign(ctx, byUnit, pins)
}

// roots maps groups to the unit that they are in; groups that are not there are their own.
func (u *units) roots(ctx context.Context) (*tokensort.Sorter, error) {
	if u.edges == nil {
		return u.decider.emptySorter(ctx)
	}
	roots, err := components(ctx, u.decider, u.edges)
	if err != nil {
		return nil, err
	}
	u.decider.counts.Connected = roots.Rows()
	return roots, nil
}

// emptySorter has no rows.
func (d *Decider) emptySorter(ctx context.Context) (*tokensort.Sorter, error) {
	s, err := d.newSorter()
	if err != nil {
		return nil, err
	}
	return s, s.Sort(ctx)
}

// pinnedUnits maps units to the number of their split, or to apart.
func (u *units) pinnedUnits(ctx context.Context, roots *tokensort.Sorter) (*tokensort.Sorter, error) {
	if u.pins == nil {
		return u.decider.emptySorter(ctx)
	}
	mapped, err := u.decider.newSorter()
	if err != nil {
		return nil, err
	}
	if err := joinRoots(ctx, u.pins.groups, roots, func(unit, _, split []byte) error { return mapped.Add(unit, split) }); err != nil {
		return nil, err
	}
	if err := mapped.Sort(ctx); err != nil {
		return nil, err
	}
	pins, err := u.decider.newSorter()
	if err != nil {
		return nil, err
	}
	in, err := mapped.Open()
	if err != nil {
		return nil, err
	}
	var unit, split []byte
	end := func() error {
		if unit == nil {
			return nil
		}
		return pins.Add(unit, split)
	}
	err = tokensort.Each(ctx, in, func(key, value []byte) error {
		if unit != nil && string(unit) == string(key) {
			if string(split) != string(value) {
				split = append(split[:0], apart)
			}
			return nil
		}
		err := end()
		unit, split = append(unit[:0], key...), append(split[:0], value...)
		return err
	})
	if err := errors.Join(err, end()); err != nil {
		return nil, err
	}
	return pins, pins.Sort(ctx)
}

// joinRoots calls f with the unit of each row whose key begins with a group, the rest of its key, and its value.
func joinRoots(ctx context.Context, rows, roots *tokensort.Sorter, f func(unit, rest, value []byte) error) error {
	if err := rows.Sort(ctx); err != nil {
		return err
	}
	in, err := rows.Open()
	if err != nil {
		return err
	}
	right, err := roots.Open()
	if err != nil {
		return errors.Join(err, in.Close())
	}
	join := tokensort.NewJoin(in, groupPrefix, right)
	return tokensort.Each(ctx, join, func(key, value []byte) error {
		unit := key[:8]
		if root, ok := join.Right(0); ok {
			unit = root
		}
		return f(unit, key[8:], value)
	})
}

// byUnit sorts the items by their units.
func (u *units) byUnit(ctx context.Context, roots *tokensort.Sorter) (*tokensort.Sorter, error) {
	if roots.Rows() == 0 {
		return u.items, u.items.Sort(ctx)
	}
	sorted, err := u.decider.newSorter()
	if err != nil {
		return nil, err
	}
	err = joinRoots(ctx, u.items, roots, func(unit, rest, value []byte) error {
		u.key = append(append(u.key[:0], unit...), rest...)
		return sorted.Add(u.key, value)
	})
	if err := errors.Join(err, u.items.Close()); err != nil {
		return nil, err
	}
	return sorted, sorted.Sort(ctx)
}

// assign decides about all items.
func (u *units) assign(ctx context.Context, items, pins *tokensort.Sorter) error {
	in, err := items.Open()
	if err != nil {
		return err
	}
	right, err := pins.Open()
	if err != nil {
		return errors.Join(err, in.Close())
	}
	join := tokensort.NewJoin(in, groupPrefix, right)
	var it item
	return tokensort.Each(ctx, join, func(key, value []byte) error {
		if err := it.parse(value); err != nil {
			return err
		}
		unit, err := parseID(key[:8])
		if err != nil {
			return err
		}
		pin, ok := join.Right(0)
		switch {
		case !ok:
			return u.decider.assign(it, unit)
		case pin[0] == apart:
			u.decider.counts.Apart++
			return u.decider.decide(it, Decision{Outcome: PinnedApart})
		default:
			return u.decider.assignTo(it, int(pin[0]))
		}
	})
}
