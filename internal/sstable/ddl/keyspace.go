package ddl

// Replication gives what a text says of how a keyspace is replicated, by its CREATE
// KEYSPACE and what altered it since, as the column replication of
// system_schema.keyspaces has it; nil where it says nothing. Other statements are
// passed over, whatever they are.
func Replication(text, keyspace string) (map[string]string, error) {
	p := &parser{lexer: lexer{in: text}}
	if err := p.advance(); err != nil {
		return nil, err
	}
	var found map[string]string
	for p.now.kind != end {
		named, err := p.keyspaceStatement()
		if err != nil {
			return nil, err
		}
		for named == keyspace && p.now.kind != end && !p.is(";") {
			if !p.is("replication") {
				if err := p.advance(); err != nil {
					return nil, err
				}
				continue
			}
			if found, err = p.replication(); err != nil {
				return nil, err
			}
		}
		if err := p.finish(); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// keyspaceStatement reads the beginning of a statement, and gives the name of the
// keyspace that it is about; "" if it is not about one.
func (p *parser) keyspaceStatement() (string, error) {
	if !p.is("create") && !p.is("alter") {
		return "", nil
	}
	if err := p.advance(); err != nil {
		return "", err
	}
	if ok, err := p.accept("keyspace"); !ok || err != nil {
		return "", err
	}
	if ok, err := p.accept("if"); err != nil {
		return "", err
	} else if ok {
		if _, err := p.accept("not"); err != nil {
			return "", err
		}
		if err := p.expect("exists"); err != nil {
			return "", err
		}
	}
	return p.name()
}

// replication reads replication = {'key': value, ...}.
func (p *parser) replication() (map[string]string, error) {
	if err := p.expect("replication", "=", "{"); err != nil {
		return nil, err
	}
	found := map[string]string{}
	for !p.is("}") {
		key, err := p.literal()
		if err != nil {
			return nil, err
		}
		if err := p.expect(":"); err != nil {
			return nil, err
		}
		if found[key], err = p.literal(); err != nil {
			return nil, err
		}
		if ok, err := p.accept(","); err != nil {
			return nil, err
		} else if !ok && !p.is("}") {
			return nil, p.errorf("%q, want a comma or a closing brace", p.now.text)
		}
	}
	return found, p.advance()
}

// literal reads a string or a number.
func (p *parser) literal() (string, error) {
	if p.now.kind != str && p.now.kind != number {
		return "", p.errorf("%q, want a string or a number", p.now.text)
	}
	text := p.now.text
	return text, p.advance()
}
