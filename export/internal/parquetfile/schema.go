package parquetfile

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// Keys of Arrow field metadata that this package reads.
const (
	// FieldIDKey sets the field id of a column; else it is the column's place, from 1.
	FieldIDKey = "PARQUET:field_id"
	// ExtensionKey with the value ExtensionUUID marks 16 bytes as a UUID, as Arrow
	// defines its canonical extension types.
	ExtensionKey  = "ARROW:extension:name"
	ExtensionUUID = "arrow.uuid"
)

// nestedIDs is the number of field ids kept for the inside of each column:
// inner nodes of column n are n*nestedIDs+1 and so on, in depth-first order, so
// that a column added at the end changes no id of another.
const nestedIDs = 10_000

// op says how a step of a leaf's path goes from an array to the next.
type op uint8

const (
	opLeaf   op = iota // the array holds the values
	opStruct           // to the child array, same index
	opList             // to the elements
	opMap              // to the keys (child 0) or values (child 1)
	opFixed            // to the elements of a list of fixed size
)

// step is one node of the path from a column to a leaf.
type step struct {
	op       op
	optional bool // a null here ends the path, with one definition level less
	child    int  // opStruct, opMap: which child
	size     int  // opFixed
}

// leaf is one Parquet column.
type leaf struct {
	column int // the Arrow column that it comes from
	index  int // its place in the file
	path   []string
	steps  []step
	typ    arrow.DataType
	maxRep byte
	maxDef byte

	parquet  parquet.Type
	physical format.Type

	dictionary bool
	noBounds   bool
}

// name is the dotted path of the leaf.
func (l *leaf) name() string { return strings.Join(l.path, ".") }

// layout is a schema made ready for writing.
type layout struct {
	arrow  *arrow.Schema
	schema *parquet.Schema
	leaves []*leaf
}

// newLayout maps an Arrow schema to a Parquet schema. All columns that can't be
// mapped are reported at once.
func newLayout(schema *arrow.Schema, opts Options) (*layout, error) {
	l := &layout{arrow: schema}
	root := &group{}
	var errs []error
	if schema.NumFields() == 0 {
		errs = append(errs, fmt.Errorf("a table without columns: %w", ErrSchema))
	}
	seen := make(map[string]bool)
	for i, f := range schema.Fields() {
		if seen[f.Name] {
			errs = append(errs, fmt.Errorf("column %q is there twice: %w", f.Name, ErrSchema))
			continue
		}
		seen[f.Name] = true
		b := builder{layout: l, column: i, opts: opts, nextID: (i+1)*nestedIDs + 1}
		id := i + 1
		if text, ok := f.Metadata.GetValue(FieldIDKey); ok {
			n, err := strconv.Atoi(text)
			if err != nil {
				errs = append(errs, fmt.Errorf("field id of column %q: %w", f.Name, err))
				continue
			}
			id, b.nextID = n, n*nestedIDs+1
		}
		node, err := b.node(f, []string{f.Name}, nil)
		if err != nil {
			errs = append(errs, fmt.Errorf("map column %q of type %s to Parquet: %w", f.Name, f.Type, err))
			continue
		}
		root.fields = append(root.fields, &groupField{parquet.FieldID(node, id), f.Name})
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	l.schema = parquet.NewSchema("schema", root)
	return l, nil
}

// describe gives the description of a file with this schema and no row groups, as
// parquet-go writes it.
func (l *layout) describe() (*footer, error) {
	var file bytes.Buffer
	if err := parquet.NewGenericWriter[any](&file, l.schema).Close(); err != nil {
		return nil, fmt.Errorf("describe schema: %w", err)
	}
	return readFooter(bytes.NewReader(file.Bytes()), int64(file.Len()))
}

// builder makes the node of one column and adds its leaves to the layout.
type builder struct {
	layout *layout
	column int
	opts   Options
	nextID int
}

// withID numbers a node inside of a column.
func (b *builder) withID(make func() (parquet.Node, error)) (parquet.Node, error) {
	id := b.nextID
	b.nextID++
	if id%nestedIDs == 0 {
		return nil, fmt.Errorf("more than %d nested fields: %w", nestedIDs-1, ErrSchema)
	}
	node, err := make()
	if err != nil {
		return nil, err
	}
	return parquet.FieldID(node, id), nil
}

// node makes the Parquet node of a field. steps lead from the column to the
// array of the field; path is that of the Parquet node.
func (b *builder) node(f arrow.Field, path []string, steps []step) (parquet.Node, error) {
	node, err := b.required(f, path, steps)
	if err != nil {
		return nil, err
	}
	if f.Nullable {
		return parquet.Optional(node), nil
	}
	return node, nil
}

func (b *builder) required(f arrow.Field, path []string, steps []step) (parquet.Node, error) {
	switch t := f.Type.(type) {
	case *arrow.StructType:
		if t.NumFields() == 0 {
			return nil, fmt.Errorf("a struct without fields: %w", ErrSchema)
		}
		g := &group{}
		for i, child := range t.Fields() {
			next := extend(steps, step{op: opStruct, optional: f.Nullable, child: i})
			node, err := b.withID(func() (parquet.Node, error) {
				return b.node(child, extend(path, child.Name), next)
			})
			if err != nil {
				return nil, err
			}
			g.fields = append(g.fields, &groupField{node, child.Name})
		}
		return g, nil
	case *arrow.ListType:
		return b.list(t.ElemField(), path, extend(steps, step{op: opList, optional: f.Nullable}))
	case *arrow.FixedSizeListType:
		return b.list(t.ElemField(), path, extend(steps, step{op: opFixed, optional: f.Nullable, size: int(t.Len())}))
	case *arrow.MapType:
		keyField := t.KeyField()
		keyField.Nullable = false
		key, err := b.withID(func() (parquet.Node, error) {
			return b.node(keyField, extend(path, "key_value", "key"), extend(steps, step{op: opMap, optional: f.Nullable, child: 0}))
		})
		if err != nil {
			return nil, err
		}
		valueField := t.ItemField()
		value, err := b.withID(func() (parquet.Node, error) {
			return b.node(valueField, extend(path, "key_value", "value"), extend(steps, step{op: opMap, optional: f.Nullable, child: 1}))
		})
		if err != nil {
			return nil, err
		}
		return parquet.Map(key, value), nil
	default:
		return b.leaf(f, path, extend(steps, step{op: opLeaf, optional: f.Nullable}))
	}
}

func (b *builder) list(elem arrow.Field, path []string, steps []step) (parquet.Node, error) {
	node, err := b.withID(func() (parquet.Node, error) {
		return b.node(elem, extend(path, "list", "element"), steps)
	})
	if err != nil {
		return nil, err
	}
	return parquet.List(node), nil
}

func (b *builder) leaf(f arrow.Field, path []string, steps []step) (parquet.Node, error) {
	node, err := leafNode(f)
	if err != nil {
		return nil, err
	}
	l := &leaf{column: b.column, index: len(b.layout.leaves), path: path, steps: steps, typ: f.Type, parquet: node.Type(), physical: format.Type(node.Type().Kind())}
	for _, s := range steps {
		if s.optional {
			l.maxDef++
		}
		if s.op == opList || s.op == opMap || s.op == opFixed {
			l.maxDef++
			l.maxRep++
		}
	}
	l.dictionary = b.dictionary(l)
	l.noBounds = f.Type.ID() == arrow.BINARY ||
		slices.Contains(b.opts.NoBounds, l.name()) || slices.Contains(b.opts.NoBounds, path[0])
	b.layout.leaves = append(b.layout.leaves, l)
	return node, nil
}

// dictionary says whether a leaf is dictionary encoded.
func (b *builder) dictionary(l *leaf) bool {
	if l.physical == format.Boolean {
		return false // it could not be smaller
	}
	if on, ok := b.opts.Dictionary[l.name()]; ok {
		return on
	}
	if on, ok := b.opts.Dictionary[l.path[0]]; ok {
		return on
	}
	return DictionaryByDefault(b.layout.arrow.Field(b.column), l.typ)
}

// DictionaryByDefault is the rule for columns without a setting: text is
// dictionary encoded unless the column's name says that values are all
// different: a last word key, hash, uri, url or path, or a column whose CQL type
// is uuid, timeuuid, decimal or varint. Other types are not. Text that turns out
// to have many values leaves the dictionary at its first page past 256 KiB.
func DictionaryByDefault(column arrow.Field, leafType arrow.DataType) bool {
	if leafType.ID() != arrow.STRING {
		return false
	}
	cql, _ := column.Metadata.GetValue("cql")
	switch cql {
	case "uuid", "timeuuid", "decimal", "varint":
		return false
	}
	switch LastWord(column.Name) {
	case "key", "hash", "uri", "url", "path":
		return false
	}
	return true
}

// LastWord gives the last word of a column's name, in lower case.
func LastWord(name string) string {
	if i := strings.LastIndexAny(name, "_.- "); i >= 0 {
		name = name[i+1:]
	}
	return strings.ToLower(name)
}

// leafNode gives the Parquet type of an Arrow type without children.
func leafNode(f arrow.Field) (parquet.Node, error) {
	switch t := f.Type.(type) {
	case *arrow.StringType:
		return parquet.String(), nil
	case *arrow.BinaryType:
		return parquet.Leaf(parquet.ByteArrayType), nil
	case *arrow.BooleanType:
		return parquet.Leaf(parquet.BooleanType), nil
	case *arrow.Int8Type:
		return parquet.Int(8), nil
	case *arrow.Int16Type:
		return parquet.Int(16), nil
	case *arrow.Int32Type:
		return parquet.Leaf(parquet.Int32Type), nil
	case *arrow.Int64Type:
		return parquet.Leaf(parquet.Int64Type), nil
	case *arrow.Float32Type:
		return parquet.Leaf(parquet.FloatType), nil
	case *arrow.Float64Type:
		return parquet.Leaf(parquet.DoubleType), nil
	case *arrow.Date32Type:
		return parquet.Date(), nil
	case *arrow.Time64Type:
		// A time of day of no zone: readers would take the other flag for a zone.
		switch t.Unit {
		case arrow.Microsecond:
			return parquet.TimeAdjusted(parquet.Microsecond, false), nil
		case arrow.Nanosecond:
			return parquet.TimeAdjusted(parquet.Nanosecond, false), nil
		}
	case *arrow.TimestampType:
		utc := t.TimeZone != ""
		if utc && t.TimeZone != "UTC" {
			return nil, fmt.Errorf("time zone %q is not UTC: %w", t.TimeZone, ErrSchema)
		}
		switch t.Unit {
		case arrow.Millisecond:
			return parquet.TimestampAdjusted(parquet.Millisecond, utc), nil
		case arrow.Microsecond:
			return parquet.TimestampAdjusted(parquet.Microsecond, utc), nil
		}
	case *arrow.FixedSizeBinaryType:
		if t.ByteWidth <= 0 {
			break
		}
		if name, _ := f.Metadata.GetValue(ExtensionKey); name == ExtensionUUID && t.ByteWidth == 16 {
			return parquet.UUID(), nil
		}
		return parquet.Leaf(parquet.FixedLenByteArrayType(t.ByteWidth)), nil
	}
	return nil, fmt.Errorf("type %s has no place in Parquet here: %w", f.Type, ErrSchema)
}

// extend appends to a copy, so that sibling paths never share memory.
func extend[T any](s []T, more ...T) []T {
	return append(slices.Clip(slices.Clone(s)), more...)
}
