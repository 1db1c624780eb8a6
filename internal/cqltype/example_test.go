package cqltype_test

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"manifest/internal/cqltype"
)

// A column of maps, as a result page brings them, becomes an Arrow array.
func ExampleNewAppender() {
	t, err := cqltype.Parse("map<text, int>", nil)
	if err != nil {
		panic(err)
	}
	field, err := t.Field("sizes", true)
	if err != nil {
		panic(err)
	}
	builder := array.NewBuilder(memory.DefaultAllocator, field.Type)
	defer builder.Release()
	column, err := cqltype.NewAppender(t, builder)
	if err != nil {
		panic(err)
	}
	for _, value := range [][]byte{
		{0, 0, 0, 1, 0, 0, 0, 1, 'w', 0, 0, 0, 4, 0, 0, 0x07, 0x80},
		nil,
		{0, 0, 0, 0},
	} {
		if err := column.Append(value); err != nil {
			panic(err)
		}
	}
	fmt.Println(column.Append([]byte{0, 0, 0, 9}))

	values := builder.NewArray().(*array.Map)
	defer values.Release()
	fmt.Println(field.Type)
	for i := range values.Len() {
		start, end := values.ValueOffsets(i)
		fmt.Println(values.IsNull(i), end-start)
	}
	// Output:
	// decode map<text, int>: count 9 in a value of 4 bytes
	// map<utf8, int32, items_nullable>
	// false 1
	// true 0
	// false 0
	// true 0
}

func ExampleParseMarshal() {
	t, reversed, err := cqltype.ParseMarshal(
		"org.apache.cassandra.db.marshal.ReversedType(org.apache.cassandra.db.marshal.TimestampType)")
	fmt.Println(t, reversed, err)
	// Output: timestamp true <nil>
}

func ExampleAppendUUID() {
	fmt.Println(string(cqltype.AppendUUID(nil, []byte("\xf8\x1d\x4f\xae\x7d\xec\x11\xd0\xa7\x65\x00\xa0\xc9\x1e\x6b\xf6"))))
	// Output: f81d4fae-7dec-11d0-a765-00a0c91e6bf6
}
