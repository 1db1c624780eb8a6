package merge

import (
	"bytes"
	"slices"

	"manifest/internal/sstable/data"
	"manifest/internal/sstable/primitive"
	"manifest/tokenrange"
)

// Source gives the partitions of one SSTable, or some of them, in order.
type Source interface {
	// NextPartition moves the cursor to the head of the next partition. It
	// returns false where there is none.
	NextPartition() (bool, error)
	// Cursor is what it moves.
	Cursor() *data.Cursor
	// Below tells up to where the cursor may read on by itself, behind the last
	// partition: as long as tokens are below it. It is false if that can't be told.
	Below() (t tokenrange.Token, ok bool)
}

// Options say what to make of the sources.
type Options struct {
	// Static and Regular are the table's columns, which cells name by their places.
	Static, Regular []Column
	// Comparators order clustering keys.
	Comparators data.Comparators
	// Now is the moment of the read, in seconds since 1970.
	Now int64
	// Strict makes only rows with a live liveness visible: of views.
	Strict bool
}

// source is a source with what the merger knows of it.
type source struct {
	Source
	cursor *data.Cursor
	row    data.Row
	// kind and position are of the row or marker in front.
	kind     data.Kind
	position data.Position
	// open is the range tombstone that is open where the merge is.
	open primitive.DeletionTime
}

// Merger gives the visible rows of some sources, for one goroutine:
//
//	for NextPartition {
//		for Next { ... }
//	}
//
// What it hands out is valid until the next call.
type Merger struct {
	opts Options

	partitions queue // by token and key: sources in front of a partition
	group      []*source
	begun      bool

	deletion primitive.DeletionTime // of the partition, over all sources
	active   primitive.DeletionTime // of the partition or the open range tombstone

	heads   queue     // by position: sources of the group in front of a row or marker
	current []*source // those at the row that Next gave last

	run  data.Run
	runs bool // there may be some

	static, regular *rows
	versions        []*data.Row
	staticCells     []data.Cell
	staticBytes     []byte
	staticLive      bool

	visible    bool // a row of the partition was given
	onlyStatic bool
	nulls      [][]byte
}

// New returns a merger in front of the first partition.
func New(sources []Source, opts Options) *Merger {
	m := &Merger{
		opts:    opts,
		static:  newRows(opts.Static, opts.Now, false),
		regular: newRows(opts.Regular, opts.Now, opts.Strict),
		nulls:   make([][]byte, len(opts.Comparators)),
		// The values of counters are sums that are to be made.
		runs: len(opts.Static) == 0 && !slices.ContainsFunc(opts.Regular, func(c Column) bool { return c.Wanted && c.Counter }),
	}
	m.partitions.compare = func(a, b *source) int {
		if c := a.cursor.Token().Compare(b.cursor.Token()); c != 0 {
			return c
		}
		return bytes.Compare(a.cursor.Key(), b.cursor.Key())
	}
	m.heads.compare = func(a, b *source) int { return opts.Comparators.Compare(a.position, b.position) }
	for _, s := range sources {
		m.group = append(m.group, &source{Source: s, cursor: s.Cursor()})
	}
	return m
}

// NextPartition moves to the next partition, visible or not. It returns false
// behind the last.
func (m *Merger) NextPartition() (bool, error) {
	ok, err := m.nextGroup()
	if !ok || err != nil {
		return false, err
	}
	m.begun, m.visible, m.onlyStatic = false, false, false
	m.current, m.heads.items = m.current[:0], m.heads.items[:0]
	m.deletion = primitive.Live
	for _, s := range m.group {
		s.open = primitive.Live
		if d := s.cursor.PartitionDeletion(); d.Supersedes(m.deletion) {
			m.deletion = d
		}
	}
	m.active = m.deletion
	return true, m.mergeStatic()
}

// nextGroup moves on the sources that were at the partition, and gathers those
// that are at the next one.
func (m *Merger) nextGroup() (bool, error) {
	last := m.group
	m.group = m.group[:0]
	for _, s := range last {
		ok, err := s.NextPartition()
		if err != nil {
			return false, err
		}
		if !ok {
			continue
		}
		if len(last) == 1 && (len(m.partitions.items) == 0 || m.partitions.compare(s, m.partitions.items[0]) < 0) {
			m.group = append(m.group, s)
			return true, nil
		}
		m.partitions.push(s)
	}
	if len(m.partitions.items) == 0 {
		return false, nil
	}
	m.group = m.partitions.popEqual(m.group)
	return true, nil
}

// Key is the partition's serialized key.
func (m *Merger) Key() []byte { return m.group[0].cursor.Key() }

// Token is the partition's.
func (m *Merger) Token() tokenrange.Token { return m.group[0].cursor.Token() }

// Static are the live cells of wanted static columns. They are valid for the
// whole partition.
func (m *Merger) Static() []data.Cell { return m.staticCells }

// Clustering is the row's clustering key; all null in the one row of a partition
// of which only static columns are left.
func (m *Merger) Clustering() [][]byte {
	if m.onlyStatic {
		return m.nulls
	}
	best := m.current[0].position.Values
	for _, s := range m.current[1:] {
		// Equal values may differ in their bytes, as 1.0 and 1.00 do.
		if slices.CompareFunc(s.position.Values, best, bytes.Compare) < 0 {
			best = s.position.Values
		}
	}
	return best
}

// Cells are the row's live cells of wanted columns, those of a column together
// and in the order of their paths.
func (m *Merger) Cells() []data.Cell {
	if m.onlyStatic {
		return nil
	}
	return m.regular.result
}

// Fault says where the merge is, for an error that its user found in a row.
func (m *Merger) Fault(err error) error { return m.group[0].cursor.Fault(err) }

// mergeStatic merges the static rows and keeps what is visible of them.
func (m *Merger) mergeStatic() error {
	m.staticCells, m.staticLive = m.staticCells[:0], false
	if len(m.opts.Static) == 0 {
		return nil
	}
	m.versions = m.versions[:0]
	for _, s := range m.group {
		if s.cursor.HasStatic() {
			if err := s.cursor.Static(&s.row); err != nil {
				return err
			}
			m.versions = append(m.versions, &s.row)
		}
	}
	if len(m.versions) == 0 {
		return nil
	}
	live, err := m.static.merge(m.versions, m.deletion)
	if err != nil {
		return m.Fault(err)
	}
	m.staticLive = live
	m.staticBytes = m.staticBytes[:0]
	for _, c := range m.static.result {
		c.Path, c.Value = m.copyOf(c.Path), m.copyOf(c.Value)
		m.staticCells = append(m.staticCells, c)
	}
	return nil
}

func (m *Merger) copyOf(b []byte) []byte {
	if len(b) == 0 {
		return b[:0:0] // nil stays nil, and empty is not nil
	}
	at := len(m.staticBytes)
	m.staticBytes = append(m.staticBytes, b...)
	return m.staticBytes[at:len(m.staticBytes):len(m.staticBytes)]
}

// Next moves to the partition's next visible row. It returns false behind the
// last.
func (m *Merger) Next() (bool, error) {
	if m.onlyStatic {
		return false, nil
	}
	var ok bool
	var err error
	if len(m.group) == 1 {
		ok, err = m.nextOfOne()
	} else {
		ok, err = m.nextMerged()
	}
	if ok || err != nil {
		m.visible = true
		return ok, err
	}
	m.onlyStatic = m.staticLive && !m.visible
	return m.onlyStatic, nil
}

// nextOfOne serves partitions that only one source has.
func (m *Merger) nextOfOne() (bool, error) {
	s := m.group[0]
	for {
		kind, err := s.cursor.Next()
		if err != nil {
			return false, err
		}
		switch kind {
		case data.End:
			return false, nil
		case data.Marker:
			m.follow(s.cursor.Open())
			continue
		}
		ok, err := m.rowOfOne(s)
		if err != nil {
			return false, err
		}
		if ok {
			s.position = s.cursor.Position()
			m.current = append(m.current[:0], s)
			return true, nil
		}
	}
}

// rowOfOne reads a row that only one source has.
func (m *Merger) rowOfOne(s *source) (visible bool, err error) {
	if m.active.IsLive() && s.cursor.CanPlain() {
		if err := s.cursor.Plain(&s.row); err != nil {
			return false, err
		}
		if _, err := m.regular.one(&s.row, primitive.Live); err != nil {
			return false, s.cursor.Fault(err)
		}
		return true, nil
	}
	if err := s.cursor.Row(&s.row); err != nil {
		return false, err
	}
	m.versions = append(m.versions[:0], &s.row)
	if visible, err = m.regular.merge(m.versions, m.active); err != nil {
		return false, s.cursor.Fault(err)
	}
	return visible, nil
}

// follow notes the range tombstone that is open now.
func (m *Merger) follow(open primitive.DeletionTime) {
	m.active = m.deletion
	if open.Supersedes(m.active) {
		m.active = open
	}
}

// nextMerged serves partitions that several sources have.
func (m *Merger) nextMerged() (bool, error) {
	if !m.begun {
		m.begun = true
		m.current = append(m.current[:0], m.group...)
	}
	for {
		for _, s := range m.current {
			if err := m.advance(s); err != nil {
				return false, err
			}
		}
		m.current = m.current[:0]
		if len(m.heads.items) == 0 {
			return false, nil
		}
		m.current = m.heads.popEqual(m.current)
		if m.current[0].kind == data.Marker {
			m.followAll()
			continue
		}
		ok, err := m.mergeRow()
		if ok || err != nil {
			return ok, err
		}
	}
}

// advance reads the head of a source's next row or marker.
func (m *Merger) advance(s *source) error {
	kind, err := s.cursor.Next()
	if err != nil {
		return err
	}
	if s.kind = kind; kind != data.End {
		s.position = s.cursor.Position()
		m.heads.push(s)
	}
	return nil
}

// followAll passes the markers in front, and notes the latest of the range
// tombstones that are open behind them in any source.
func (m *Merger) followAll() {
	for _, s := range m.current {
		s.open = s.cursor.Open()
	}
	open := primitive.Live
	for _, s := range m.group {
		if s.open.Supersedes(open) {
			open = s.open
		}
	}
	m.follow(open)
}

// mergeRow reads and merges the rows in front.
func (m *Merger) mergeRow() (visible bool, err error) {
	if len(m.current) == 1 {
		return m.rowOfOne(m.current[0])
	}
	m.versions = m.versions[:0]
	for _, s := range m.current {
		if err := s.cursor.Row(&s.row); err != nil {
			return false, err
		}
		m.versions = append(m.versions, &s.row)
	}
	if visible, err = m.regular.merge(m.versions, m.active); err != nil {
		return false, m.current[0].cursor.Fault(err)
	}
	return visible, nil
}
