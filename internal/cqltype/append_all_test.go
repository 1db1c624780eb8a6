package cqltype

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"pgregory.net/rapid"
)

// TestAppendAllIsAppendInTurn compares with values appended one by one: NULL and
// empty ones among them, and ones of a wrong length, at which both end.
func TestAppendAllIsAppendInTurn(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		typ := mustParse(rt, rapid.SampledFrom([]string{"int", "bigint", "counter", "timestamp", "date", "text", "uuid", "boolean"}).Draw(rt, "type"))
		n := rapid.IntRange(0, 20).Draw(rt, "values")
		values := make([][]byte, n)
		for i := range values {
			switch rapid.IntRange(0, 9).Draw(rt, "kind") {
			case 0:
			case 1:
				values[i] = []byte{}
			case 2:
				values[i] = rapid.SliceOfN(rapid.Byte(), 0, 17).Draw(rt, "bytes")
			default:
				values[i], _ = drawValue(rt, typ)
			}
		}
		together, inTurn := newColumn(rt, typ), newColumn(rt, typ)
		b := []byte{}
		spans := make([]Span, n)
		for i, v := range values {
			if spans[i] = NullSpan; v != nil {
				spans[i] = Span{uint32(len(b)), uint32(len(b) + len(v))}
				b = append(b, v...)
			}
		}
		failed, err := AppendAll(together.Appender, b, spans)
		for i, v := range values {
			if wantErr := inTurn.Append(v); wantErr != nil {
				if failed != i || fmt.Sprint(err) != fmt.Sprint(wantErr) {
					rt.Fatalf("%s: %v at %d, want %v at %d", typ, err, failed, wantErr, i)
				}
				break
			} else if err != nil && i == failed {
				rt.Fatalf("%s: %v at %d, want none", typ, err, i)
			}
		}
		if got, want := together.finish(rt), inTurn.finish(rt); !array.Equal(got, want) {
			rt.Fatalf("%s: %v, want %v", typ, got, want)
		}
	})
}
