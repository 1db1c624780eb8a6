package cqltype

import (
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"
)

// marshalPackage is the Java package of the server's own types, which class strings may leave out.
const marshalPackage = "org.apache.cassandra.db.marshal."

// marshalNatives maps the classes without arguments. DateType and LegacyTimeUUIDType are what tables from before CQL 3 have for timestamp
// and timeuuid: their values are the same, but DateType orders them by unsigned bytes.
var marshalNatives = map[string]Kind{
	"AsciiType": Ascii, "LongType": Bigint, "BytesType": Blob, "BooleanType": Boolean, "CounterColumnType": Counter,
	"SimpleDateType": Date, "DecimalType": Decimal, "DoubleType": Double, "DurationType": Duration, "FloatType": Float,
	"InetAddressType": Inet, "Int32Type": Int, "ShortType": Smallint, "UTF8Type": Text, "TimeType": Time, "TimestampType": Timestamp,
	"DateType": Timestamp, "TimeUUIDType": Timeuuid, "LegacyTimeUUIDType": Timeuuid, "ByteType": Tinyint, "UUIDType": UUID,
	"IntegerType": Varint,
}

// ParseMarshal reads a class string of the server, as SSTable headers hold, such as
//
//	org.apache.cassandra.db.marshal.ReversedType(org.apache.cassandra.db.marshal.TimestampType)
//
// reversed says that the class is a ReversedType: a clustering column in descending order, whose values are those of t. The text form of a
// key of several columns, CompositeType, is for ParseMarshalKey. Errors are ErrSyntax and ErrUnsupportedType, which names the class.
func ParseMarshal(s string) (t *Type, reversed bool, err error) {
	p := marshalParser{parser{in: s}}
	class, err := p.class()
	if err == nil {
		if reversed = class == "ReversedType"; reversed {
			t, err = p.frozen(2 * maxDepth) // clustering columns are never of several cells
		} else {
			t, err = p.typ(class, 2*maxDepth)
		}
	}
	if err == nil {
		err = p.finish(t)
	}
	if err != nil {
		return nil, false, fmt.Errorf("parse marshal class %q: %w", abbreviate(s), err)
	}
	return t, reversed, nil
}

// ParseMarshalKey reads the class string of a partition key and returns the types of its columns: those inside a CompositeType, or the one
// type itself.
func ParseMarshalKey(s string) ([]*Type, error) {
	p := marshalParser{parser{in: s}}
	class, err := p.class()
	var types []*Type
	switch {
	case err != nil:
	case class == "CompositeType":
		types, err = p.args(2 * maxDepth)
	default:
		var t *Type
		t, err = p.typ(class, 2*maxDepth)
		types = []*Type{t}
	}
	if err == nil {
		err = p.finish(types...)
	}
	if err != nil {
		return nil, fmt.Errorf("parse marshal key class %q: %w", abbreviate(s), err)
	}
	return types, nil
}

// marshalParser reads Name or Name(arguments), of org.apache.cassandra.db.marshal.TypeParser.
type marshalParser struct{ parser }

// finish checks that the input is used up and the types are sound.
func (p *marshalParser) finish(types ...*Type) error {
	if p.space(); p.pos < len(p.in) {
		return p.errorf("unexpected %q", p.in[p.pos:])
	}
	for _, t := range types {
		if err := t.check(); err != nil {
			return err
		}
	}
	return nil
}

// identifier reads a class name, a keyspace or hexadecimal digits.
func (p *marshalParser) identifier() (string, error) {
	p.space()
	start := p.pos
	for p.pos < len(p.in) {
		c := p.in[p.pos]
		if !isLower(c|0x20) && !isDigit(c) && strings.IndexByte("+._&-", c) < 0 {
			break
		}
		p.pos++
	}
	if p.pos == start {
		return "", p.errorf("no identifier")
	}
	return p.in[start:p.pos], nil
}

// class reads a class name and drops the package of the server's own ones.
func (p *marshalParser) class() (string, error) {
	name, err := p.identifier()
	return strings.TrimPrefix(name, marshalPackage), err
}

// typ reads the arguments of class. depth bounds the recursion.
func (p *marshalParser) typ(class string, depth int) (*Type, error) {
	if depth == 0 {
		return nil, fmt.Errorf("%w: nested deeper than %d", ErrUnsupportedType, maxDepth)
	}
	if k := marshalNatives[class]; k != 0 {
		if p.accept('(') {
			return &Type{Kind: k}, p.expect(')')
		}
		return &Type{Kind: k}, nil
	}
	switch class {
	case "FrozenType":
		return p.frozen(depth)
	case "ListType":
		return p.composed(List, depth)
	case "SetType":
		return p.composed(Set, depth)
	case "MapType":
		return p.composed(Map, depth)
	case "TupleType":
		return p.composed(Tuple, depth)
	case "UserType":
		return p.userType(depth)
	case "VectorType":
		return p.vector(depth)
	}
	return nil, fmt.Errorf("%w: %s", ErrUnsupportedType, abbreviate(class))
}

// arg reads a type inside another.
func (p *marshalParser) arg(depth int) (*Type, error) {
	class, err := p.class()
	if err != nil {
		return nil, err
	}
	return p.typ(class, depth-1)
}

// args reads types in parentheses.
func (p *marshalParser) args(depth int) ([]*Type, error) {
	if err := p.expect('('); err != nil {
		return nil, err
	}
	var types []*Type
	for {
		t, err := p.arg(depth)
		if err != nil {
			return nil, err
		}
		types = append(types, t.freeze())
		if !p.accept(',') {
			return types, p.expect(')')
		}
	}
}

func (p *marshalParser) frozen(depth int) (*Type, error) {
	types, err := p.args(depth)
	if err != nil {
		return nil, err
	}
	if len(types) != 1 {
		return nil, p.errorf("%d arguments, want 1", len(types))
	}
	return types[0], nil
}

// composed reads a collection or tuple; Type.check counts its arguments.
func (p *marshalParser) composed(k Kind, depth int) (*Type, error) {
	elems, err := p.args(depth)
	return &Type{Kind: k, Elems: elems, Frozen: k == Tuple}, err
}

// vector reads (T , n).
func (p *marshalParser) vector(depth int) (*Type, error) {
	if err := p.expect('('); err != nil {
		return nil, err
	}
	elem, err := p.arg(depth)
	if err == nil {
		err = p.expect(',')
	}
	if err != nil {
		return nil, err
	}
	size, err := p.number()
	if err != nil {
		return nil, err
	}
	return &Type{Kind: Vector, Elems: []*Type{elem.freeze()}, Size: size, Frozen: true}, p.expect(')')
}

// userType reads (keyspace,name,field:T,...), where the names are UTF-8 in hexadecimal.
func (p *marshalParser) userType(depth int) (*Type, error) {
	if err := p.expect('('); err != nil {
		return nil, err
	}
	keyspace, err := p.identifier()
	if err == nil {
		err = p.expect(',')
	}
	if err != nil {
		return nil, err
	}
	t := &Type{Kind: UDT, Keyspace: keyspace}
	if t.Name, err = p.hexName(); err != nil {
		return nil, err
	}
	for p.accept(',') {
		name, err := p.hexName()
		if err == nil {
			err = p.expect(':')
		}
		if err != nil {
			return nil, err
		}
		elem, err := p.arg(depth)
		if err != nil {
			return nil, err
		}
		t.Fields = append(t.Fields, name)
		t.Elems = append(t.Elems, elem.freeze())
	}
	return t, p.expect(')')
}

func (p *marshalParser) hexName() (string, error) {
	text, err := p.identifier()
	if err != nil {
		return "", err
	}
	name, err := hex.DecodeString(text)
	if err != nil || !utf8.Valid(name) {
		return "", p.errorf("%q is not UTF-8 in hexadecimal", text)
	}
	return string(name), nil
}
