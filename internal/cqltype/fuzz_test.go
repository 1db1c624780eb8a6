package cqltype

import (
	"encoding/hex"
	"errors"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// slots returns how many leaf values Arrow may keep for one element of a column of t.
func slots(t *Type) int {
	n := 1
	for _, e := range t.Elems {
		n += slots(e)
	}
	if t.Kind == Vector {
		n *= t.Size
	}
	return n
}

// Whatever the bytes, a column grows by one element a value, stays sound, and takes memory in proportion to the bytes.
func FuzzAppend(f *testing.F) {
	for _, row := range readGolden(f, "values.tsv", 3) {
		raw, err := hex.DecodeString(row[1])
		if err != nil {
			f.Fatal(err)
		}
		f.Add(row[0], raw)
	}
	f.Add("map<int, frozen<list<vector<text, 3>>>>", []byte("\x7f\xff\xff\xff\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, text string, raw []byte) {
		typ, err := Parse(text, testUDTs)
		if err != nil {
			return
		}
		width := slots(typ)
		if width > 1000 || len(raw) > 1<<16 {
			return // slow, and the bound below would be loose
		}
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		defer mem.AssertSize(t, 0)
		dt, err := typ.Arrow()
		if err != nil {
			t.Fatal(err)
		}
		b := array.NewBuilder(mem, dt)
		defer b.Release()
		a, err := NewAppender(typ, b)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Append(nil); err != nil {
			t.Fatal(err)
		}
		empty := mem.CurrentAlloc()
		var decode *DecodeError
		if err := a.Append(raw); err != nil && !errors.As(err, &decode) {
			t.Errorf("error of no class: %v", err)
		}
		// A NULL inside takes four bytes and may stand for a whole struct or vector; a slot takes up to 16 bytes and its bits; builders double.
		if got, limit := mem.CurrentAlloc()-empty, 64*(width*(len(raw)/4+1)+len(raw))+4096*width; got > limit {
			t.Errorf("%s: %d bytes of input take %d of memory", typ, len(raw), got)
		}
		if err := a.Append(nil); err != nil {
			t.Errorf("after %x: %v", raw, err)
		}
		arr := b.NewArray()
		defer arr.Release()
		if arr.Len() != 3 || !arr.IsNull(0) || !arr.IsNull(2) {
			t.Errorf("column of %d elements after NULL, %x, NULL", arr.Len(), raw)
		}
		checkLengths(t, arr)
	})
}
