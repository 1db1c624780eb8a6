package ddl

import (
	"fmt"
	"slices"
	"strings"

	"manifest/internal/cqltype"
	"manifest/internal/sstable"
	"manifest/internal/sstable/fault"
)

// Parse reads all tables and views that a text defines, in its order. types is
// asked for user types that the text does not define, as schema.cql of Cassandra
// 3.11 leaves some out; nil knows none.
//
// Errors are ErrSyntax with the line, fault.ErrUnsupported, or those of package
// cqltype about a type.
func Parse(text string, types func(keyspace, name string) (*cqltype.Type, error)) ([]sstable.Schema, error) {
	p := &parser{lexer: lexer{in: text}, lookUp: types, types: map[[2]string]*cqltype.Type{}}
	if err := p.parse(); err != nil {
		return nil, err
	}
	schemas := make([]sstable.Schema, len(p.tables))
	for i, t := range p.tables {
		schemas[i] = t.schema()
	}
	return schemas, nil
}

type parser struct {
	lexer  lexer
	now    token
	lookUp func(keyspace, name string) (*cqltype.Type, error)
	types  map[[2]string]*cqltype.Type
	tables []*table
}

func (p *parser) errorf(format string, args ...any) error {
	return p.lexer.errorf(p.now.start, format, args...)
}

func (p *parser) advance() (err error) {
	p.now, err = p.lexer.next()
	return err
}

// is tells whether the next token is a keyword or sign.
func (p *parser) is(text string) bool {
	return (p.now.kind == word || p.now.kind == sign) && p.now.text == text
}

// accept passes over keywords or signs if they come next; it looks at the first
// only, and the others must follow.
func (p *parser) accept(texts ...string) (bool, error) {
	if !p.is(texts[0]) {
		return false, nil
	}
	return true, p.expect(texts...)
}

func (p *parser) expect(texts ...string) error {
	for _, text := range texts {
		if !p.is(text) {
			return p.errorf("%q, want %q", p.now.text, text)
		}
		if err := p.advance(); err != nil {
			return err
		}
	}
	return nil
}

// name reads the name of something.
func (p *parser) name() (string, error) {
	if p.now.kind != word && p.now.kind != name {
		return "", p.errorf("%q, want a name", p.now.text)
	}
	n := p.now.text
	return n, p.advance()
}

// qualified reads keyspace.name; the keyspace may be missing.
func (p *parser) qualified() (keyspace, n string, err error) {
	if n, err = p.name(); err != nil {
		return "", "", err
	}
	if ok, err := p.accept("."); !ok || err != nil {
		return "", n, err
	}
	keyspace = n
	n, err = p.name()
	return keyspace, n, err
}

func (p *parser) parse() error {
	if err := p.advance(); err != nil {
		return err
	}
	for p.now.kind != end {
		if err := p.statement(); err != nil {
			return err
		}
		if err := p.finish(); err != nil {
			return err
		}
	}
	return nil
}

// finish passes over the rest of a statement.
func (p *parser) finish() error {
	for p.now.kind != end && !p.is(";") {
		if err := p.advance(); err != nil {
			return err
		}
	}
	if p.is(";") {
		return p.advance()
	}
	return nil
}

func (p *parser) statement() error {
	switch {
	case p.is(";"):
		return nil
	case p.is("create"):
		if err := p.advance(); err != nil {
			return err
		}
		switch {
		case p.is("type"):
			return p.createType()
		case p.is("table"), p.is("columnfamily"):
			return p.createTable()
		case p.is("materialized"):
			return p.createView()
		case p.is("keyspace"), p.is("index"), p.is("custom"), p.is("function"), p.is("aggregate"), p.is("or"), p.is("role"), p.is("trigger"):
			return nil
		}
	case p.is("alter"):
		if err := p.advance(); err != nil {
			return err
		}
		if p.is("table") {
			return p.alterTable()
		}
		if p.is("keyspace") || p.is("materialized") {
			return nil
		}
	case p.is("use"):
		return nil
	}
	return p.errorf("a statement that begins with %q", p.now.text)
}

func (p *parser) ifNotExists() error {
	_, err := p.accept("if", "not", "exists")
	return err
}

// typeOf reads a type up to one of the signs or words that can follow it.
func (p *parser) typeOf(keyspace string) (*cqltype.Type, error) {
	start, stop, depth := p.now.start, p.now.start, 0
	for {
		atEnd := p.is(",") || p.is(")") || p.is("static") || p.is("primary") || p.is("masked") || p.is(";") || p.now.kind == end
		if depth == 0 && atEnd {
			break
		}
		switch {
		case p.now.kind == end || p.is(";"):
			return nil, p.errorf("a type without an end")
		case p.is("<"):
			depth++
		case p.is(">"):
			depth--
		}
		stop = p.now.end
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	text := p.lexer.in[start:stop]
	if keyspace != "" {
		// A user type may be written with its keyspace.
		text = strings.ReplaceAll(text, keyspace+".", "")
	}
	t, err := cqltype.Parse(text, func(name string) (*cqltype.Type, error) {
		if t := p.types[[2]string{keyspace, name}]; t != nil {
			return t, nil
		}
		if p.lookUp != nil {
			return p.lookUp(keyspace, name)
		}
		return nil, fmt.Errorf("no type %s.%s is defined", keyspace, name)
	})
	if err != nil {
		return nil, p.errorf("%w", err)
	}
	return t, nil
}

// createType reads CREATE TYPE [IF NOT EXISTS] name (field type, ...).
func (p *parser) createType() error {
	if err := p.expect("type"); err != nil {
		return err
	}
	if err := p.ifNotExists(); err != nil {
		return err
	}
	keyspace, n, err := p.qualified()
	if err != nil {
		return err
	}
	t := &cqltype.Type{Kind: cqltype.UDT, Keyspace: keyspace, Name: n}
	err = p.list(func() error {
		field, err := p.name()
		if err != nil {
			return err
		}
		ft, err := p.typeOf(keyspace)
		t.Fields, t.Elems = append(t.Fields, field), append(t.Elems, ft)
		return err
	})
	p.types[[2]string{keyspace, n}] = t
	return err
}

// list reads things in parentheses, with commas between them.
func (p *parser) list(thing func() error) error {
	if err := p.expect("("); err != nil {
		return err
	}
	for !p.is(")") {
		if err := thing(); err != nil {
			return err
		}
		if ok, err := p.accept(","); err != nil {
			return err
		} else if !ok && !p.is(")") {
			return p.errorf("%q, want a comma or a closing parenthesis", p.now.text)
		}
	}
	return p.expect(")")
}

// find gives a table that was created before.
func (p *parser) find(keyspace, n string) (*table, error) {
	i := slices.IndexFunc(p.tables, func(t *table) bool { return t.keyspace == keyspace && t.name == n })
	if i < 0 {
		return nil, p.errorf("no table %s.%s is defined before", keyspace, n)
	}
	return p.tables[i], nil
}

// compact refuses tables of the time before CQL.
func (p *parser) compact(t *table) error {
	return p.errorf("%s.%s: %w: COMPACT STORAGE", t.keyspace, t.name, fault.ErrUnsupported)
}
