package cqltype

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
)

// OfField returns the CQL type of a field that Type.Field made, from its metadata. The fields of UDTs come from the Arrow structs.
func OfField(f arrow.Field) (*Type, error) {
	t, err := ofField(f, maxDepth)
	if err == nil {
		err = t.check()
	}
	if err == nil && !arrow.TypeEqual(t.arrow(), f.Type) {
		err = fmt.Errorf("CQL type %s is held by Arrow type %s, want %s", t, f.Type, t.arrow())
	}
	if err != nil {
		return nil, fmt.Errorf("read CQL type of field %q: %w", f.Name, err)
	}
	return t, nil
}

func ofField(f arrow.Field, depth int) (*Type, error) {
	if depth == 0 {
		return nil, fmt.Errorf("%w: nested deeper than %d", ErrUnsupportedType, maxDepth)
	}
	text, ok := f.Metadata.GetValue(MetadataKey)
	if !ok {
		return nil, fmt.Errorf("no metadata %q", MetadataKey)
	}
	t, err := Parse(text, func(name string) (*Type, error) { return &Type{Kind: UDT, Name: name}, nil })
	if err != nil {
		return nil, err
	}
	return t, t.fill(f.Type, depth)
}

var errShape = errors.New("the Arrow type does not have the shape of the CQL type")

// fill gives the UDTs in a freshly parsed t the fields that the Arrow type has for them.
func (t *Type) fill(dt arrow.DataType, depth int) error {
	switch t.Kind {
	case List, Set, Vector:
		lt, ok := dt.(arrow.ListLikeType)
		if !ok {
			return errShape
		}
		return t.Elems[0].fill(lt.Elem(), depth)
	case Map:
		mt, ok := dt.(*arrow.MapType)
		if !ok {
			return errShape
		}
		return errors.Join(t.Elems[0].fill(mt.KeyType(), depth), t.Elems[1].fill(mt.ItemType(), depth))
	case Tuple:
		st, ok := dt.(*arrow.StructType)
		if !ok || st.NumFields() != len(t.Elems) {
			return errShape
		}
		for i, e := range t.Elems {
			if err := e.fill(st.Field(i).Type, depth); err != nil {
				return err
			}
		}
	case UDT:
		st, ok := dt.(*arrow.StructType)
		if !ok {
			return errShape
		}
		for _, f := range st.Fields() {
			e, err := ofField(f, depth-1)
			if err != nil {
				return fmt.Errorf("field %q of %s: %w", f.Name, t.Name, err)
			}
			t.Fields = append(t.Fields, f.Name)
			t.Elems = append(t.Elems, e.freeze())
		}
	}
	return nil
}
