package queries

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/uuid"

	"manifest/internal/cqltype"
	"manifest/tokenrange"
)

// tableOf makes a table of lines "name | type | kind".
func tableOf(t testing.TB, name string, lines ...string) Table {
	t.Helper()
	keyspace, name, _ := strings.Cut(name, ".")
	table := Table{Keyspace: keyspace, Name: name}
	point := &cqltype.Type{Kind: cqltype.UDT, Name: "point", Fields: []string{"x", "Y"}, Elems: []*cqltype.Type{{Kind: cqltype.Double}, {Kind: cqltype.Text}}}
	for _, line := range lines {
		parts := strings.Split(line, "|")
		typ, err := cqltype.Parse(strings.TrimSpace(parts[1]), func(string) (*cqltype.Type, error) { return point, nil })
		if err != nil {
			t.Fatal(err)
		}
		table.Columns = append(table.Columns, Column{Name: strings.TrimSpace(parts[0]), Type: typ, Kind: Kind(strings.TrimSpace(parts[2]))})
	}
	return table
}

// The tables of images.
func metadataTable(t testing.TB) Table {
	return tableOf(t, "image_keyspace.image_metadata", "image_id | timeuuid | partition_key", "object_store | text | regular", "object_key | text | regular",
		"content_hash | text | regular", "width | int | regular", "height | int | regular", "capture_time | timestamp | regular",
		"upload_time | timestamp | regular", "attributes | map<text, text> | regular")
}

func deviceTable(t testing.TB) Table {
	return tableOf(t, "image_keyspace.device_daily_images", "device_id | text | partition_key", "day_bucket | date | partition_key",
		"capture_time | timestamp | clustering", "image_id | timeuuid | clustering", "width | int | regular", "height | int | regular",
		"content_hash | text | regular")
}

func tagTable(t testing.TB) Table {
	return tableOf(t, "image_keyspace.tag_image_index", "tag | text | partition_key", "day_bucket | date | partition_key",
		"capture_time | timestamp | clustering", "image_id | timeuuid | clustering", "device_id | text | regular")
}

// schemaOf returns the schema of records of columns of a table, among which writetime(c) and ttl(c) may be.
func schemaOf(t testing.TB, table Table, columns []string) *arrow.Schema {
	t.Helper()
	fields := make([]arrow.Field, len(columns))
	for i, name := range columns {
		typ := &cqltype.Type{Kind: cqltype.Bigint}
		if strings.HasPrefix(name, "ttl(") {
			typ = &cqltype.Type{Kind: cqltype.Int}
		}
		if at := slices.IndexFunc(table.Columns, func(c Column) bool { return c.Name == name }); at >= 0 {
			typ = table.Columns[at].Type
		}
		var err error
		if fields[i], err = typ.Field(name, true); err != nil {
			t.Fatal(err)
		}
	}
	return arrow.NewSchema(fields, nil)
}

// rows are values by column, nil for NULL: int64, float64, bool, string, []byte (also of uuid), time.Time, map[string]any, and []any for
// the fields of a UDT or tuple.
type rows []map[string]any

// record makes a record of rows.
func (rs rows) record(t testing.TB, mem memory.Allocator, schema *arrow.Schema) arrow.Record {
	t.Helper()
	b := array.NewRecordBuilder(mem, schema)
	defer b.Release()
	for _, r := range rs {
		for i, f := range schema.Fields() {
			appendGo(t, b.Field(i), r[f.Name])
		}
	}
	return b.NewRecord()
}

func appendGo(t testing.TB, b array.Builder, v any) {
	t.Helper()
	if v == nil {
		b.AppendNull()
		return
	}
	switch b := b.(type) {
	case *array.Int8Builder:
		b.Append(int8(v.(int64)))
	case *array.Int16Builder:
		b.Append(int16(v.(int64)))
	case *array.Int32Builder:
		b.Append(int32(v.(int64)))
	case *array.Int64Builder:
		b.Append(v.(int64))
	case *array.Float32Builder:
		b.Append(float32(v.(float64)))
	case *array.Float64Builder:
		b.Append(v.(float64))
	case *array.BooleanBuilder:
		b.Append(v.(bool))
	case *array.StringBuilder:
		b.Append(v.(string))
	case *array.BinaryBuilder:
		b.Append(v.([]byte))
	case *array.FixedSizeBinaryBuilder:
		b.Append(v.([]byte))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(v.(time.Time).UnixMilli()))
	case *array.Date32Builder:
		b.Append(arrow.Date32FromTime(v.(time.Time)))
	case *array.Time64Builder:
		b.Append(arrow.Time64(v.(int64)))
	case *array.MapBuilder:
		b.Append(true)
		m := v.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(m)) {
			appendGo(t, b.KeyBuilder(), parseCell(t, b.KeyBuilder().Type(), key))
			appendGo(t, b.ItemBuilder(), m[key])
		}
	case *array.StructBuilder:
		b.Append(true)
		for i, x := range v.([]any) {
			appendGo(t, b.FieldBuilder(i), x)
		}
	default:
		t.Fatalf("no values for %s", b.Type())
	}
}

// parseCell reads a cell of a table in a test's data as a value of an Arrow type.
func parseCell(t testing.TB, typ arrow.DataType, cell string) any {
	t.Helper()
	if cell == "NULL" {
		return nil
	}
	must := func(v any, err error) any {
		t.Helper()
		if err != nil {
			t.Fatalf("cell %q of type %s: %v", cell, typ, err)
		}
		return v
	}
	inside := func(s string) []string {
		var parts []string
		for part := range strings.SplitSeq(s[1:len(s)-1], ",") {
			if part = strings.TrimSpace(part); part != "" {
				parts = append(parts, part)
			}
		}
		return parts
	}
	switch typ := typ.(type) {
	case *arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type, *arrow.Time64Type:
		return must(strconv.ParseInt(cell, 10, 64))
	case *arrow.Float32Type, *arrow.Float64Type:
		return must(strconv.ParseFloat(cell, 64))
	case *arrow.BooleanType:
		return must(strconv.ParseBool(cell))
	case *arrow.StringType:
		return strings.Trim(cell, "'")
	case *arrow.BinaryType:
		return must(hex.DecodeString(strings.TrimPrefix(cell, "0x")))
	case *arrow.FixedSizeBinaryType:
		u := must(uuid.Parse(cell)).(uuid.UUID)
		return u[:]
	case *arrow.TimestampType:
		return must(time.Parse("2006-01-02T15:04:05.999Z", cell))
	case *arrow.Date32Type:
		return must(time.Parse(time.DateOnly, cell))
	case *arrow.MapType:
		m := map[string]any{}
		for _, part := range inside(cell) {
			k, v, _ := strings.Cut(part, ":")
			m[k] = parseCell(t, typ.ItemType(), strings.TrimSpace(v))
		}
		return m
	case *arrow.StructType:
		var fields []any
		for i, part := range inside(cell) {
			fields = append(fields, parseCell(t, typ.Field(i).Type, part))
		}
		return fields
	}
	t.Fatalf("no cells of type %s", typ)
	return nil
}

// cellText writes a value of a result so that NULL, empty text and numbers are told apart.
func cellText(a arrow.Array, i int) string {
	if a.IsNull(i) {
		return "NULL"
	}
	switch a := a.(type) {
	case *array.String:
		return "'" + a.Value(i) + "'"
	case *array.Binary:
		return "0x" + hex.EncodeToString(a.Value(i))
	case *array.Float64:
		return strconv.FormatFloat(a.Value(i), 'g', -1, 64)
	case *array.Float32:
		return strconv.FormatFloat(float64(a.Value(i)), 'g', -1, 32)
	case *array.Timestamp:
		return a.Value(i).ToTime(arrow.Microsecond).Format("2006-01-02T15:04:05.999")
	}
	return a.ValueStr(i)
}

// outcome is the result of a query.
type outcome struct {
	tables map[string][]string // rows by table
	bytes  []byte              // everything, in the order in which it came
}

func (o *outcome) sink(t testing.TB, q *Query) Sink {
	o.tables = map[string][]string{}
	byDay := map[string]bool{}
	for _, table := range q.Tables() {
		byDay[table.Name] = table.ByDay
	}
	return func(table string, day *arrow.Date32, rec arrow.Record) error {
		if rec.NumRows() == 0 || rec.NumRows() > recordRows {
			t.Errorf("record of %d rows", rec.NumRows())
		}
		for i := range int(rec.NumRows()) {
			cells := make([]string, rec.NumCols())
			for c := range cells {
				cells[c] = cellText(rec.Column(c), i)
			}
			of := "NULL"
			if day != nil {
				of = day.FormattedString()
			}
			if byDay[table] && of != cells[0] || !byDay[table] && day != nil {
				t.Errorf("row of day %s among those of %s", cells[0], of)
			}
			o.tables[table] = append(o.tables[table], strings.Join(cells, " | "))
		}
		b := bytes.NewBufferString(table + "\n")
		w := ipc.NewWriter(b, ipc.WithSchema(rec.Schema()))
		if err := w.Write(rec); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		o.bytes = append(o.bytes, b.Bytes()...)
		return nil
	}
}

// splitOf returns a split whose ID sorts by n.
func splitOf(n int) tokenrange.Split { return tokenrange.Split{ID: fmt.Sprintf("%08x", n)} }

// plan says how a query is run.
type plan struct {
	memory  int64
	splits  [][]rows // records of each split
	order   []int    // of the splits when they are finished, nil for that of splits
	attempt bool     // every split is written in vain first, and then something else for it
}

// run runs a query and fails unless all memory and all temporary files are given back.
func (p plan) run(t testing.TB, q *Query, table Table) (outcome, error) {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	temp := t.TempDir()
	a, err := New(q, Options{Dir: t.TempDir(), TempDir: temp, Memory: p.memory})
	if err != nil {
		t.Fatal(err)
	}
	schema := schemaOf(t, table, q.Columns())
	var parts []*Part
	for i, records := range p.splits {
		if p.attempt {
			writePart(t, mem, a, i, schema, records).Abort()
			if err := writePart(t, mem, a, i, schema, nil).Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		parts = append(parts, writePart(t, mem, a, i, schema, records))
	}
	ids := make([]string, len(parts))
	for i, part := range parts {
		if err := part.Commit(t.Context()); err != nil {
			return outcome{}, err
		}
		ids[i] = splitOf(i).ID
	}
	for i, at := range p.order {
		ids[i] = splitOf(at).ID
	}
	var o outcome
	err = a.Finish(t.Context(), ids, o.sink(t, q))
	if left := filesIn(t, temp); len(left) > 0 {
		t.Errorf("temporary files are left: %v", left)
	}
	if n := a.open.Load(); n != 0 {
		t.Errorf("%d parts are open", n)
	}
	if n := mem.CurrentAlloc(); n != 0 {
		t.Errorf("%d bytes of records are not released", n)
	}
	return o, err
}

func writePart(t testing.TB, mem memory.Allocator, a *Aggregation, split int, schema *arrow.Schema, records []rows) *Part {
	t.Helper()
	part, err := a.Begin(t.Context(), splitOf(split))
	if err != nil {
		t.Fatal(err)
	}
	for _, rs := range records {
		rec := rs.record(t, mem, schema)
		err := part.Write(t.Context(), rec)
		rec.Release()
		if err != nil {
			t.Fatal(err)
		}
	}
	return part
}
