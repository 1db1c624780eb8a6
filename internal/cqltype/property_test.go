package cqltype

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"gopkg.in/inf.v0"
	"pgregory.net/rapid"
)

// drawType draws the text of a type of at most the given depth.
func drawType(t *rapid.T, depth int) string {
	composed := []string{"list", "set", "map", "tuple", "vector", "frozen", "udt"}
	kind := rapid.SampledFrom(append(allNatives(), composed...)).Draw(t, "kind")
	if depth <= 1 && !natives[kind].native() {
		return "text"
	}
	elem := func() string { return drawType(t, depth-1) }
	switch kind {
	case "list", "set":
		return kind + "<" + elem() + ">"
	case "map":
		return "map<" + elem() + ", " + elem() + ">"
	case "frozen":
		return "frozen<list<" + elem() + ">>"
	case "tuple":
		var elems []string
		for range rapid.IntRange(1, 4).Draw(t, "fields") {
			elems = append(elems, elem())
		}
		return "tuple<" + strings.Join(elems, ", ") + ">"
	case "vector":
		return fmt.Sprintf("vector<%s, %d>", elem(), rapid.IntRange(1, 4).Draw(t, "size"))
	case "udt":
		return rapid.SampledFrom([]string{"address", `"My Type"`, "frozen<address>"}).Draw(t, "udt")
	}
	return kind
}

// drawValue draws a value of t: serialized by the rules of the native protocol's specification, and as valueAt gives it. The text of numbers,
// addresses and UUIDs comes from other libraries.
func drawValue(t *rapid.T, typ *Type) (raw []byte, want any) {
	be := binary.BigEndian
	signed := func(bits int) int64 {
		return rapid.Int64Range(-1<<(bits-1), 1<<(bits-1)-1).Draw(t, "integer")
	}
	bytes := func(n int) []byte { return rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, "bytes") }
	switch typ.Kind {
	case Ascii:
		s := rapid.StringMatching(`[ -~]{0,20}`).Draw(t, "ascii")
		return []byte(s), s
	case Text:
		s := strings.ToValidUTF8(rapid.String().Draw(t, "text"), "?")
		return []byte(s), s
	case Blob:
		b := rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "blob")
		return append([]byte{}, b...), hex.EncodeToString(b)
	case Boolean:
		b := rapid.Bool().Draw(t, "boolean")
		if b {
			return []byte{1}, b
		}
		return []byte{0}, b
	case Tinyint:
		n := signed(8)
		return []byte{byte(n)}, n
	case Smallint:
		n := signed(16)
		return be.AppendUint16(nil, uint16(n)), n
	case Int:
		n := signed(32)
		return be.AppendUint32(nil, uint32(n)), n
	case Bigint, Counter, Timestamp:
		n := signed(64)
		return be.AppendUint64(nil, uint64(n)), n
	case Date:
		n := signed(32)
		return be.AppendUint32(nil, uint32(n+1<<31)), n
	case Time:
		n := rapid.Int64Range(0, 86_399_999_999_999).Draw(t, "time")
		return be.AppendUint64(nil, uint64(n)), n
	case Float:
		bits := math.Float32bits(rapid.Float32().Draw(t, "float"))
		return be.AppendUint32(nil, bits), fmt.Sprintf("%08x", bits)
	case Double:
		bits := math.Float64bits(rapid.Float64().Draw(t, "double"))
		return be.AppendUint64(nil, bits), fmt.Sprintf("%016x", bits)
	case UUID, Timeuuid:
		b := bytes(16)
		return b, uuid.UUID(b).String()
	case Inet:
		b := bytes(4)
		if rapid.Bool().Draw(t, "IPv6") {
			b = append([]byte{0x20, 1}, bytes(14)...)
		}
		return b, net.IP(b).String()
	case Varint:
		n, b := drawVarint(t)
		return b, n.String()
	case Decimal:
		n, b := drawVarint(t)
		digits := len(new(big.Int).Abs(n).String())
		scale := rapid.IntRange(0, digits+5).Draw(t, "scale") // where BigDecimal.toString is plain, as inf.Dec's always is
		return append(be.AppendUint32(nil, uint32(scale)), b...), inf.NewDecBig(n, inf.Scale(scale)).String()
	case Duration:
		months, days, nanos := signed(32), signed(32), signed(64)
		for _, part := range []int64{months, days, nanos} {
			raw = appendUvint(raw, uint64(part<<1)^uint64(part>>63))
		}
		return raw, map[string]any{"months": months, "days": days, "nanoseconds": nanos}
	case Tuple, UDT:
		fields, stop := map[string]any{}, rapid.IntRange(1, len(typ.Elems)).Draw(t, "fields written")
		for i, e := range typ.Elems {
			fields[typ.fieldName(i)] = nil
			if i < stop {
				raw, fields[typ.fieldName(i)] = appendDrawn(t, raw, e, true)
			}
		}
		return raw, fields
	case Vector:
		elems := []any{}
		_, fixed := typ.Elems[0].FixedLen()
		for range typ.Size {
			b, v := drawValue(t, typ.Elems[0])
			if !fixed {
				raw = appendUvint(raw, uint64(len(b)))
			}
			raw, elems = append(raw, b...), append(elems, v)
		}
		return raw, elems
	case Map:
		n, entries := rapid.IntRange(0, 4).Draw(t, "entries"), []any{}
		raw = be.AppendUint32(nil, uint32(n))
		for range n {
			var k, v any
			raw, k = appendDrawn(t, raw, typ.Elems[0], false)
			raw, v = appendDrawn(t, raw, typ.Elems[1], true)
			entries = append(entries, []any{k, v})
		}
		return raw, entries
	}
	n, elems := rapid.IntRange(0, 4).Draw(t, "elements"), []any{}
	raw = be.AppendUint32(nil, uint32(n))
	for range n {
		var v any
		raw, v = appendDrawn(t, raw, typ.Elems[0], true)
		elems = append(elems, v)
	}
	return raw, elems
}

// appendDrawn appends a drawn value with its length before it, or NULL.
func appendDrawn(t *rapid.T, dst []byte, typ *Type, nullable bool) ([]byte, any) {
	if nullable && rapid.IntRange(0, 3).Draw(t, "null if 0") == 0 {
		return binary.BigEndian.AppendUint32(dst, math.MaxUint32), nil
	}
	raw, v := drawValue(t, typ)
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(raw))), raw...), v
}

// drawVarint draws an integer of up to 20 bytes, and its shortest two's complement.
func drawVarint(t *rapid.T) (*big.Int, []byte) {
	b := rapid.SliceOfN(rapid.Byte(), 1, 20).Draw(t, "varint")
	n := new(big.Int).SetBytes(b)
	if b[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return n, b
}

// appendUvint writes an unsigned vint of the fewest bytes, bit by bit as VIntCoding's documentation says.
func appendUvint(dst []byte, v uint64) []byte {
	for extra := range 8 {
		if v < 1<<(7*extra+7) {
			first := byte(0xff<<(8-extra)) | byte(v>>(8*extra))
			return append(append(dst, first), binary.BigEndian.AppendUint64(nil, v)[8-extra:]...)
		}
	}
	return binary.BigEndian.AppendUint64(append(dst, 0xff), v)
}

func TestAppendReadsBackWhatWasSerialized(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		typ, err := Parse(drawType(rt, 4), testUDTs)
		if err != nil {
			rt.Fatal(err)
		}
		col := newColumn(rt, typ)
		var want []any
		for range rapid.IntRange(0, 5).Draw(rt, "values") {
			var raw []byte
			var v any
			if rapid.IntRange(0, 3).Draw(rt, "null if 0") > 0 {
				raw, v = drawValue(rt, typ)
			}
			if err := col.Append(raw); err != nil {
				rt.Fatalf("%s %x: %v", typ, raw, err)
			}
			want = append(want, v)
		}
		arr := col.finish(rt)
		for i, w := range want {
			if diff := cmp.Diff(w, valueAt(typ, arr, i)); diff != "" {
				rt.Errorf("%s, value %d: (-want +got)\n%s", typ, i, diff)
			}
		}
	})
}

func TestTypesReadBackFromTheirTexts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		typ, err := Parse(drawType(rt, 5), testUDTs)
		if err != nil {
			rt.Fatal(err)
		}
		again, err := Parse(typ.String(), testUDTs)
		if diff := cmp.Diff(typ, again); err != nil || diff != "" {
			rt.Errorf("%s: error %v, (-want +got)\n%s", typ, err, diff)
		}
		f, err := typ.Field("c", rapid.Bool().Draw(rt, "nullable"))
		if err != nil {
			rt.Fatal(err)
		}
		ofField, err := OfField(f)
		if diff := cmp.Diff(withoutKeyspace(typ), ofField); err != nil || diff != "" {
			rt.Errorf("%s from its field: error %v, (-want +got)\n%s", typ, err, diff)
		}
	})
}
