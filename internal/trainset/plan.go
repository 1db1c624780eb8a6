package trainset

import (
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"manifest/internal/accesspath"
	"manifest/internal/cqltype"
	"manifest/internal/schema"
	"manifest/internal/selection"
)

// Read is a table that is to be scanned, and the columns that are of use.
type Read struct {
	Role    Role
	Table   *schema.Table
	Columns []string
	// Rows that are of use; the caller need not leave out others, a Gatherer does.
	Rows selection.Condition
	// OfCandidates tells that only the rows of candidates are of use, so that it is read when these are known.
	OfCandidates bool

	key, tag int   // places of the id of the image, and of the tag or -1
	cells    []int // places of the columns that are kept
	filter   *selection.Filter
	keys     *selection.Filter // what the partition key alone decides; nil if that is nothing
}

// Plan is a Spec that is checked against the tables. It does not change, and may be used concurrently.
type Plan struct {
	spec  Spec
	base  Role
	reads []*Read

	// bySample tells that gathered rows are sorted by the sample hashes of their images and not by their tokens: nothing is joined with
	// them that comes in the order of tokens, and what is asked for is in this order.
	bySample bool

	joined []joinedColumn // the cells of a joined row, in order
	schema *arrow.Schema  // of joined rows
	where  *selection.Filter
	status int // cell of the review status; -1 where nobody looks at it

	output  []outputColumn
	hash    *accessor // content hash; nil where it is not needed
	time    *accessor // capture time
	groupBy []accessor
	balance []accessor
	caps    []accessor
	uri     []uriPart
}

// joinedColumn is a column of joined rows, and where its cell comes from.
type joinedColumn struct {
	name string
	typ  *cqltype.Type
	role Role // empty for the id and the tags
	from int  // cell of a gathered row of that role
}

// The first cells of every joined row.
const (
	idCell   = 0
	tagsCell = 1
)

// NewPlan checks a spec against tables. All that is wrong is reported at once.
func NewPlan(spec Spec, tables Tables) (*Plan, error) {
	p := &Plan{spec: spec.withDefaults(), status: -1}
	if err := p.chooseBase(tables); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSpec, err)
	}
	b := &planner{plan: p, tables: tables}
	b.list()
	if err := b.resolve(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSpec, err)
	}
	if err := b.makeReads(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSpec, err)
	}
	return p, nil
}

// Reads lists the tables in the order in which they are to be read.
func (p *Plan) Reads() []*Read { return p.reads }

// Base is the role whose rows name the images.
func (p *Plan) Base() Role { return p.base }

// chooseBase says whose rows name the images: those of the tag index if every wanted image has a tag that is known, else those of the
// device index.
func (p *Plan) chooseBase(tables Tables) error {
	p.base = Devices
	if p.spec.Tags != nil {
		if tables[Tags] == nil {
			return errors.New("tags are looked for in the tag index, and there is no such table")
		}
		if _, found := p.spec.Tags.Tags(); found {
			p.base = Tags
		}
	}
	if tables[p.base] == nil {
		p.base = Metadata
	}
	if tables[p.base] == nil {
		return fmt.Errorf("neither %s nor %s is a table", Devices, Metadata)
	}
	return nil
}

// planner resolves names.
type planner struct {
	plan   *Plan
	tables Tables
	// available are all columns that a joined row could have, needed those that it has.
	available []joinedColumn
	needed    map[string]bool
}

// roles are those whose columns joined rows may have, in the order of precedence.
func (b *planner) roles() []Role {
	if b.plan.base == Metadata {
		return []Role{Metadata, Reviews}
	}
	return []Role{b.plan.base, Metadata, Reviews}
}

// list finds the available columns.
func (b *planner) list() {
	b.needed = map[string]bool{}
	text := &cqltype.Type{Kind: cqltype.Text}
	b.available = []joinedColumn{{name: "image_id"}, {name: "tags", typ: &cqltype.Type{Kind: cqltype.Set, Elems: []*cqltype.Type{text}}}}
	for _, r := range b.roles() {
		if b.tables[r] == nil {
			continue
		}
		for _, c := range b.tables[r].Columns {
			name := b.plan.spec.standard(r, c.Name)
			if name == "image_id" && b.available[idCell].typ == nil {
				b.available[idCell].typ = c.Type
			}
			if name == "tag" || b.find(name) >= 0 {
				continue
			}
			b.available = append(b.available, joinedColumn{name: name, typ: c.Type, role: r})
		}
	}
}

func (b *planner) find(name string) int {
	return slices.IndexFunc(b.available, func(c joinedColumn) bool { return c.name == name })
}

// need notes that joined rows have a column.
func (b *planner) need(name string) error {
	if b.find(name) < 0 {
		return &schema.ColumnError{Table: "the joined tables", Column: name, Reason: schema.ErrNoColumn, Known: b.names()}
	}
	b.needed[name] = true
	return nil
}

func (b *planner) names() []string {
	var names []string
	for _, c := range b.available {
		names = append(names, c.name)
	}
	return names
}

// place keeps the needed columns and gives each its cell.
func (p *Plan) place(b *planner) error {
	p.joined = slices.Clone(b.available[:2])
	for _, c := range b.available[2:] {
		if b.needed[c.name] {
			p.joined = append(p.joined, c)
		}
	}
	var fields []arrow.Field
	for _, c := range p.joined {
		f, err := c.typ.Field(c.name, true)
		if err != nil {
			return fmt.Errorf("column %s: %w", c.name, err)
		}
		fields = append(fields, f)
	}
	p.schema = arrow.NewSchema(fields, nil)
	return nil
}

// cell is the place of a column in joined rows.
func (p *Plan) cell(name string) int {
	return slices.IndexFunc(p.joined, func(c joinedColumn) bool { return c.name == name })
}

// makeReads lists what is read of each table.
func (b *planner) makeReads() error {
	p := b.plan
	wanted := func(r Role) (columns []string) {
		for i := range p.joined {
			if c := &p.joined[i]; c.role == r {
				columns = append(columns, p.spec.column(r, c.name))
				c.from = len(columns) - 1
			}
		}
		return columns
	}
	var errs []error
	add := func(r Role, rows selection.Condition, ofCandidates bool) {
		read, err := b.newRead(r, wanted(r), rows, ofCandidates)
		errs = append(errs, err)
		p.reads = append(p.reads, read)
	}
	if p.spec.Tags != nil {
		rows, err := b.indexRows(Tags)
		errs = append(errs, err)
		add(Tags, rows, false)
	}
	if p.base != Tags {
		rows, err := b.indexRows(p.base)
		errs = append(errs, err)
		add(p.base, rows, false)
		slices.Reverse(p.reads) // the base comes first
	}
	for _, r := range []Role{Metadata, Reviews} {
		if r != p.base && slices.ContainsFunc(p.joined, func(c joinedColumn) bool { return c.role == r }) {
			add(r, selection.Condition{}, true)
		}
	}
	p.bySample = len(p.reads) == 1 && p.spec.Order == ByHash
	return errors.Join(errs...)
}

func (b *planner) newRead(r Role, columns []string, rows selection.Condition, ofCandidates bool) (*Read, error) {
	t := b.tables[r]
	read := &Read{Role: r, Table: t, Rows: rows, OfCandidates: ofCandidates, tag: -1}
	id := b.plan.spec.column(r, "image_id")
	c, ok := t.Column(id)
	if !ok {
		return nil, fmt.Errorf("%s has no column %s", t, id)
	}
	if err := checkID(c.Type, b.plan.joined[idCell].typ); err != nil {
		return nil, fmt.Errorf("%s: %w", t, err)
	}
	if r == Metadata || r == Reviews {
		if keys := t.OfKind(schema.PartitionKey); len(keys) != 1 || keys[0].Name != id || len(t.OfKind(schema.Clustering)) > 0 {
			return nil, fmt.Errorf("the key of %s is not %s alone", t, id)
		}
	}
	read.Columns = []string{id}
	if r == Tags {
		read.tag = 1
		read.Columns = append(read.Columns, b.plan.spec.column(r, "tag"))
	}
	for _, name := range columns {
		read.cells = append(read.cells, len(read.Columns))
		read.Columns = append(read.Columns, name)
	}
	var known []selection.Column
	for _, c := range t.Columns {
		known = append(known, selection.Column{Name: c.Name, Type: c.Type})
	}
	filter, err := selection.Compile(rows, known)
	if err != nil {
		return nil, fmt.Errorf("rows of %s: %w", t, err)
	}
	read.filter = filter
	if read.keys, err = accesspath.KeyFilter(t, rows); err != nil {
		return nil, err
	}
	for _, name := range filter.Columns() {
		if !slices.Contains(read.Columns, name) {
			read.Columns = append(read.Columns, name)
		}
	}
	return read, nil
}

// KeyFilter is what the partition key alone decides of the rows that are of use; nil if that is nothing.
func (r *Read) KeyFilter() *selection.Filter { return r.keys }

// checkID refuses ids that are of different types in two tables, or whose bytes in records are not those of keys.
func checkID(t, other *cqltype.Type) error {
	switch t.Kind {
	case cqltype.UUID, cqltype.Timeuuid, cqltype.Text, cqltype.Ascii:
	default:
		return fmt.Errorf("ids of images of type %s are not supported", t)
	}
	if t.Kind != other.Kind {
		return fmt.Errorf("ids of images are %s here and %s elsewhere", t, other)
	}
	return nil
}

// indexRows is the condition on the rows of an index table.
func (b *planner) indexRows(r Role) (selection.Condition, error) {
	s, t := b.plan.spec, b.tables[r]
	var conditions []selection.Condition
	var errs []error
	add := func(c selection.Condition, err error) {
		conditions, errs = append(conditions, c), append(errs, err)
	}
	if s.From != nil || s.To != nil {
		day := s.column(r, "day_bucket")
		if _, ok := t.Column(day); !ok {
			day = s.column(r, "capture_time")
		}
		add(selection.Days(selection.Quote(day), s.From, s.To))
	}
	if r == Tags {
		add(selection.In(selection.Quote(s.column(r, "tag")), patterns(s.Tags.Mentioned())))
	}
	if device := s.column(r, "device_id"); len(s.Devices) > 0 {
		if _, ok := t.Column(device); ok {
			add(selection.In(selection.Quote(device), s.Devices))
		}
	}
	return selection.All(conditions...), errors.Join(errs...)
}

// patterns gives values that selection.In reads as these.
func patterns(all []selection.Pattern) []string {
	var values []string
	for _, p := range all {
		if p.Glob {
			values = append(values, p.Text)
		} else {
			values = append(values, selection.EscapeGlob(p.Text))
		}
	}
	return values
}
