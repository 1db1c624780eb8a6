package trainset

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"manifest/internal/cqltype"
	"manifest/internal/rowform"
	"manifest/internal/sampling"
)

// madeColumns are the columns of the files that no table has.
var madeColumns = []string{"split", "group_id", "dup_count", "sample_hash", "weight"}

// outputColumn is a column of the files.
type outputColumn struct {
	field arrow.Field
	accessor
	made string // name of a column that the pipeline makes, or uri
}

// makeOutput makes the columns of the files.
func (b *planner) makeOutput(columns []string) error {
	p := b.plan
	for _, name := range columns {
		c, err := b.outputColumn(name)
		if err != nil {
			return fmt.Errorf("column %s: %w", name, err)
		}
		p.output = append(p.output, c)
	}
	return nil
}

func (b *planner) outputColumn(name string) (outputColumn, error) {
	c := outputColumn{made: name}
	typ, nullable := &cqltype.Type{Kind: cqltype.Text}, false
	switch name {
	case "split":
	case "group_id", "sample_hash":
		typ = &cqltype.Type{Kind: cqltype.Bigint}
	case "dup_count":
		typ = &cqltype.Type{Kind: cqltype.Int}
	case "weight":
		typ = &cqltype.Type{Kind: cqltype.Float}
	case "uri":
		nullable = true
		if err := b.makeURI(); err != nil {
			return c, err
		}
	default:
		c.made = ""
		column, a := b.access(name)
		if name == "tags" {
			a.first = false // all of them
		}
		a.cell = b.plan.cell(column)
		a.typ = b.plan.schema.Field(a.cell).Type
		c.accessor = a
		nullable = name != "image_id" && name != "tags"
		switch {
		case a.day:
			typ = &cqltype.Type{Kind: cqltype.Date}
		case !a.ofMap && !a.first:
			typ = b.plan.joined[a.cell].typ
		}
	}
	f, err := typ.Field(name, nullable)
	if name == "tags" {
		// The tables' own lists come as they are; of this one it is known that no tag is null.
		f.Type = arrow.ListOfField(arrow.Field{Name: "element", Type: arrow.BinaryTypes.String})
	}
	c.field = f
	return c, err
}

func (b *planner) makeURI() error {
	parts, err := parseURI(b.plan.spec.URI)
	if err != nil {
		return err
	}
	for i := range parts {
		if parts[i].column == "" {
			continue
		}
		if parts[i].accessor, err = b.accessor(parts[i].column); err != nil {
			return err
		}
	}
	b.plan.uri = parts
	return nil
}

// Schema is that of the rows of the files, before they are shaped.
func (p *Plan) Schema() *arrow.Schema {
	var fields []arrow.Field
	for _, c := range p.output {
		fields = append(fields, c.field)
	}
	return arrow.NewSchema(fields, nil)
}

// HasColumn tells whether the files have a column.
func (p *Plan) HasColumn(name string) bool {
	return slices.ContainsFunc(p.output, func(c outputColumn) bool { return c.field.Name == name })
}

// buildRow appends a row of the files.
func (p *Plan) buildRow(b *array.RecordBuilder, cells [][]byte, d sampling.Decision, split string, buf []byte) ([]byte, error) {
	var day [4]byte
	for i, c := range p.output {
		to := b.Field(i)
		switch c.made {
		case "":
			content, err := c.content(cells, &day)
			if err != nil {
				return buf, fmt.Errorf("column %s: %w", c.field.Name, err)
			}
			if err := rowform.Build(to, content); err != nil {
				return buf, fmt.Errorf("column %s: %w", c.field.Name, err)
			}
		case "uri":
			var ok bool
			var err error
			if buf, ok, err = p.appendURI(buf[:0], cells); err != nil {
				return buf, err
			}
			if !ok {
				to.AppendNull()
			} else {
				to.(*array.StringBuilder).BinaryBuilder.Append(buf)
			}
		case "split":
			to.(*array.StringBuilder).Append(split)
		case "group_id":
			to.(*array.Int64Builder).Append(d.Group)
		case "sample_hash":
			to.(*array.Int64Builder).Append(d.SampleHash)
		case "dup_count":
			to.(*array.Int32Builder).Append(int32(d.Duplicates))
		case "weight":
			to.(*array.Float32Builder).Append(d.Weight)
		}
	}
	return buf, nil
}
