package textfile

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"manifest/export/internal/arrowtest"
	"manifest/export/internal/textvalue"
)

func writeAll(t interface{ Fatal(...any) }, format Format, opts Options, recs ...arrow.Record) []byte {
	var out bytes.Buffer
	w, err := NewWriter(&out, format, recs[0].Schema(), opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range recs {
		if err := w.Write(rec); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func texts(names []string, rows ...[]any) arrow.Record {
	var fields []arrow.Field
	for _, n := range names {
		fields = append(fields, arrow.Field{Name: n, Type: arrow.BinaryTypes.String, Nullable: true})
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for _, row := range rows {
		for i, v := range row {
			if v == nil {
				b.Field(i).AppendNull()
			} else {
				b.Field(i).(*array.StringBuilder).Append(v.(string))
			}
		}
	}
	return b.NewRecord()
}

func TestCSV(t *testing.T) {
	rec := texts([]string{"a", "b,c"}, []any{"x", nil}, []any{nil, ""}, []any{`\N`, "say \"hi\", ok\r\n"}, []any{" 叶 ", "'"})
	one := texts([]string{"a"}, []any{nil}, []any{""}, []any{`\N`})
	for _, tt := range []struct {
		name string
		rec  arrow.Record
		opts Options
		want string
	}{
		{"default", rec, Options{}, "a,\"b,c\"\nx,\n,\"\"\n\\N,\"say \"\"hi\"\", ok\r\n\"\n 叶 ,'\n"},
		{"null text", rec, Options{NullText: `\N`}, "a,\"b,c\"\nx,\\N\n\\N,\n\"\\N\",\"say \"\"hi\"\", ok\r\n\"\n 叶 ,'\n"},
		{"one column", one, Options{}, "a\n\\N\n\n\"\\N\"\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := string(Header(CSV, tt.rec.Schema(), tt.opts)) + string(writeAll(t, CSV, tt.opts, tt.rec))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestJSONLines(t *testing.T) {
	rec := texts([]string{"a", "b\""}, []any{"x\n", nil}, []any{"", `\N`})
	want := `{"a":"x\n","b\"":null}` + "\n" + `{"a":"","b\"":"\\N"}` + "\n"
	if got := string(writeAll(t, JSONLines, Options{}, rec)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if h := Header(JSONLines, rec.Schema(), Options{}); h != nil {
		t.Errorf("header is %q", h)
	}
}

// The standard library reads the same cells from CSV, and the same values from
// JSON lines, for any schema.
func TestReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schema := arrowtest.Schema(t)
		rec := arrowtest.Record(t, memory.DefaultAllocator, schema, rapid.IntRange(1, 10).Draw(t, "rows"))
		defer rec.Release()
		opts := Options{NullText: rapid.SampledFrom([]string{`\N`, "NULL", "1"}).Draw(t, "null text")}

		reader := csv.NewReader(bytes.NewReader(append(Header(CSV, schema, opts), writeAll(t, CSV, opts, rec)...)))
		reader.FieldsPerRecord = schema.NumFields()
		lines, err := reader.ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		objects := json.NewDecoder(bytes.NewReader(writeAll(t, JSONLines, opts, rec)))
		skipped := 0
		for i := range int(rec.NumRows()) {
			var object map[string]json.RawMessage
			if err := objects.Decode(&object); err != nil {
				t.Fatal(err)
			}
			var cells []string
			for c, col := range rec.Columns() {
				enc, err := textvalue.NewEncoder(col.DataType(), textvalue.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if got, want := string(object[schema.Field(c).Name]), string(enc.AppendJSON(nil, col, i)); got != want {
					t.Fatalf("row %d, column %d is %s in JSON, want %s", i, c, got, want)
				}
				cell := opts.NullText
				if col.IsValid(i) {
					cell = strings.ReplaceAll(string(enc.AppendPlain(nil, col, i)), "\r\n", "\n") // as encoding/csv does
				}
				cells = append(cells, cell)
			}
			if len(cells) == 1 && cells[0] == "" {
				skipped++ // encoding/csv skips empty lines
				continue
			}
			if diff := cmp.Diff(cells, lines[1+i-skipped]); diff != "" {
				t.Fatalf("row %d (-want +got):\n%s", i, diff)
			}
		}
		if err := objects.Decode(new(any)); !errors.Is(err, io.EOF) {
			t.Fatalf("after the last line: %v", err)
		}
		if len(lines) != 1+int(rec.NumRows())-skipped {
			t.Fatalf("%d lines for %d rows", len(lines), rec.NumRows())
		}
	})
}

// Rows are found and counted whatever pieces the text comes in.
func TestSplitter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.IntRange(0, 20).Draw(t, "rows")
		var lines [][]byte
		for range rows {
			cell := rapid.SampledFrom([]any{nil, "", "\n", "\"", "\"\n\"", "x", "a,\nb\""})
			rec := texts([]string{"a", "b"}, []any{cell.Draw(t, "a"), cell.Draw(t, "b")})
			lines = append(lines, writeAll(t, CSV, Options{}, rec))
		}
		text := bytes.Join(lines, nil)
		ends := map[int]bool{}
		at := 0
		for _, l := range lines {
			at += len(l)
			ends[at] = true
		}
		s := Splitter{Format: CSV}
		total := int64(0)
		for at = 0; at < len(text); {
			piece := text[at:min(len(text), at+rapid.IntRange(1, 12).Draw(t, "piece"))]
			least := rapid.Int64Range(0, 12).Draw(t, "min")
			n, got, end := s.Next(piece, least)
			if end && (!ends[at+n] || int64(n) < least) {
				t.Fatalf("stopped %d bytes into %q, which is no end", n, piece)
			}
			if !end && n != len(piece) {
				t.Fatalf("stopped at %d of %q for nothing", n, piece)
			}
			for k := 1; k < n; k++ {
				if ends[at+k] && int64(k) >= least {
					t.Fatalf("went past the end at %d of %q", k, piece)
				}
			}
			at += n
			total += got
		}
		if total != int64(rows) {
			t.Fatalf("%d rows, counted %d", rows, total)
		}
	})
}

func TestNullTextThatCannotBe(t *testing.T) {
	for _, null := range []string{"a,b", "\n", `"`} {
		if _, err := NewWriter(io.Discard, CSV, texts([]string{"a", "b"}).Schema(), Options{NullText: null}); err == nil {
			t.Errorf("null text %q is accepted", null)
		}
	}
}

func TestColumnsWithoutTextAreNamed(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "ok", Type: arrow.BinaryTypes.String}, {Name: "bad", Type: arrow.Null}}, nil)
	_, err := NewWriter(io.Discard, JSONLines, schema, Options{})
	if !errors.Is(err, textvalue.ErrType) || !strings.Contains(err.Error(), `"bad"`) {
		t.Errorf("error is %v", err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriteErrorsComeOut(t *testing.T) {
	rec := texts([]string{"a", "b"}, []any{"x", "y"})
	w, err := NewWriter(failing{}, CSV, rec.Schema(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(rec); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close(); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("error is %v", err)
	}
}

func BenchmarkWrite(b *testing.B) {
	var rows [][]any
	for i := range 5000 {
		rows = append(rows, []any{fmt.Sprintf("550e8400-e29b-41d4-a716-%012d", i), "s3://bucket", fmt.Sprintf("2025/06/01/device-%d/%d.jpg", i%70, i)})
	}
	rec := texts([]string{"image_id", "object_store", "object_key"}, rows...)
	for name, format := range map[string]Format{"csv": CSV, "jsonl": JSONLines} {
		b.Run(name, func(b *testing.B) {
			w, err := NewWriter(io.Discard, format, rec.Schema(), Options{})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				if err := w.Write(rec); err != nil {
					b.Fatal(err)
				}
				n += 5000
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
