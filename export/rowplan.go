package export

import "manifest/export/internal/parquetfile"

// The plan of the files of a dataset: which rows of which row groups of which
// parts make which row group of which file. It is made from counts alone, so it
// is the same however the parts came to be.

// groupRef is a row group of a part.
type groupRef struct {
	part, group int
	parquetfile.RowGroupInfo
}

// rowRun is the rows [from, to) of a row group of a part.
type rowRun struct {
	groupRef
	from, to int64
}

func (r rowRun) rows() int64 { return r.to - r.from }
func (r rowRun) whole() bool { return r.rows() == r.Rows }

// bytes estimates the encoded bytes of the run.
func (r rowRun) bytes() int64 {
	if r.whole() {
		return r.Bytes
	}
	return int64(float64(r.Bytes) * float64(r.rows()) / float64(r.Rows))
}

const (
	// smallGroup is the share of a full row group below which a group is packed
	// together with small neighbours: readers pay for each group.
	smallGroup = 8

	// packRuns bounds the parts that are open at a time to make a row group.
	packRuns = 256
)

// planFiles cuts row groups into files. shards is the wanted number of files; 0
// stands for files of about shardBytes. There is no file without rows.
func planFiles(groups []groupRef, shards int, shardBytes int64, limits parquetfile.Options) [][][]rowRun {
	var rows, compressed int64
	var ends []int64 // rows up to the end of each group
	for _, g := range groups {
		rows += g.Rows
		compressed += g.Compressed
		ends = append(ends, rows)
	}
	bounds := fileBounds(rows, fileCount(rows, compressed, shards, shardBytes), ends)
	var files [][][]rowRun
	next, skip := 0, int64(0) // the row group at hand, and its rows that are used up
	for i := range len(bounds) - 1 {
		var runs []rowRun
		for left := bounds[i+1] - bounds[i]; left > 0; {
			g := groups[next]
			take := min(left, g.Rows-skip)
			if take > 0 {
				runs = append(runs, rowRun{g, skip, skip + take})
			}
			left -= take
			skip += take
			if skip == g.Rows {
				next, skip = next+1, 0
			}
		}
		files = append(files, packRowGroups(runs, limits))
	}
	return files
}

// fileCount is the number of files for so many rows and bytes: at least one,
// at most one for each row.
func fileCount(rows, bytes int64, shards int, shardBytes int64) int64 {
	n := int64(shards)
	if n == 0 {
		n = (bytes + shardBytes/2) / shardBytes
	}
	return max(min(n, rows), 1)
}

// fileBounds gives the rows at which files begin and end: equal shares, moved to
// the end of a row group where one is near, so that it can be copied whole.
func fileBounds(rows, files int64, groupEnds []int64) []int64 {
	bounds := []int64{0}
	share := rows / files
	next := 0
	for i := int64(1); i < files; i++ {
		at := i*share + i*(rows%files)/files
		for next < len(groupEnds) && groupEnds[next] < at {
			next++
		}
		best := at
		for _, k := range []int{next - 1, next} {
			if k >= 0 && k < len(groupEnds) && distance(groupEnds[k], at) <= share/4 &&
				(best == at || distance(groupEnds[k], at) < distance(best, at)) {
				best = groupEnds[k]
			}
		}
		bounds = append(bounds, best)
	}
	return append(bounds, rows)
}

func distance(a, b int64) int64 { return max(a-b, b-a) }

// packRowGroups makes the row groups of one file. A whole row group stays as it
// is, unless it and its neighbours are small: those are packed into one. Pieces
// of row groups count as small, as they have to be encoded again anyway.
func packRowGroups(runs []rowRun, limits parquetfile.Options) [][]rowRun {
	var groups [][]rowRun
	var pack []rowRun
	var rows, bytes int64
	end := func() {
		if len(pack) > 0 {
			groups = append(groups, pack)
		}
		pack, rows, bytes = nil, 0, 0
	}
	for _, r := range runs {
		small := r.Rows < int64(limits.RowGroupRows)/smallGroup && r.Bytes < limits.RowGroupBytes/smallGroup
		if r.whole() && !small {
			end()
			groups = append(groups, []rowRun{r})
			continue
		}
		if rows+r.rows() > int64(limits.RowGroupRows) || bytes+r.bytes() > limits.RowGroupBytes || len(pack) == packRuns {
			end()
		}
		pack = append(pack, r)
		rows += r.rows()
		bytes += r.bytes()
	}
	end()
	return groups
}
