package cqltype

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"pgregory.net/rapid"
)

// tester is what tests, fuzz targets, benchmarks and property tests share.
type tester interface {
	rapid.TB
	Cleanup(func())
}

// testUDTs resolves the user-defined types that tests name, as Golden.java defines them.
func testUDTs(name string) (*Type, error) {
	text, fields := map[string][]string{
		"address": {"text", "int", "frozen<set<text>>"},
		"My Type": {"varint", "frozen<address>"},
		"order":   {"int"},
		`a"b`:     {"int"},
	}, map[string][]string{
		"address": {"street", "No", "tags"},
		"My Type": {"a b", "home"},
		"order":   {"x"},
		`a"b`:     {"x"},
	}
	if text[name] == nil {
		return nil, fmt.Errorf("no type %q", name)
	}
	t := &Type{Kind: UDT, Keyspace: "ks", Name: name, Fields: fields[name]}
	for _, s := range text[name] {
		elem, err := Parse(s, testUDTs)
		if err != nil {
			return nil, err
		}
		t.Elems = append(t.Elems, elem)
	}
	return t, nil
}

func mustParse(t tester, s string) *Type {
	t.Helper()
	typ, err := Parse(s, testUDTs)
	if err != nil {
		t.Fatal(err)
	}
	return typ
}

// column is an appender with its builder.
type column struct {
	Appender
	builder array.Builder
}

// newColumn makes a column whose memory the test's end checks.
func newColumn(t tester, typ *Type) column {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	dt, err := typ.Arrow()
	if err != nil {
		t.Fatal(err)
	}
	b := array.NewBuilder(mem, dt)
	t.Cleanup(func() {
		b.Release()
		mem.AssertSize(t, 0)
	})
	a, err := NewAppender(typ, b)
	if err != nil {
		t.Fatal(err)
	}
	return column{a, b}
}

// finish returns the array built so far; the test's end releases it. It fails the test if the array or a child of it is not sound.
func (c column) finish(t tester) arrow.Array {
	t.Helper()
	arr := c.builder.NewArray()
	t.Cleanup(arr.Release)
	checkLengths(t, arr)
	return arr
}

// valueAt reads element i back: the JSON form of values.tsv as Go values, with int64 for every integer.
func valueAt(t *Type, arr arrow.Array, i int) any {
	if arr.IsNull(i) {
		return nil
	}
	switch t.Kind {
	case Boolean:
		return arr.(*array.Boolean).Value(i)
	case Tinyint:
		return int64(arr.(*array.Int8).Value(i))
	case Smallint:
		return int64(arr.(*array.Int16).Value(i))
	case Int:
		return int64(arr.(*array.Int32).Value(i))
	case Bigint, Counter:
		return arr.(*array.Int64).Value(i)
	case Float:
		return fmt.Sprintf("%08x", math.Float32bits(arr.(*array.Float32).Value(i)))
	case Double:
		return fmt.Sprintf("%016x", math.Float64bits(arr.(*array.Float64).Value(i)))
	case Timestamp:
		return int64(arr.(*array.Timestamp).Value(i))
	case Date:
		return int64(arr.(*array.Date32).Value(i))
	case Time:
		return int64(arr.(*array.Time64).Value(i))
	case Blob:
		return hex.EncodeToString(arr.(*array.Binary).Value(i))
	case UUID, Timeuuid:
		return string(AppendUUID(nil, arr.(*array.FixedSizeBinary).Value(i)))
	case Duration:
		s, v := arr.(*array.Struct), map[string]any{}
		v["months"] = int64(s.Field(0).(*array.Int32).Value(i))
		v["days"] = int64(s.Field(1).(*array.Int32).Value(i))
		v["nanoseconds"] = s.Field(2).(*array.Int64).Value(i)
		return v
	case Tuple, UDT:
		s, v := arr.(*array.Struct), map[string]any{}
		for j, e := range t.Elems {
			v[t.fieldName(j)] = valueAt(e, s.Field(j), i)
		}
		return v
	case Map:
		m, v := arr.(*array.Map), []any{}
		start, end := m.ValueOffsets(i)
		for j := int(start); j < int(end); j++ {
			v = append(v, []any{valueAt(t.Elems[0], m.Keys(), j), valueAt(t.Elems[1], m.Items(), j)})
		}
		return v
	case List, Set, Vector:
		l, v := arr.(array.ListLike), []any{}
		start, end := l.ValueOffsets(i)
		for j := int(start); j < int(end); j++ {
			v = append(v, valueAt(t.Elems[0], l.ListValues(), j))
		}
		return v
	}
	return arr.(*array.String).Value(i)
}

// parseValue reads the JSON form of values.tsv into what valueAt gives.
func parseValue(t tester, s string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return integers(t, v)
}

func integers(t tester, v any) any {
	switch v := v.(type) {
	case json.Number:
		n, err := v.Int64()
		if err != nil {
			t.Fatal(err)
		}
		return n
	case []any:
		for i := range v {
			v[i] = integers(t, v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = integers(t, v[k])
		}
	}
	return v
}

// checkLengths fails the test unless the children of an array are as long as it needs, nulls are only where fields allow them, and
// offsets ascend within the data.
func checkLengths(t tester, arr arrow.Array) {
	t.Helper()
	nulls := 0
	for i := range arr.Len() {
		if arr.IsNull(i) {
			nulls++
		}
	}
	if nulls != arr.NullN() {
		t.Errorf("%s says %d nulls, has %d", arr.DataType(), arr.NullN(), nulls)
	}
	if s, ok := arr.(*array.String); ok {
		for i := range s.Len() {
			if !utf8.ValidString(s.Value(i)) {
				t.Errorf("text %q is not UTF-8", s.Value(i))
			}
		}
	}
	dt, ok := arr.DataType().(arrow.NestedType)
	if !ok {
		return
	}
	want := arr.Len()
	switch a := arr.(type) {
	case *array.FixedSizeList:
		want *= int(dt.(*arrow.FixedSizeListType).Len())
	case array.ListLike:
		want = lastOffset(t, a)
	}
	for i, f := range dt.Fields() {
		// The data, not the accessors of the arrays, which cut longer children to length.
		c := array.MakeFromData(arr.Data().Children()[i])
		defer c.Release()
		if c.Len() != want {
			t.Errorf("child %q of %s has %d elements, want %d", f.Name, dt, c.Len(), want)
		}
		if !f.Nullable && c.NullN() != 0 {
			t.Errorf("child %q of %s has %d nulls and is not nullable", f.Name, dt, c.NullN())
		}
		if !arrow.TypeEqual(c.DataType(), f.Type, arrow.CheckMetadata()) {
			t.Errorf("child %q of %s is of type %s", f.Name, dt, c.DataType())
		}
		checkLengths(t, c)
	}
}

func lastOffset(t tester, a array.ListLike) int {
	t.Helper()
	last := int64(0)
	for i := range a.Len() {
		start, end := a.ValueOffsets(i)
		if start != last || end < start {
			t.Errorf("offsets %d, %d after %d", start, end, last)
		}
		last = end
	}
	return int(last)
}
