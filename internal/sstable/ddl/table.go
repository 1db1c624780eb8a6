package ddl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"manifest/internal/cqltype"
	"manifest/internal/schema"
	"manifest/internal/sstable"
)

// table is a table as the statements so far have it.
type table struct {
	keyspace, name, id string
	view               bool
	columns            []column
	key, clustering    []string
	descending         map[string]bool
	dropped            []sstable.DroppedColumn
}

type column struct {
	name   string
	typ    *cqltype.Type
	static bool
}

func (t *table) column(name string) int {
	return slices.IndexFunc(t.columns, func(c column) bool { return c.name == name })
}

// schema gives the table in the form of package schema.
func (t *table) schema() sstable.Schema {
	s := &schema.Table{Keyspace: t.keyspace, Name: t.name, ID: t.id, View: t.view}
	position := func(name string) int { return max(slices.Index(t.key, name), slices.Index(t.clustering, name)) }
	for _, c := range t.columns {
		sc := schema.Column{Name: c.name, Kind: schema.Regular, Type: c.typ, Descending: t.descending[c.name]}
		switch {
		case slices.Contains(t.key, c.name):
			sc.Kind = schema.PartitionKey
		case slices.Contains(t.clustering, c.name):
			sc.Kind = schema.Clustering
		case c.static:
			sc.Kind = schema.Static
		}
		s.Columns = append(s.Columns, sc)
	}
	schema.Sort(s.Columns, position)
	return sstable.Schema{Table: s, Dropped: t.dropped}
}

// check errs where the primary key is not made of the table's columns.
func (p *parser) check(t *table) error {
	if len(t.key) == 0 {
		return p.errorf("%s.%s has no primary key", t.keyspace, t.name)
	}
	for _, n := range slices.Concat(t.key, t.clustering) {
		if t.column(n) < 0 {
			return p.errorf("%s.%s has no column %q, which its primary key names", t.keyspace, t.name, n)
		}
	}
	for n := range t.descending {
		if !slices.Contains(t.clustering, n) {
			return p.errorf("%s.%s is ordered by %q, which is no clustering column", t.keyspace, t.name, n)
		}
	}
	p.tables = append(p.tables, t)
	return nil
}

// createTable reads CREATE TABLE [IF NOT EXISTS] name (columns) [WITH options].
func (p *parser) createTable() error {
	if err := p.advance(); err != nil {
		return err
	}
	if err := p.ifNotExists(); err != nil {
		return err
	}
	t := &table{descending: map[string]bool{}}
	var err error
	if t.keyspace, t.name, err = p.qualified(); err != nil {
		return err
	}
	err = p.list(func() error {
		if p.is("primary") {
			return p.primaryKey(t)
		}
		return p.columnDefinition(t)
	})
	if err != nil {
		return err
	}
	if err := p.options(t); err != nil {
		return err
	}
	return p.check(t)
}

// columnDefinition reads name type [STATIC] [MASKED WITH ...] [PRIMARY KEY].
func (p *parser) columnDefinition(t *table) error {
	n, err := p.name()
	if err != nil {
		return err
	}
	if t.column(n) >= 0 {
		return p.errorf("column %q is defined twice", n)
	}
	c := column{name: n}
	if c.typ, err = p.typeOf(t.keyspace); err != nil {
		return err
	}
	if c.static, err = p.accept("static"); err != nil {
		return err
	}
	if p.is("masked") {
		if err := p.passTo(",", ")", "primary"); err != nil {
			return err
		}
	}
	t.columns = append(t.columns, c)
	if ok, err := p.accept("primary", "key"); !ok || err != nil {
		return err
	}
	t.key = []string{n}
	return nil
}

// endOfText stands for the end of the text among the stops of passTo.
const endOfText = ""

// passTo passes over everything up to one of the signs or words, outside of
// parentheses.
func (p *parser) passTo(stops ...string) error {
	for depth := 0; ; {
		switch {
		case p.now.kind == end && depth == 0 && slices.Contains(stops, endOfText):
			return nil
		case p.now.kind == end:
			return p.errorf("the statement has no end")
		case depth == 0 && slices.ContainsFunc(stops, p.is):
			return nil
		case p.is("("):
			depth++
		case p.is(")"):
			depth--
		}
		if err := p.advance(); err != nil {
			return err
		}
	}
}

// primaryKey reads PRIMARY KEY (a, b) or PRIMARY KEY ((a, b), c).
func (p *parser) primaryKey(t *table) error {
	if err := p.expect("primary", "key"); err != nil {
		return err
	}
	add := func(to *[]string) func() error {
		return func() error {
			n, err := p.name()
			*to = append(*to, n)
			return err
		}
	}
	first := true
	return p.list(func() error {
		if !first {
			return add(&t.clustering)()
		}
		first = false
		if p.is("(") {
			return p.list(add(&t.key))
		}
		return add(&t.key)()
	})
}

// options reads WITH option AND option ..., of which few matter.
func (p *parser) options(t *table) error {
	ok, err := p.accept("with")
	for ; ok && err == nil; ok, err = p.accept("and") {
		switch {
		case p.is("compact"):
			return p.compact(t)
		case p.is("clustering"):
			err = p.clusteringOrder(t)
		case p.is("id"):
			err = p.tableID(t)
		default:
			err = p.passTo("and", ";", endOfText)
		}
		if err != nil {
			return err
		}
	}
	return err
}

// tableID reads ID = uuid, which is no token of its own.
func (p *parser) tableID(t *table) error {
	if err := p.expect("id", "="); err != nil {
		return err
	}
	p.lexer.pos = p.now.start
	t.id = strings.ToLower(p.lexer.run(func(c byte) bool { return letter(c) || digit(c) || c == '-' }))
	return p.advance()
}

// clusteringOrder reads CLUSTERING ORDER BY (a DESC, b ASC).
func (p *parser) clusteringOrder(t *table) error {
	if err := p.expect("clustering", "order", "by"); err != nil {
		return err
	}
	return p.list(func() error {
		n, err := p.name()
		if err != nil {
			return err
		}
		if p.is("desc") {
			t.descending[n] = true
		} else if !p.is("asc") {
			return p.errorf("%q, want ASC or DESC", p.now.text)
		}
		return p.advance()
	})
}

// createView reads CREATE MATERIALIZED VIEW name AS SELECT columns FROM table
// WHERE ... PRIMARY KEY (...).
func (p *parser) createView() error {
	if err := p.expect("materialized", "view"); err != nil {
		return err
	}
	if err := p.ifNotExists(); err != nil {
		return err
	}
	t := &table{view: true, descending: map[string]bool{}}
	var err error
	if t.keyspace, t.name, err = p.qualified(); err != nil {
		return err
	}
	if err := p.expect("as", "select"); err != nil {
		return err
	}
	var names []string
	for !p.is("from") {
		if p.is("*") || p.is(",") {
			if err := p.advance(); err != nil {
				return err
			}
			continue
		}
		n, err := p.name()
		if err != nil {
			return err
		}
		names = append(names, n)
	}
	if err := p.expect("from"); err != nil {
		return err
	}
	keyspace, n, err := p.qualified()
	if err != nil {
		return err
	}
	base, err := p.find(keyspace, n)
	if err != nil {
		return err
	}
	for _, c := range base.columns {
		if len(names) == 0 || slices.Contains(names, c.name) {
			t.columns = append(t.columns, c)
		}
	}
	if err := p.passTo("primary"); err != nil {
		return err
	}
	if err := p.primaryKey(t); err != nil {
		return err
	}
	if err := p.options(t); err != nil {
		return err
	}
	return p.check(t)
}

// alterTable reads ALTER TABLE name DROP column [USING TIMESTAMP n], and ADD
// column type [STATIC].
func (p *parser) alterTable() error {
	if err := p.expect("table"); err != nil {
		return err
	}
	if _, err := p.accept("if", "exists"); err != nil {
		return err
	}
	keyspace, n, err := p.qualified()
	if err != nil {
		return err
	}
	t, err := p.find(keyspace, n)
	if err != nil {
		return err
	}
	switch {
	case p.is("drop"):
		if err := p.advance(); err != nil {
			return err
		}
		return p.dropColumn(t)
	case p.is("add"):
		if err := p.advance(); err != nil {
			return err
		}
		if p.is("(") {
			return p.list(func() error { return p.columnDefinition(t) })
		}
		return p.columnDefinition(t)
	case p.is("with"):
		return nil
	}
	return p.errorf("%q, want ADD or DROP", p.now.text)
}

func (p *parser) dropColumn(t *table) error {
	n, err := p.name()
	if err != nil {
		return err
	}
	i := t.column(n)
	if i < 0 {
		return p.errorf("%s.%s has no column %q to drop", t.keyspace, t.name, n)
	}
	if err := p.expect("using", "timestamp"); err != nil {
		return fmt.Errorf("%w (only the time of the drop tells what is gone)", err)
	}
	at, err := strconv.ParseInt(p.now.text, 10, 64)
	if err != nil {
		return p.errorf("%q is no timestamp", p.now.text)
	}
	t.dropped = append(t.dropped, sstable.DroppedColumn{Name: n, Static: t.columns[i].static, At: at})
	t.columns = slices.Delete(t.columns, i, i+1)
	return p.advance()
}
