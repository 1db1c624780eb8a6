package queries

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"manifest/queries/internal/accumulate"
	"manifest/queries/internal/groups"
	"manifest/queries/internal/vector"
)

// combiner brings the states of a group together.
type combiner struct {
	query  *Query
	states []accumulate.States // one group each, of the groupings that occurred
	buffer []byte
}

// grouping returns the grouping of a key, and its states without a group.
func (c *combiner) grouping(key []byte) (*grouping, accumulate.States, error) {
	g, mark, err := c.query.groupingOf(key)
	if err != nil {
		return nil, nil, err
	}
	if c.states == nil {
		c.states = make([]accumulate.States, len(c.query.groupings))
	}
	if c.states[mark] == nil {
		if c.states[mark], err = accumulate.NewStates(g.states); err != nil {
			return nil, nil, err
		}
	}
	c.states[mark].Reset()
	return g, c.states[mark], nil
}

// combine is a partial.Combine.
func (c *combiner) combine(key []byte, states [][]byte) ([]byte, error) {
	_, sum, err := c.grouping(key)
	if err != nil {
		return nil, err
	}
	sum.Grow(1)
	for _, state := range states {
		if err := sum.Merge(0, state); err != nil {
			return nil, c.query.stateError(key, err)
		}
	}
	c.buffer = sum.AppendState(c.buffer[:0], 0, false)
	return c.buffer, nil
}

// groupingOf returns the grouping that a key is of, and its index.
func (q *Query) groupingOf(key []byte) (*grouping, int, error) {
	var day []vector.Kind
	if q.byDay {
		day = []vector.Kind{vector.Date}
	}
	mark, err := groups.MarkOf(key, day)
	if err != nil || int(mark) >= len(q.groupings) {
		return nil, 0, fmt.Errorf("%w: key %x", ErrCorrupt, key)
	}
	return &q.groupings[mark], int(mark), nil
}

// stateError says what an error of merging the states of a key means.
func (q *Query) stateError(key []byte, err error) error {
	switch {
	case errors.Is(err, accumulate.ErrFinal):
		return fmt.Errorf("group %s: %w", q.groupName(key), ErrDivided)
	case errors.Is(err, accumulate.ErrCorrupt):
		return fmt.Errorf("%w: state of group %s: %w", ErrCorrupt, q.groupName(key), err)
	}
	return fmt.Errorf("group %s: %w", q.groupName(key), err)
}

// groupName names a group for people: device_id=cam-1, day=2025-06-01.
func (q *Query) groupName(key []byte) string {
	g, _, err := q.groupingOf(key)
	if err != nil {
		return fmt.Sprintf("%x", key)
	}
	values := make([]vector.Value, len(g.keys))
	if err := g.shape.Decode(key, values); err != nil {
		return fmt.Sprintf("%x", key)
	}
	if len(values) == 0 {
		return "of all rows"
	}
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = g.names[i] + "=" + valueText(g.shape.Kinds[i], v)
	}
	return strings.Join(parts, ", ")
}

// valueText writes a value for people.
func valueText(kind vector.Kind, v vector.Value) string {
	switch {
	case v.Null:
		return "NULL"
	case kind == vector.Date:
		return time.Unix(v.Int*86400, 0).UTC().Format(time.DateOnly)
	case kind == vector.Timestamp:
		return time.UnixMilli(v.Int).UTC().Format(time.RFC3339Nano)
	case kind == vector.Boolean:
		return strconv.FormatBool(v.Int != 0)
	case kind == vector.Blob:
		return fmt.Sprintf("0x%x", v.Bytes)
	case kind.Physical() == vector.Ints:
		return strconv.FormatInt(v.Int, 10)
	case kind.Physical() == vector.Floats:
		return strconv.FormatFloat(v.Float, 'g', -1, 64)
	}
	text, err := appendText(nil, kind, v.Bytes)
	if err != nil {
		return fmt.Sprintf("0x%x", v.Bytes)
	}
	return string(text)
}
