package cqltype

import "strings"

// writeName writes the name of a UDT, quoted unless CQL reads it back unquoted as the same name.
func writeName(b *strings.Builder, name string) {
	if plainName(name) {
		b.WriteString(name)
		return
	}
	b.WriteByte('"')
	b.WriteString(strings.ReplaceAll(name, `"`, `""`))
	b.WriteByte('"')
}

func plainName(name string) bool {
	if name == "" || name[0] < 'a' || name[0] > 'z' {
		return false
	}
	for i := range len(name) {
		if c := name[i]; !isLower(c) && !isDigit(c) && c != '_' {
			return false
		}
	}
	return natives[name] == 0 && !reservedNames[name]
}

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// reservedNames are the words that CQL takes for names only in quotes (reserved_keywords.txt of Cassandra 5.0).
var reservedNames = func() map[string]bool {
	m := map[string]bool{}
	for _, word := range strings.Fields(`
		add allow alter and apply asc authorize batch begin by columnfamily create delete desc describe drop entries execute from full
		grant if in index infinity insert into is keyspace limit materialized modify nan norecursive not null of on or order primary
		rename revoke schema select set table to token truncate unlogged update use using view where with`) {
		m[word] = true
	}
	return m
}()
