package selection_test

import (
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"manifest/internal/cqltype"
	"manifest/internal/selection"
)

// A condition is read, joined with others, checked against a table's columns, and applied to its records.
func Example() {
	where, err := selection.ParseWhere("width >= 1024")
	if err != nil {
		fmt.Println(err)
		return
	}
	devices, err := selection.In("device_id", []string{"cam-*", "phone"})
	if err != nil {
		fmt.Println(err)
		return
	}
	condition := selection.All(where, devices)
	columns := []selection.Column{{Name: "device_id", Type: &cqltype.Type{Kind: cqltype.Text}}, {Name: "width", Type: &cqltype.Type{Kind: cqltype.Int}}}
	filter, err := selection.Compile(condition, columns)
	if err != nil {
		fmt.Println(err)
		return
	}

	schema := arrow.NewSchema([]arrow.Field{{Name: "device_id", Type: arrow.BinaryTypes.String}, {Name: "width", Type: arrow.PrimitiveTypes.Int32}}, nil)
	rows := `[{"device_id": "cam-1", "width": 1920}, {"device_id": "cam-2", "width": 640}, {"device_id": "drone", "width": 4096}]`
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(rows))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer rec.Release()
	wanted, err := filter.Apply(memory.DefaultAllocator, rec)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer wanted.Release()
	fmt.Println(condition)
	fmt.Println(filter.Columns())
	fmt.Println(wanted.Column(0), wanted.Column(1))
	// Output:
	// width >= 1024 AND (device_id IN ('phone') OR device_id GLOB 'cam-*')
	// [width device_id]
	// ["cam-1"] [1920]
}

// Errors show the position.
func ExampleError() {
	columns := []selection.Column{{Name: "width", Type: &cqltype.Type{Kind: cqltype.Int}}}
	where, err := selection.ParseWhere("width > 640 AND width < 'abc'")
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = selection.Compile(where, columns)
	fmt.Println(err)
	// Output:
	// width is int, 'abc' is text
	//   width > 640 AND width < 'abc'
	//                           ^
}

// Tags names what an access path reads: images with one of these tags. Matches then decides by the tags that each has.
func ExampleTagExpr_Tags() {
	tags, err := selection.ParseTags("(leaf_spot OR rust) AND NOT blurry")
	if err != nil {
		fmt.Println(err)
		return
	}
	drivers, ok := tags.Tags()
	fmt.Println(ok)
	for _, t := range drivers {
		fmt.Println(t.Text)
	}
	fmt.Println(tags.Matches([]string{"rust", "dark"}), tags.Matches([]string{"rust", "blurry"}))
	// Output:
	// true
	// leaf_spot
	// rust
	// true false
}
