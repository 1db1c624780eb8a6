package trainset

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"manifest/internal/cqltype"
	"manifest/internal/rowform"
	"manifest/internal/schema"
	"manifest/internal/selection"
)

// resolve finds the columns that everything asked for needs, and what is made of them.
func (b *planner) resolve() error {
	p, s := b.plan, b.plan.spec
	var errs []error
	fail := func(what string, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", what, err))
		}
	}
	columns := s.Columns
	if len(columns) == 0 {
		columns = b.defaultColumns()
	}
	fail("columns", b.needOutput(columns))
	if s.URI != defaultURI {
		fail("uri", b.needOutputColumn("uri", true))
	}
	condition, err := b.condition()
	fail("condition", err)
	fail("condition", b.compile(condition))
	for _, list := range []struct {
		what    string
		columns []string
	}{{"group by", s.GroupBy}, {"balance", s.Balance}, {"max per", capColumns(s.Caps)}} {
		for _, c := range list.columns {
			fail(list.what, b.needAccess(c))
		}
	}
	if !s.NoDedupe || len(s.Splits) > 1 {
		fail("content hash", b.need("content_hash"))
	}
	if !s.NoDedupe || s.Order == ByTime {
		fail("capture time", b.need("capture_time"))
	}
	if !s.AnyStatus {
		fail("status", b.need("status"))
	}
	if s.Order != ByHash && s.Order != ByTime {
		errs = append(errs, fmt.Errorf("order %q is not %s or %s", s.Order, ByHash, ByTime))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := p.place(b); err != nil {
		return err
	}
	return b.makeAccessors(columns)
}

// condition is that on joined rows: what the index tables can't say.
func (b *planner) condition() (selection.Condition, error) {
	s := b.plan.spec
	conditions := []selection.Condition{s.Where}
	var errs []error
	if len(s.Devices) > 0 {
		c, err := selection.In("device_id", s.Devices)
		conditions, errs = append(conditions, c), append(errs, err)
	}
	if len(s.Regions) > 0 {
		column, a := b.access("region")
		operand := selection.Quote(column)
		if a.ofMap {
			operand += "['" + strings.ReplaceAll(a.key, "'", "''") + "']"
		}
		c, err := selection.In(operand, s.Regions)
		conditions, errs = append(conditions, c), append(errs, err)
	}
	return selection.All(conditions...), errors.Join(errs...)
}

func (b *planner) compile(c selection.Condition) error {
	if c.String() == "" {
		return nil
	}
	var known []selection.Column
	for _, a := range b.available {
		known = append(known, selection.Column{Name: a.name, Type: a.typ})
	}
	filter, err := selection.Compile(c, known)
	if err != nil {
		return err
	}
	for _, name := range filter.Columns() {
		b.needed[name] = true
	}
	b.plan.where = filter
	return nil
}

func capColumns(caps []Cap) []string {
	var columns []string
	for _, c := range caps {
		columns = append(columns, c.Column)
	}
	return columns
}

// attrPrefix begins the names of columns that are entries of attributes.
const attrPrefix = "attr_"

// aliases are names that people say.
var aliases = map[string]string{"device": "device_id", "day": "capture_day", "group": "group_id", "review_status": "status"}

// access is what a name for grouping stands for: a column, with what is taken of it.
func (b *planner) access(name string) (column string, a accessor) {
	if to, ok := aliases[name]; ok {
		name = to
	}
	if mapped := b.plan.spec.Names[string(Metadata)+".region"]; name == "region" && mapped != "" {
		name = mapped
	}
	switch {
	case b.find(name) >= 0 && name != "tags":
		return name, accessor{}
	case name == "tag" || name == "tags":
		return "tags", accessor{first: true}
	case name == "capture_day":
		return "capture_time", accessor{day: true}
	case name == "region":
		return "attributes", accessor{key: name, ofMap: true}
	}
	if key, ok := strings.CutPrefix(name, attrPrefix); ok {
		return "attributes", accessor{key: key, ofMap: true}
	}
	if column, key, ok := strings.Cut(strings.TrimSuffix(name, "']"), "['"); ok {
		return b.plan.spec.standard(Metadata, column), accessor{key: key, ofMap: true}
	}
	return name, accessor{}
}

func (b *planner) needAccess(name string) error {
	column, _ := b.access(name)
	return b.need(column)
}

// accessor makes the accessor of a name, when cells are placed.
func (b *planner) accessor(name string) (accessor, error) {
	column, a := b.access(name)
	a.cell = b.plan.cell(column)
	typ := b.plan.joined[a.cell].typ
	a.typ = b.plan.schema.Field(a.cell).Type
	if a.ofMap && (typ.Kind != cqltype.Map || typ.Elems[0].Kind != cqltype.Text || typ.Elems[1].Kind != cqltype.Text) {
		return a, fmt.Errorf("%s is %s, not a map of text to text", column, typ)
	}
	if a.day && typ.Kind != cqltype.Timestamp {
		return a, fmt.Errorf("%s is %s, not a timestamp", column, typ)
	}
	if !a.ofMap && !a.first && !rowform.HasText(a.typ) {
		return a, fmt.Errorf("%s of type %s has no text by which rows could be told apart", column, typ)
	}
	return a, nil
}

func (b *planner) makeAccessors(columns []string) error {
	p, s := b.plan, b.plan.spec
	var errs []error
	list := func(names []string) (all []accessor) {
		for _, name := range names {
			a, err := b.accessor(name)
			errs = append(errs, err)
			all = append(all, a)
		}
		return all
	}
	p.groupBy, p.balance, p.caps = list(s.GroupBy), list(s.Balance), list(capColumns(s.Caps))
	if p.cell("content_hash") >= 0 {
		p.hash = &list([]string{"content_hash"})[0]
	}
	if c := p.cell("capture_time"); c >= 0 {
		if p.joined[c].typ.Kind != cqltype.Timestamp {
			errs = append(errs, fmt.Errorf("capture_time is %s, not a timestamp", p.joined[c].typ))
		}
		p.time = &list([]string{"capture_time"})[0]
	}
	if !s.AnyStatus {
		p.status = p.cell("status")
		if k := p.joined[p.status].typ.Kind; k != cqltype.Text && k != cqltype.Ascii {
			errs = append(errs, fmt.Errorf("status is %s, not text", p.joined[p.status].typ))
		}
	}
	errs = append(errs, b.makeOutput(columns))
	return errors.Join(errs...)
}

// standardColumns are those of a manifest, in order.
var standardColumns = []string{
	"image_id", "uri", "object_store", "object_key", "content_hash", "width", "height", "capture_time", "upload_time", "capture_day",
	"device_id", "tags", "attributes", "review_status", "reviewed_at", "split", "group_id", "dup_count", "sample_hash", "weight",
}

// defaultColumns are the standard columns that the tables can give.
func (b *planner) defaultColumns() []string {
	return slices.DeleteFunc(slices.Clone(standardColumns), func(name string) bool {
		if name == "review_status" && b.plan.spec.AnyStatus || name == "reviewed_at" && b.plan.spec.AnyStatus {
			return true
		}
		return !slices.Contains(madeColumns, name) && b.needOutputColumn(name, true) != nil
	})
}

// needOutput notes what the columns of the files need.
func (b *planner) needOutput(columns []string) error {
	var errs []error
	for i, name := range columns {
		if slices.Contains(columns[:i], name) {
			errs = append(errs, fmt.Errorf("column %s is there twice", name))
		}
		errs = append(errs, b.needOutputColumn(name, false))
	}
	return errors.Join(errs...)
}

// needOutputColumn finds out whether a column can be written, and notes what it needs unless it is only a try.
func (b *planner) needOutputColumn(name string, try bool) error {
	var columns []string
	switch {
	case slices.Contains(madeColumns, name):
		return nil
	case name == "uri":
		parts, err := parseURI(b.plan.spec.URI)
		if err != nil {
			return err
		}
		for _, part := range parts {
			if part.column != "" {
				columns = append(columns, part.column)
			}
		}
	default:
		column, _ := b.access(name)
		columns = []string{column}
	}
	for _, c := range columns {
		if b.find(c) < 0 {
			return &schema.ColumnError{Table: "the joined tables", Column: c, Reason: schema.ErrNoColumn, Known: append(b.names(), standardColumns...)}
		}
	}
	if !try {
		for _, c := range columns {
			b.needed[c] = true
		}
	}
	return nil
}
