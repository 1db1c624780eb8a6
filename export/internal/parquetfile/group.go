package parquetfile

import (
	"reflect"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding"
)

// group is a Parquet group whose fields keep their order. The group of
// parquet-go sorts fields by name, but the order of columns is part of what a
// table looks like.
type group struct{ fields []parquet.Field }

func (g *group) ID() int                     { return 0 }
func (g *group) String() string              { return "group" }
func (g *group) Type() parquet.Type          { return parquet.Group{}.Type() }
func (g *group) Optional() bool              { return false }
func (g *group) Repeated() bool              { return false }
func (g *group) Required() bool              { return true }
func (g *group) Leaf() bool                  { return false }
func (g *group) Fields() []parquet.Field     { return g.fields }
func (g *group) Encoding() encoding.Encoding { return nil }
func (g *group) Compression() compress.Codec { return nil }

// GoType gives the empty struct: rows are never read into Go values, and column
// names need not be names of Go.
func (g *group) GoType() reflect.Type { return reflect.TypeFor[struct{}]() }

// groupField is a named node of a group.
type groupField struct {
	parquet.Node
	name string
}

func (f *groupField) Name() string { return f.name }

// Value is part of parquet.Field for rows that are Go values, which are never used here.
func (f *groupField) Value(base reflect.Value) reflect.Value { return base }

var (
	_ parquet.Node  = (*group)(nil)
	_ parquet.Field = (*groupField)(nil)
)
