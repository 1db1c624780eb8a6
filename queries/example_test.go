package queries_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"manifest/internal/cqltype"
	"manifest/queries"
	"manifest/tokenrange"
)

// images is the table that the examples aggregate.
var images = queries.Table{Keyspace: "ks", Name: "images", Columns: []queries.Column{
	{Name: "id", Type: &cqltype.Type{Kind: cqltype.Int}, Kind: queries.PartitionKey},
	{Name: "camera", Type: &cqltype.Type{Kind: cqltype.Text}, Kind: queries.Regular},
	{Name: "width", Type: &cqltype.Type{Kind: cqltype.Int}, Kind: queries.Regular},
}}

// rowsOf makes a record of columns camera and width, as a scan would.
func rowsOf(cameras []string, widths []int32) arrow.Record {
	camera, _ := images.Columns[1].Type.Field("camera", true)
	width, _ := images.Columns[2].Type.Field("width", true)
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{camera, width}, nil))
	defer b.Release()
	b.Field(0).(*array.StringBuilder).AppendValues(cameras, nil)
	b.Field(1).(*array.Int32Builder).AppendValues(widths, nil)
	return b.NewRecord()
}

// The rows of each split are written to a part, which is committed when the split has been read to its end. Then the parts are merged.
func Example() {
	query, err := queries.Compile(images, queries.Spec{By: "camera", Agg: "count, avg(width), max(width) as widest"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("reads", query.Columns())

	dir, err := os.MkdirTemp("", "parts-*")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	aggregation, err := queries.New(query, queries.Options{Dir: dir})
	if err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	splits := []tokenrange.Split{{ID: "a"}, {ID: "b"}}
	for split, rec := range map[int]arrow.Record{
		0: rowsOf([]string{"north", "south", "north"}, []int32{640, 4000, 320}),
		1: rowsOf([]string{"south", "gate"}, []int32{1000, 800}),
	} {
		part, err := aggregation.Begin(ctx, splits[split])
		if err != nil {
			log.Fatal(err)
		}
		if err := part.Write(ctx, rec); err != nil {
			part.Abort()
			log.Fatal(err)
		}
		rec.Release()
		if err := part.Commit(ctx); err != nil {
			log.Fatal(err)
		}
	}

	err = aggregation.Finish(ctx, []string{"a", "b"}, func(table string, _ *arrow.Date32, rec arrow.Record) error {
		fmt.Println(table)
		for i := range int(rec.NumRows()) {
			var cells []string
			for c, column := range rec.Columns() {
				cells = append(cells, rec.ColumnName(c)+"="+column.ValueStr(i))
			}
			fmt.Println(strings.Join(cells, " "))
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// reads [camera width]
	// groups
	// camera=gate count=1 width_avg=800 widest=800
	// camera=north count=2 width_avg=480 widest=640
	// camera=south count=2 width_avg=2500 widest=4000
}

// Errors point at the place in the text, or name the column, so that a program can show it or look for the nearest name.
func ExampleCompile_errors() {
	var syntax *queries.SyntaxError
	_, err := queries.Compile(images, queries.Spec{By: "camera, week(taken)"})
	if errors.As(err, &syntax) {
		fmt.Printf("%s\n%*s %s\n", syntax.Text, syntax.Offset+1, "^", syntax.Reason)
	}

	var column *queries.ColumnError
	_, err = queries.Compile(images, queries.Spec{By: "camera", Agg: "sum(widht)"})
	if errors.As(err, &column) {
		fmt.Println("no column", column.Column, "in", column.Table)
	}

	_, err = queries.Compile(images, queries.Spec{Agg: "sum(camera)"})
	fmt.Println(err)
	// Output:
	// camera, week(taken)
	//         ^ unknown function "week", known are hour, day, month, year, writetime, ttl
	// no column widht in ks.images
	// compute sum(camera): sum of text: type does not fit
}

// The named statistics find their columns by a mapping, and come by day.
func ExampleStatistic_Compile() {
	statistic, err := queries.Lookup("tags")
	if err != nil {
		log.Fatal(err)
	}
	text := &cqltype.Type{Kind: cqltype.Text}
	table := queries.Table{Keyspace: "ks", Name: "labels", Columns: []queries.Column{
		{Name: "Label", Type: text, Kind: queries.PartitionKey},
		{Name: "taken", Type: &cqltype.Type{Kind: cqltype.Timestamp}, Kind: queries.Clustering},
		{Name: "device_id", Type: text, Kind: queries.Regular},
	}}
	query, err := statistic.Compile(table, queries.NamedOptions{
		Mapping: queries.Mapping{Tag: queries.TagMapping{Tag: `"Label"`, Day: "taken"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("reads", query.Columns())
	for _, result := range query.Tables() {
		fmt.Println(result.Name, "by day:", result.ByDay)
		for _, f := range result.Schema.Fields() {
			fmt.Println(" ", f.Name, f.Type)
		}
	}
	// Output:
	// reads [taken Label device_id]
	// tags by day: true
	//   day date32
	//   tag utf8
	//   images int64
	//   devices int64
}
