package merge

import "manifest/internal/sstable/data"

// Run reads on behind a partition whose rows have all been read: the partitions
// that follow, as long as each is in no other source and has one plain row, up to
// so many rows and bytes. There may be none. The run is valid until the next call.
func (m *Merger) Run(rows, bytes int) *data.Run {
	m.run.Keys = m.run.Keys[:0]
	if !m.runs || len(m.group) != 1 {
		return &m.run
	}
	below, ok := m.group[0].Below()
	if !ok {
		return &m.run
	}
	if len(m.partitions.items) > 0 {
		if t := m.partitions.items[0].cursor.Token(); t.Less(below) {
			below = t
		}
	}
	m.group[0].cursor.ReadRun(&m.run, below, rows, bytes)
	return &m.run
}
