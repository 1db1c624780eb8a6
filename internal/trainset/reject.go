package trainset

import (
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"manifest/internal/cqltype"
	"manifest/internal/rowform"
	"manifest/internal/tokensort"
)

// The reasons of rejects. A status is named behind reasonStatus: status_rejected, status_none.
const (
	ReasonNoMetadata  = "no_metadata"
	ReasonDuplicate   = "duplicate"
	ReasonPinnedApart = "pinned_apart"
	reasonStatus      = "status_"
)

// RejectSchema is that of the rows in rejects/, before they are shaped.
func (p *Plan) RejectSchema() (*arrow.Schema, error) {
	text := &cqltype.Type{Kind: cqltype.Text}
	var fields []arrow.Field
	for _, c := range []struct {
		name     string
		typ      *cqltype.Type
		nullable bool
	}{
		{"image_id", p.joined[idCell].typ, false}, {"reason", text, false}, {"duplicate_of", text, true}, {"review_status", text, true},
	} {
		f, err := c.typ.Field(c.name, c.nullable)
		if err != nil {
			return nil, err
		}
		fields = append(fields, f)
	}
	return arrow.NewSchema(fields, nil), nil
}

// reject keeps an image that is not in the dataset, with the reason.
func (b *Builder) reject(key, row []byte, reason string, duplicateOf []byte) error {
	cells, err := rowform.Cells(nil, row)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(b.counts.Rejected, func(s Stage) bool { return s.Name == reason })
	if i < 0 {
		i = len(b.counts.Rejected)
		b.counts.Rejected = append(b.counts.Rejected, Stage{Name: reason})
	}
	b.counts.Rejected[i].Images++
	value := appendCell(nil, cells[idCell])
	value = rowform.AppendContent(value, []byte(reason))
	value = appendCell(value, duplicateOf)
	var status []byte
	if b.plan.status >= 0 {
		status = cells[b.plan.status]
	}
	value = appendCell(value, status)
	return b.rejects.Add(append(tokensort.AppendText(nil, []byte(reason)), key...), value)
}

// rejectsInOrder sorts the counts by reason, so that they don't depend on who came first.
func (b *Builder) rejectsInOrder() {
	slices.SortFunc(b.counts.Rejected, func(a, c Stage) int { return strings.Compare(a.Name, c.Name) })
}
