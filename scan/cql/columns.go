package cql

import (
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/gocql/gocql"

	"manifest/internal/cqltype"
	"manifest/internal/schema"
	"manifest/tokenrange"
)

// projection is what a statement selects: the wanted columns, and behind them
// what only decoding needs. It is shared by all reads.
type projection struct {
	selected []schema.Selected
	schema   *arrow.Schema
	// selection, from and token are parts of the statements.
	selection, from, token string
	// expected are the names and types that every answer must have.
	expected []expectedColumn
	// presence maps a tuple column to the position, behind the wanted columns,
	// of its write time.
	presence map[int]int
	// keys are the columns of the partition key, and keyAt where they are
	// selected; empty where the key is not followed.
	keys        []schema.Column
	keyAt       []int
	partitioner tokenrange.Partitioner
	// clustering are the clustering columns, and clusteringAt where they are
	// selected. positions tells that rows can be found again by their keys.
	clustering   []schema.Column
	clusteringAt []int
	positions    bool
}

type expectedColumn struct {
	name string
	typ  gocql.Type
}

// newProjection selects columns by name, of partitions alone if distinct; with
// positions, also what it takes to go on behind any row.
func newProjection(t *schema.Table, names []string, partitioner tokenrange.Partitioner, positions, distinct bool) (*projection, error) {
	selected, err := t.Select(names)
	if err != nil {
		return nil, err
	}
	arrowSchema, err := t.Arrow(selected)
	if err != nil {
		return nil, fmt.Errorf("columns of %s: %w", t, err)
	}
	p := &projection{selected: selected, schema: arrowSchema, presence: map[int]int{}, partitioner: partitioner}
	var expressions []string
	for _, s := range selected {
		expressions = append(expressions, expression(s))
		p.expected = append(p.expected, expectedColumn{driverName(s), driverType(s.Type)})
	}
	// The driver hands out a tuple as its elements, and so makes no difference
	// between a NULL tuple and one of NULLs. The write time does.
	for i, s := range selected {
		if s.Type.Kind == cqltype.Tuple && (s.Column.Kind == schema.Static || s.Column.Kind == schema.Regular) {
			w := schema.Selected{Column: s.Column, Func: "writetime"}
			p.presence[i] = len(expressions)
			expressions = append(expressions, expression(w))
			p.expected = append(p.expected, expectedColumn{driverName(w), gocql.TypeBigInt})
		}
	}
	expressions = append(expressions, p.followKey(t, len(expressions))...)
	if len(p.keys) > 0 && !distinct {
		expressions = append(expressions, p.followClustering(t, len(expressions), positions)...)
	}
	p.selection, p.from, p.token = selectOf(distinct)+strings.Join(expressions, ","), fromTable(t), tokenOf(t)
	return p, nil
}

// followKey finds the partition key among the wanted columns, and gives what
// has to be selected beside them, from position at on.
//
// Of a table with clustering columns a key that is not wanted is selected too:
// that is how wide partitions are found. Of others each row is a partition, and
// the key is followed only where it comes by itself.
func (p *projection) followKey(t *schema.Table, at int) (expressions []string) {
	keys := t.OfKind(schema.PartitionKey)
	wide := len(t.OfKind(schema.Clustering)) > 0
	var positions []int
	for _, k := range keys {
		if k.Type.Kind == cqltype.Tuple {
			return nil // the driver hands out its elements
		}
		i := p.find(k)
		if i < 0 && !wide {
			return nil
		}
		if i < 0 {
			i = at + len(expressions)
			expressions = append(expressions, quote(k.Name))
			p.expected = append(p.expected, expectedColumn{k.Name, driverType(k.Type)})
		}
		positions = append(positions, i)
	}
	p.keys, p.keyAt = keys, positions
	return expressions
}

// driverName is the name under which the server answers a selected value.
func driverName(s schema.Selected) string {
	if s.Func != "" {
		return s.Func + "(" + s.Column.Name + ")"
	}
	return s.Column.Name
}

// check compares an answer's columns with what was planned.
func (p *projection) check(columns []gocql.ColumnInfo) error {
	if len(columns) != len(p.expected) {
		return fmt.Errorf("the answer has %d columns, not %d", len(columns), len(p.expected))
	}
	for i, want := range p.expected {
		if got := columns[i]; got.Name != want.name || got.TypeInfo.Type() != want.typ {
			return fmt.Errorf("column %d of the answer is %q %s, not %q %s", i, got.Name, got.TypeInfo.Type(), want.name, want.typ)
		}
	}
	return nil
}

// driverTypes maps kinds to the driver's; what is missing comes as a custom type.
var driverTypes = map[cqltype.Kind]gocql.Type{
	cqltype.Ascii: gocql.TypeAscii, cqltype.Bigint: gocql.TypeBigInt, cqltype.Blob: gocql.TypeBlob,
	cqltype.Boolean: gocql.TypeBoolean, cqltype.Counter: gocql.TypeCounter, cqltype.Date: gocql.TypeDate,
	cqltype.Decimal: gocql.TypeDecimal, cqltype.Double: gocql.TypeDouble, cqltype.Duration: gocql.TypeDuration,
	cqltype.Float: gocql.TypeFloat, cqltype.Inet: gocql.TypeInet, cqltype.Int: gocql.TypeInt,
	cqltype.Smallint: gocql.TypeSmallInt, cqltype.Text: gocql.TypeVarchar, cqltype.Time: gocql.TypeTime,
	cqltype.Timestamp: gocql.TypeTimestamp, cqltype.Timeuuid: gocql.TypeTimeUUID, cqltype.Tinyint: gocql.TypeTinyInt,
	cqltype.UUID: gocql.TypeUUID, cqltype.Varint: gocql.TypeVarint,
	cqltype.List: gocql.TypeList, cqltype.Set: gocql.TypeSet, cqltype.Map: gocql.TypeMap,
	cqltype.Tuple: gocql.TypeTuple, cqltype.UDT: gocql.TypeUDT, cqltype.Vector: gocql.TypeCustom,
}

func driverType(t *cqltype.Type) gocql.Type { return driverTypes[t.Kind] }
