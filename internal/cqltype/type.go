package cqltype

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const (
	// maxDepth bounds the nesting of a type: int is 1 deep, list<int> is 2 deep. An Arrow map is three fields deep and readers of
	// Arrow IPC refuse more than 64 levels.
	maxDepth = 20
	// maxVectorLen bounds the elements of a vector, those of vectors inside counted: Arrow spends the space of all of them on a NULL.
	// 2^22 floats are 16 MiB, the largest mutation that a server accepts by default.
	maxVectorLen = 1 << 22
)

// Type is a CQL type. A Type is immutable once made and may be shared.
type Type struct {
	Kind Kind

	// Keyspace and Name identify a UDT; Name is exact, without quotes. Keyspace is empty where the source of the type does not tell it.
	Keyspace, Name string

	// Elems are the component types: of a list, set and vector one, of a map the key's and the value's, of a tuple and a UDT one per field.
	Elems []*Type
	// Fields are the field names of a UDT, exact, without quotes.
	Fields []string
	// Size is the number of elements of a vector.
	Size int

	// Frozen says that a value is one cell rather than a cell per element. Parse and ParseMarshal set it the way the server understands a
	// type: tuples and vectors are always frozen, and so is everything inside another type. Native types are not marked.
	Frozen bool
}

// String returns the canonical CQL text, as the server prints it in system_schema. Parse reads it back.
func (t *Type) String() string {
	var b strings.Builder
	t.write(&b)
	return b.String()
}

func (t *Type) write(b *strings.Builder) {
	frozen := t.Frozen && !t.Kind.native() && t.Kind != Vector
	if frozen {
		b.WriteString("frozen<")
	}
	switch t.Kind {
	case UDT:
		writeName(b, t.Name)
	case List, Set, Map, Tuple, Vector:
		b.WriteString(t.Kind.String())
		b.WriteByte('<')
		for i, e := range t.Elems {
			if i > 0 {
				b.WriteString(", ")
			}
			e.write(b)
		}
		if t.Kind == Vector {
			b.WriteString(", ")
			b.WriteString(strconv.Itoa(t.Size))
		}
		b.WriteByte('>')
	default:
		b.WriteString(t.Kind.String())
	}
	if frozen {
		b.WriteByte('>')
	}
}

// freeze returns t as it is inside another type or inside frozen<>: it and everything in it is one cell.
func (t *Type) freeze() *Type {
	if t.Kind.native() {
		return t
	}
	c := *t
	c.Frozen = true
	c.Elems = freezeAll(t.Elems)
	return &c
}

func freezeAll(ts []*Type) []*Type {
	out := slices.Clone(ts)
	for i, t := range out {
		out[i] = t.freeze()
	}
	return out
}

// check returns an error unless the type is well formed and within the bounds of depth and vector length.
func (t *Type) check() error { return t.checkWithin(maxDepth, maxVectorLen) }

func (t *Type) checkWithin(depth, vectorLen int) error {
	if depth == 0 {
		return fmt.Errorf("%w: nested deeper than %d", ErrUnsupportedType, maxDepth)
	}
	want := len(t.Elems)
	switch t.Kind {
	case List, Set:
		want = 1
	case Map:
		want = 2
	case Tuple:
		want = max(1, want)
	case UDT:
		want = len(t.Fields)
		if t.Name == "" {
			return fmt.Errorf("%w: UDT without a name", ErrSyntax)
		}
	case Vector:
		want = 1
		if t.Size < 1 {
			return fmt.Errorf("%w: vector of %d elements", ErrSyntax, t.Size)
		}
		if t.Size > vectorLen {
			return fmt.Errorf("%w: vector of more than %d elements", ErrUnsupportedType, maxVectorLen)
		}
		vectorLen /= t.Size
	default:
		want = 0
		if !t.Kind.native() {
			return fmt.Errorf("%w: no type", ErrSyntax)
		}
	}
	if len(t.Elems) != want {
		return fmt.Errorf("%w: %s of %d types, want %d", ErrSyntax, t.Kind, len(t.Elems), want)
	}
	for _, e := range t.Elems {
		if err := e.checkWithin(depth-1, vectorLen); err != nil {
			return err
		}
	}
	return nil
}
