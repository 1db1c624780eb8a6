package cql

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/gocql/gocql"

	"manifest/internal/cassandra"
	"manifest/internal/schema"
	"manifest/scan"
	"manifest/tokenrange"
)

// A read goes from page to page by the server's paging states, which any
// replica takes. Where that comes to an end within a wide partition, because a
// state is refused or a page fails even at a single row, the read goes on behind
// the last row by its key, and what was read of the partition still counts:
//
//	token > start AND token <= end                             pages, up to the row (k; a, b)
//	k = ? AND c1 = a AND c2 > b                                the rest with the same c1
//	k = ? AND c1 > a                                           the rest of the partition
//	token > token(k) AND token <= end                          the rest of the range
//
// A column in descending order has < in place of >, so that any mixture of
// orders goes on where it was.

// position is where a row lies: copies of the serialized values of its key.
type position struct {
	partition, clustering [][]byte
}

// serialized is a value that is bound as it is.
type serialized []byte

// MarshalCQL gives the bytes.
func (s serialized) MarshalCQL(gocql.TypeInfo) ([]byte, error) { return s, nil }

// stage is a part of a read: a condition whose rows are read page by page.
type stage struct {
	where string
	args  []any
	// within tells that it is a part of one partition.
	within bool
}

// rangeStage reads the rows of a token range.
func (p *projection) rangeStage(r tokenrange.Range) stage {
	return stage{where: p.token + " > ? AND " + p.token + " <= ?", args: []any{bound(r.Start), bound(r.End)}}
}

// after gives what is left behind a position of the tokens up to end. ok is
// false where the key does not say.
func (p *projection) after(at position, end tokenrange.Token) (stages []stage, ok bool) {
	var partition []any
	var same []string
	for i, c := range p.keys {
		same = append(same, quote(c.Name)+" = ?")
		partition = append(partition, serialized(at.partition[i]))
	}
	nulls := 0
	for _, v := range at.clustering {
		if v == nil {
			nulls++
		}
	}
	switch {
	case nulls == len(at.clustering): // no clustering column, or only static columns: the partition has no other row
	case nulls > 0:
		return nil, false // of a table of old, with COMPACT STORAGE
	default:
		stages = p.afterRow(same, partition, at.clustering)
	}
	args := append(slices.Clone(partition), bound(end))
	marks := strings.TrimSuffix(strings.Repeat("?,", len(p.keys)), ",")
	return append(stages, stage{where: p.token + " > token(" + marks + ") AND " + p.token + " <= ?", args: args}), true
}

// afterRow gives what is left of a partition behind a row: first what shares
// the most of its clustering key.
func (p *projection) afterRow(same []string, partition []any, clustering [][]byte) []stage {
	var stages []stage
	for last := len(clustering) - 1; last >= 0; last-- {
		conditions, args := slices.Clone(same), slices.Clone(partition)
		for i, c := range p.clustering[:last+1] {
			operator := " = ?"
			if i == last && c.Descending {
				operator = " < ?"
			} else if i == last {
				operator = " > ?"
			}
			conditions = append(conditions, quote(c.Name)+operator)
			args = append(args, serialized(clustering[i]))
		}
		stages = append(stages, stage{where: strings.Join(conditions, " AND "), args: args, within: true})
	}
	return stages
}

// errPagingState means that a server does not take a paging state.
var errPagingState = errors.New("paging state refused")

// refused tells whether an error is about the paging state.
func refused(err error) bool {
	request, ok := errors.AsType[gocql.RequestError](err)
	return ok && request.Code() == gocql.ErrCodeProtocol && strings.Contains(strings.ToLower(request.Message()), "paging state")
}

// mostResumes bounds how often one read goes on by key. A partition that takes
// more is one to read in some quieter hour.
const mostResumes = 100

// resume makes the read go on behind the last row, if that may help after err.
func (r *read) resume(ctx context.Context, err error) bool {
	class := scan.ClassOf(err)
	wide := r.rows.partitions != nil && r.rows.partitions.rows >= int64(r.source.opts.PageSize)
	if !errors.Is(err, errPagingState) && (!wide || class != scan.Timeout && class != scan.ReadFailure) {
		return false
	}
	at, known := r.rows.position()
	if !known {
		r.source.wide.Store(true) // the next attempt will know
		return false
	}
	if !r.moved || r.resumes == mostResumes || ctx.Err() != nil {
		return false
	}
	stages, ok := r.projection.after(at, r.split.Range.End)
	if !ok || !r.alone(ctx, at) {
		return false
	}
	r.resumes++
	r.stages, r.moved, r.cause = stages, false, err
	r.source.opts.Logger.Info("read goes on by key", "range", r.split.Range.String(), "node", r.node(), "class", class.String(),
		"partition", r.rows.partitions.last(), "rows", r.rows.partitions.rows, "err", err)
	return true
}

// alone tells that no other partition has the token of the one at hand: going
// on behind the token would leave it out.
func (r *read) alone(ctx context.Context, at position) bool {
	var names []string
	var args []any
	for i, c := range r.projection.keys {
		names = append(names, quote(c.Name))
		args = append(args, serialized(at.partition[i]))
	}
	marks := "token(" + strings.TrimSuffix(strings.Repeat("?,", len(names)), ",") + ")"
	statement := "SELECT DISTINCT " + strings.Join(names, ",") + r.projection.from + r.projection.token + " >= " + marks + " AND " + r.projection.token + " <= " + marks
	if node := r.node(); node != "" {
		ctx = cassandra.WithNodes(ctx, node)
	}
	iter, err := r.source.nodes.Select(ctx, statement, cassandra.Page{Size: 100}, append(args, args...)...)
	if err != nil {
		return false
	}
	partitions, more := iter.NumRows(), len(iter.PageState()) > 0
	return iter.Close() == nil && partitions <= 1 && !more
}

// position is that of the last row that was read; known is false where there
// was none, or its key is not read.
func (r *rows) position() (at position, known bool) {
	if !r.projection.positions || !r.partitions.begun {
		return position{}, false
	}
	return position{partition: r.partitions.current, clustering: r.last}, true
}

// keep copies the clustering key of the row at hand.
func (r *rows) keep() {
	for i, v := range r.clustering {
		if v.value == nil {
			r.last[i] = nil
			continue
		}
		r.last[i] = append(make([]byte, 0, len(v.value)), v.value...)
	}
}

// followClustering finds the clustering columns among those selected, or, if
// they are to be selected for their own sake, gives what to add from position
// at on.
func (p *projection) followClustering(t *schema.Table, at int, anyway bool) (expressions []string) {
	columns := t.OfKind(schema.Clustering)
	var found []int
	for _, c := range columns {
		i := p.find(c)
		if driverType(c.Type) == gocql.TypeTuple || i < 0 && !anyway {
			return nil
		}
		if i < 0 {
			i = at + len(expressions)
			expressions = append(expressions, quote(c.Name))
			p.expected = append(p.expected, expectedColumn{c.Name, driverType(c.Type)})
		}
		found = append(found, i)
	}
	p.clustering, p.clusteringAt, p.positions = columns, found, true
	return expressions
}

// find gives the place of a column among the wanted ones; -1 if it is not.
func (p *projection) find(c schema.Column) int {
	return slices.IndexFunc(p.selected, func(s schema.Selected) bool { return s.Name == c.Name && s.Func == "" })
}
