package cql

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/gocql/gocql"

	"manifest/internal/recycle"
)

// A consumer may keep a record; the pages after it must not touch its memory.
func TestARetainedRecordStaysAsItWas(t *testing.T) {
	p, cells := imagePage(t)
	r, err := newRows(p, recycle.New())
	if err != nil {
		t.Fatal(err)
	}
	defer r.release()
	page := func(rows int, width byte) arrow.Record {
		r.prepare(rows)
		cells[8] = []byte{0, 0, 0, width}
		for range rows {
			for i, d := range r.dest {
				if err := d.(gocql.Unmarshaler).UnmarshalCQL(nil, cells[i]); err != nil {
					t.Fatal(err)
				}
			}
		}
		return r.record()
	}
	kept := page(100, 7)
	defer kept.Release()
	before, err := kept.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	for n := range 5 {
		page(1+n*70, byte(n)).Release()
	}
	after, err := kept.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if string(before) != string(after) {
		t.Error("the record changed while later pages were decoded")
	}
}
