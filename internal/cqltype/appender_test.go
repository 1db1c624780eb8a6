package cqltype

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/go-cmp/cmp"
)

func TestNewAppenderRefusesOtherBuilder(t *testing.T) {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	for _, cql := range []string{"int", "list<text>", "uuid", "blob", "vector<text, 1>"} {
		if _, err := NewAppender(mustParse(t, cql), b); err == nil || !strings.Contains(err.Error(), "utf8") {
			t.Errorf("%s: error %v", cql, err)
		}
	}
	list := array.NewBuilder(memory.DefaultAllocator, arrow.ListOf(arrow.PrimitiveTypes.Int32))
	defer list.Release()
	if _, err := NewAppender(mustParse(t, "list<bigint>"), list); err == nil {
		t.Error("list<bigint> into a builder of lists of int32")
	}
}

// A value of no bytes is a value of text, ascii and blob only.
func TestAppendEmpty(t *testing.T) {
	for _, cql := range append(allNatives(), "list<int>", "set<text>", "map<text, int>", "tuple<text>", "address", "vector<text, 2>") {
		typ := mustParse(t, cql)
		col := newColumn(t, typ)
		if err := errors.Join(col.Append(nil), col.Append([]byte{})); err != nil {
			t.Errorf("%s: %v", cql, err)
		}
		arr := col.finish(t)
		if !arr.IsNull(0) {
			t.Errorf("%s: nil is not NULL", cql)
		}
		hasEmpty := typ.Kind == Text || typ.Kind == Ascii || typ.Kind == Blob
		if arr.IsNull(1) == hasEmpty {
			t.Errorf("%s: empty value is NULL: %t", cql, arr.IsNull(1))
		}
	}
}

func allNatives() []string {
	var names []string
	for k := Ascii; k <= Varint; k++ {
		names = append(names, k.String())
	}
	return names
}

// An empty collection, an empty text in it, a NULL in it and no collection are four things.
func TestAppendKeepsNullsAndEmptiesApart(t *testing.T) {
	typ := mustParse(t, "map<text, text>")
	col := newColumn(t, typ)
	for _, raw := range []string{
		"\x00\x00\x00\x00",
		"\x00\x00\x00\x01\x00\x00\x00\x01a\x00\x00\x00\x00",
		"\x00\x00\x00\x01\x00\x00\x00\x01a\xff\xff\xff\xff",
		"\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01b",
	} {
		if err := col.Append([]byte(raw)); err != nil {
			t.Fatal(err)
		}
	}
	arr := col.finish(t)
	want := []any{[]any{}, []any{[]any{"a", ""}}, []any{[]any{"a", nil}}, []any{[]any{"", "b"}}}
	for i, w := range want {
		if diff := cmp.Diff(w, valueAt(typ, arr, i)); diff != "" {
			t.Errorf("%d: (-want +got)\n%s", i, diff)
		}
	}
}

func TestAppendErrors(t *testing.T) {
	for _, test := range []struct {
		cql, raw string
		typ      string // of the innermost value
		part     string // of the reason
	}{
		{"boolean", "\x00\x00", "boolean", "2 bytes, want 1"},
		{"tinyint", "\x00\x00", "tinyint", "2 bytes, want 1"},
		{"smallint", "\x00", "smallint", "1 bytes, want 2"},
		{"int", "\x00\x00\x00", "int", "3 bytes, want 4"},
		{"int", "\x00\x00\x00\x00\x00", "int", "5 bytes, want 4"},
		{"bigint", "\x00\x00\x00\x00", "bigint", "4 bytes, want 8"},
		{"counter", "\x00\x00\x00\x00", "counter", "4 bytes, want 8"},
		{"float", "\x00", "float", "1 bytes, want 4"},
		{"double", "\x00\x00\x00\x00", "double", "4 bytes, want 8"},
		{"timestamp", "\x00\x00\x00\x00", "timestamp", "4 bytes, want 8"},
		{"date", "\x00\x00\x00", "date", "3 bytes, want 4"},
		{"time", "\x00\x00\x00", "time", "3 bytes, want 8"},
		{"time", "\xff\xff\xff\xff\xff\xff\xff\xff", "time", "-1 ns is outside a day"},
		{"time", "\x00\x00\x4e\x94\x91\x4f\x00\x00", "time", "86400000000000 ns is outside a day"},
		{"uuid", "\x00\x01\x02", "uuid", "3 bytes, want 16"},
		{"timeuuid", strings.Repeat("a", 17), "timeuuid", "17 bytes, want 16"},
		{"inet", "\x7f\x00\x00\x00\x01", "inet", "5 bytes, want 4 or 16"},
		{"text", "a\xff", "text", "2 bytes is not UTF-8"},
		{"text", "\xc0\x80", "text", "not UTF-8"},
		{"ascii", "a\x80", "ascii", "byte 0x80"},
		{"decimal", "\x00\x00\x00", "decimal", "3 bytes"},
		{"decimal", "\x00\x00\x00\x00", "decimal", "4 bytes"},
		{"duration", "\x00\x00", "duration", "ends inside"},
		{"duration", "\x00\x00\xff\x00", "duration", "ends inside"},
		{"duration", "\x00\x00\x00\x00", "duration", "1 bytes after"},
		{"duration", "\xf1\x00\x00\x00\x00\x00\x00", "duration", "months do not fit"},
		{"duration", "\x00\xf1\x00\x00\x00\x00\x00", "duration", "days do not fit"},
		{"list<int>", "\x00\x00\x00", "list<int>", "3 bytes, want a count"},
		{"list<int>", "\x00\x00\x00\x01", "list<int>", "count 1 in a value of 4 bytes"},
		{"list<int>", "\xff\xff\xff\xff", "list<int>", "count -1"},
		{"list<int>", "\x7f\xff\xff\xff\x00\x00\x00\x00", "list<int>", "count 2147483647"},
		{"list<int>", "\x00\x00\x00\x01\x00\x00\x00\x04\x00", "list<int>", "length 4 where 1 bytes"},
		{"list<int>", "\x00\x00\x00\x01\x7f\xff\xff\xff\x00", "list<int>", "length 2147483647 where 1 bytes"},
		{"list<int>", "\x00\x00\x00\x01\xff\xff\xff\xfe", "list<int>", "length -2"},
		{"list<int>", "\x00\x00\x00\x02\x00\x00\x00\x04\x00\x00\x00\x01\x00", "list<int>", "1 bytes where a length"},
		{"list<int>", "\x00\x00\x00\x01\x00\x00\x00\x01\x00", "int", "1 bytes, want 4"},
		{"list<int>", "\x00\x00\x00\x00\x00", "list<int>", "1 bytes after"},
		{"map<int, text>", "\x00\x00\x00\x01\x00\x00\x00\x00", "map<int, text>", "count 1 in a value of 8 bytes"},
		{"map<int, text>", "\x00\x00\x00\x01\xff\xff\xff\xff\x00\x00\x00\x00", "int", "null as a map key"},
		{"map<int, text>", "\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00", "int", "null as a map key"},
		{"map<int, text>", "\x00\x00\x00\x01\x00\x00\x00\x04\x00\x00\x00\x01", "map<int, text>", "0 bytes where a length"},
		{"map<int, text>", "\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00", "int", "1 bytes, want 4"},
		{"map<text, int>", "\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00", "int", "1 bytes, want 4"},
		{"map<text, int>", "\x00\x00\x00\x00\x00", "map<text, int>", "1 bytes after"},
		{"map<frozen<tuple<int>>, int>", "\x00\x00\x00\x01\xff\xff\xff\xff\xff\xff\xff\xff", "frozen<tuple<int>>", "null as a map key"},
		{"map<duration, int>", "\x00\x00\x00\x01\xff\xff\xff\xff\xff\xff\xff\xff", "duration", "null as a map key"},
		{"map<duration, int>", "\x00\x00\x00\x01\x00\x00\x00\x01\x00\xff\xff\xff\xff", "duration", "ends inside"},
		{"map<frozen<vector<int, 2>>, int>", "\x00\x00\x00\x01\xff\xff\xff\xff\xff\xff\xff\xff", "vector<int, 2>", "null as a map key"},
		{"map<frozen<vector<int, 2>>, int>", "\x00\x00\x00\x01\x00\x00\x00\x01\x00\xff\xff\xff\xff", "vector<int, 2>", "1 bytes, want 8"},
		{"tuple<int, text>", "\x00\x00", "frozen<tuple<int, text>>", "2 bytes where a length"},
		{"tuple<int, text>", "\x00\x00\x00\x05\x00", "frozen<tuple<int, text>>", "length 5 where 1 bytes"},
		{"tuple<int, text>", "\x00\x00\x00\x01\x00", "int", "1 bytes, want 4"},
		{"tuple<int, text>", "\xff\xff\xff\xff\xff\xff\xff\xff\x00", "frozen<tuple<int, text>>", "1 bytes after"},
		{"address", "\x00\x00\x00\x01\xff", "text", "not UTF-8"},
		{"vector<int, 2>", "\x00\x00\x00\x00", "vector<int, 2>", "4 bytes, want 8"},
		{"vector<int, 2>", "\x00\x00\x00\x00\x00\x00\x00\x00\x00", "vector<int, 2>", "9 bytes, want 8"},
		{"vector<text, 3>", "\x00\x00", "vector<text, 3>", "2 bytes for 3 elements"},
		{"vector<text, 2>", "\x00\x01", "vector<text, 2>", "length 1 where 0 bytes"},
		{"vector<text, 2>", "\x00\xff", "vector<text, 2>", "length"},
		{"vector<text, 2>", "\xff\xff\xff\xff\xff\xff\xff\xff\xff", "vector<text, 2>", "length 18446744073709551615"},
		{"vector<text, 2>", "\x01\xff\x00", "text", "not UTF-8"},
		{"vector<text, 2>", "\x00\x00\x00", "vector<text, 2>", "1 bytes after"},
		{"vector<varint, 2>", "\x00\x01\x00", "varint", "null as a map key or vector element"},
		{"vector<smallint, 1>", "\x01\x00", "smallint", "1 bytes, want 2"},
		{"vector<frozen<tuple<int>>, 1>", "\x05\x00\x00\x00\x01\x00", "int", "1 bytes, want 4"},
		{"vector<vector<text, 2>, 2>", "\x02\x00\x00\x00", "vector<text, 2>", "null"},
	} {
		typ := mustParse(t, test.cql)
		col := newColumn(t, typ)
		err := col.Append([]byte(test.raw))
		var decode *DecodeError
		if !errors.As(err, &decode) {
			t.Errorf("%s %x: error %v", test.cql, test.raw, err)
		} else if decode.Type != test.typ || !strings.Contains(decode.Reason, test.part) {
			t.Errorf("%s %x: %s: %s, want %s: %s", test.cql, test.raw, decode.Type, decode.Reason, test.typ, test.part)
		}
		// The failed value takes one place, and the column goes on.
		if err := col.Append(nil); err != nil {
			t.Errorf("%s after an error: %v", test.cql, err)
		}
		if arr := col.finish(t); arr.Len() != 2 || !arr.IsNull(1) {
			t.Errorf("%s %x: column %v after an error and a NULL", test.cql, test.raw, arr)
		}
	}
}

func TestAppendErrorNamesThePath(t *testing.T) {
	col := newColumn(t, mustParse(t, "map<text, frozen<tuple<int, frozen<list<bigint>>>>>"))
	err := col.Append([]byte("\x00\x00\x00\x01\x00\x00\x00\x01k\x00\x00\x00\x11\xff\xff\xff\xff\x00\x00\x00\x09\x00\x00\x00\x01\x00\x00\x00\x01\x00"))
	const want = `value 0 of map<text, frozen<tuple<int, frozen<list<bigint>>>>>: field "1" of frozen<tuple<int, frozen<list<bigint>>>>: ` +
		`element 0 of frozen<list<bigint>>: decode bigint: value of 1 bytes, want 8`
	if err == nil || err.Error() != want {
		t.Errorf("error is\n%v, want\n%s", err, want)
	}
}

// Arrow's offsets have 32 bits. The builder is made to look full: two gigabytes would be slow to fill.
func TestAppendToFullBuilder(t *testing.T) {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	a, err := NewAppender(mustParse(t, "text"), b)
	if err != nil {
		t.Fatal(err)
	}
	b.ResizeData(math.MaxInt32 - 3)
	if err := a.Append([]byte("four")); !errors.Is(err, ErrBuilderFull) {
		t.Errorf("error %v", err)
	}
	if b.Len() != 1 || b.NullN() != 1 {
		t.Errorf("%d elements, %d nulls", b.Len(), b.NullN())
	}
	b.ResizeData(0)

	lists := newColumn(t, mustParse(t, "list<int>"))
	if err := full("list<int>", lists.builder, math.MaxInt32); err != nil {
		t.Errorf("the last element that fits: %v", err)
	}
	if err := lists.Append(nil); err != nil {
		t.Fatal(err)
	}
	if err := full("list<int>", lists.builder, math.MaxInt32); !errors.Is(err, ErrBuilderFull) {
		t.Errorf("error %v", err)
	}
}

// The value belongs to the caller, who reuses it.
func TestAppendDoesNotRetainTheValue(t *testing.T) {
	for cql, raw := range map[string]string{
		"text": "abc", "blob": "abc", "uuid": "0123456789abcdef", "list<text>": "\x00\x00\x00\x01\x00\x00\x00\x03abc", "vector<blob, 1>": "\x03abc",
		"varint": strings.Repeat("\x85", 30), "decimal": "\x00\x00\x00\x01" + strings.Repeat("\x85", 30),
	} {
		typ := mustParse(t, cql)
		col := newColumn(t, typ)
		buf := []byte(raw)
		if err := col.Append(buf); err != nil {
			t.Fatal(err)
		}
		if string(buf) != raw {
			t.Errorf("%s: the value was changed", cql)
		}
		clear(buf)
		if err := col.Append([]byte(raw)); err != nil {
			t.Fatal(err)
		}
		arr := col.finish(t)
		if diff := cmp.Diff(valueAt(typ, arr, 1), valueAt(typ, arr, 0)); diff != "" {
			t.Errorf("%s: changed with the caller's bytes: %s", cql, diff)
		}
	}
}
