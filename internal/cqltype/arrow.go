package cqltype

import (
	"fmt"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
)

// MetadataKey is the key of the Arrow field metadata that holds the CQL type's text.
const MetadataKey = "cql"

var (
	uuidType     = &arrow.FixedSizeBinaryType{ByteWidth: 16}
	durationType = arrow.StructOf(
		arrow.Field{Name: "months", Type: arrow.PrimitiveTypes.Int32},
		arrow.Field{Name: "days", Type: arrow.PrimitiveTypes.Int32},
		arrow.Field{Name: "nanoseconds", Type: arrow.PrimitiveTypes.Int64},
	)
)

var nativeArrow = [...]arrow.DataType{
	Ascii: arrow.BinaryTypes.String, Bigint: arrow.PrimitiveTypes.Int64, Blob: arrow.BinaryTypes.Binary,
	Boolean: arrow.FixedWidthTypes.Boolean, Counter: arrow.PrimitiveTypes.Int64, Date: arrow.FixedWidthTypes.Date32,
	Decimal: arrow.BinaryTypes.String, Double: arrow.PrimitiveTypes.Float64, Duration: durationType,
	Float: arrow.PrimitiveTypes.Float32, Inet: arrow.BinaryTypes.String, Int: arrow.PrimitiveTypes.Int32,
	Smallint: arrow.PrimitiveTypes.Int16, Text: arrow.BinaryTypes.String, Time: arrow.FixedWidthTypes.Time64ns,
	Timestamp: arrow.FixedWidthTypes.Timestamp_ms, Timeuuid: uuidType, Tinyint: arrow.PrimitiveTypes.Int8, UUID: uuidType,
	Varint: arrow.BinaryTypes.String,
}

// Arrow returns the Arrow type that holds values of t; the package comment has the table.
func (t *Type) Arrow() (arrow.DataType, error) {
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("map CQL %s to Arrow: %w", t.Kind, err)
	}
	return t.arrow(), nil
}

// arrow maps a type that has been checked.
func (t *Type) arrow() arrow.DataType {
	switch t.Kind {
	case List, Set:
		return arrow.ListOfField(arrow.Field{Name: "element", Type: t.Elems[0].arrow(), Nullable: true})
	case Map:
		return arrow.MapOf(t.Elems[0].arrow(), t.Elems[1].arrow())
	case Tuple, UDT:
		fields := make([]arrow.Field, len(t.Elems))
		for i, e := range t.Elems {
			fields[i] = e.field(t.fieldName(i), true)
		}
		return arrow.StructOf(fields...)
	case Vector:
		return arrow.FixedSizeListOfField(int32(t.Size), arrow.Field{Name: "element", Type: t.Elems[0].arrow()})
	}
	return nativeArrow[t.Kind]
}

// fieldName returns the name of the i-th field of a UDT, or its position in a tuple.
func (t *Type) fieldName(i int) string {
	if t.Kind == UDT {
		return t.Fields[i]
	}
	return strconv.Itoa(i)
}

// Field returns the Arrow field of a column of type t, with the type's text under MetadataKey. Fields of the structs inside carry theirs
// too, which is how OfField learns the types of a UDT's fields.
func (t *Type) Field(name string, nullable bool) (arrow.Field, error) {
	if err := t.check(); err != nil {
		return arrow.Field{}, fmt.Errorf("map column %q to Arrow: %w", name, err)
	}
	return t.field(name, nullable), nil
}

func (t *Type) field(name string, nullable bool) arrow.Field {
	return arrow.Field{
		Name: name, Type: t.arrow(), Nullable: nullable,
		Metadata: arrow.NewMetadata([]string{MetadataKey}, []string{t.String()}),
	}
}
