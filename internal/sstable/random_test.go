package sstable_test

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"
)

// Random stories: tables of any types, and statements over few keys and few
// timestamps, so that they meet.

// randomTable is a table of a random schema.
type randomTable struct {
	name            string
	key, clustering []randomColumn
	descending      []bool
	static, regular []randomColumn
	counters        bool
	compression     string
}

type randomColumn struct {
	name string
	typ  string
}

var (
	// The last two are of Cassandra 5.0.
	allKeyTypes = []string{
		"ascii", "bigint", "blob", "boolean", "date", "decimal", "double", "float", "inet", "int", "smallint", "text", "time", "timestamp",
		"timeuuid", "tinyint", "uuid", "varint", "frozen<list<int>>", "frozen<set<text>>", "frozen<map<int, text>>", "tuple<int, text>",
		"frozen<pair>", "vector<float, 2>", "vector<text, 2>",
	}
	otherTypes = []string{
		"duration", "list<int>", "set<text>", "map<int, text>", "map<text, frozen<list<int>>>", "set<uuid>", "pair", "list<frozen<pair>>",
		"map<frozen<pair>, tuple<int, text>>", "set<frozen<set<int>>>", "map<timeuuid, timestamp>", "map<decimal, duration>", "set<boolean>",
	}
	literals = map[string][]string{
		"ascii": {"''", "'a'", "'b'"}, "bigint": {"0", "-1", "9223372036854775807"}, "blob": {"0x", "0x00", "0xff00"}, "boolean": {"true", "false"},
		"date": {"'2025-06-01'", "'1969-12-31'"}, "decimal": {"1.0", "-3e10", "0"}, "double": {"0.0", "-0.0", "NaN", "1.5"},
		"float": {"0.0", "-1.5", "Infinity"}, "inet": {"'192.0.2.1'", "'2001:db8::1'"}, "int": {"0", "1", "-1"}, "smallint": {"0", "-300"},
		"text": {"''", "'a'", "'ä'"}, "time": {"'00:00:00'", "'12:34:56.789'"}, "timestamp": {"0", "-1", "1700000000000"},
		"timeuuid": {"50554d6e-29bb-11e5-b345-feff819cdc9f", "50554d6e-29bb-11e5-7f45-feff819cdc9f", "60554d6e-29bb-11e5-b345-feff819cdc9f"},
		"tinyint":  {"0", "-1", "1"}, "uuid": {"123e4567-e89b-42d3-a456-426614174000", "50554d6e-29bb-11e5-b345-feff819cdc9f", "00000000-0000-0000-0000-000000000000"},
		"varint": {"0", "-1", "123456789012345678901234567890"}, "duration": {"1mo2d3h", "-5s"},
	}
)

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// outer splits a type into its constructor and arguments.
func outer(typ string) (string, []string) {
	open := strings.IndexByte(typ, '<')
	if open < 0 {
		return typ, nil
	}
	var args []string
	depth, start := 0, open+1
	for i := open + 1; i < len(typ); i++ {
		switch c := typ[i]; {
		case c == '<':
			depth++
		case c == '>' && depth > 0:
			depth--
		case c == '>' || c == ',' && depth == 0:
			args = append(args, strings.TrimSpace(typ[start:i]))
			start = i + 1
		}
	}
	return typ[:open], args
}

func unfrozenLiteral(t *rapid.T, typ string) string {
	kind, args := outer(typ)
	many := func(part func() string) string {
		var parts []string
		for range rapid.IntRange(0, 3).Draw(t, "elements") {
			parts = append(parts, part())
		}
		return strings.Join(parts, ", ")
	}
	switch kind {
	case "frozen":
		return unfrozenLiteral(t, args[0])
	case "list":
		return "[" + many(func() string { return unfrozenLiteral(t, args[0]) }) + "]"
	case "set":
		return "{" + many(func() string { return unfrozenLiteral(t, args[0]) }) + "}"
	case "map":
		return "{" + many(func() string { return unfrozenLiteral(t, args[0]) + ": " + unfrozenLiteral(t, args[1]) }) + "}"
	case "tuple":
		return "(" + unfrozenLiteral(t, args[0]) + ", " + orNull(t, args[1]) + ")"
	case "vector":
		return "[" + unfrozenLiteral(t, args[0]) + ", " + unfrozenLiteral(t, args[0]) + "]"
	case "pair":
		return "{a: " + orNull(t, "int") + ", b: " + orNull(t, "text") + "}"
	}
	return rapid.SampledFrom(literals[kind]).Draw(t, kind)
}

func orNull(t *rapid.T, typ string) string {
	if rapid.IntRange(0, 3).Draw(t, "null") == 0 {
		return "null"
	}
	return unfrozenLiteral(t, typ)
}

func randomColumns(t *rapid.T, prefix string, least, most int, types []string) []randomColumn {
	var cs []randomColumn
	for i := range rapid.IntRange(least, most).Draw(t, prefix) {
		cs = append(cs, randomColumn{fmt.Sprintf("%s%d", prefix, i), rapid.SampledFrom(types).Draw(t, "type")})
	}
	return cs
}

// newRandomTable draws a schema.
func newRandomTable(t *rapid.T, name string, keyTypes []string) *randomTable {
	r := &randomTable{name: name, key: randomColumns(t, "k", 1, 2, keyTypes), clustering: randomColumns(t, "c", 0, 3, keyTypes)}
	for range r.clustering {
		r.descending = append(r.descending, rapid.Bool().Draw(t, "descending"))
	}
	if r.counters = rapid.IntRange(0, 9).Draw(t, "counters") == 0; r.counters {
		r.regular = randomColumns(t, "v", 1, 2, []string{"counter"})
	} else {
		all := append(append([]string{}, keyTypes...), otherTypes...)
		r.regular = randomColumns(t, "v", 0, 5, all)
		if len(r.clustering) > 0 {
			r.static = randomColumns(t, "s", 0, 2, all)
		}
	}
	r.compression = rapid.SampledFrom([]string{
		"{'class': 'LZ4Compressor', 'chunk_length_in_kb': 4}", "{'enabled': 'false'}", "{'class': 'ZstdCompressor', 'chunk_length_in_kb': 4}",
		"{'class': 'LZ4Compressor', 'chunk_length_in_kb': 4, 'min_compress_ratio': 2}", "{'class': 'DeflateCompressor'}", "{'class': 'SnappyCompressor'}",
	}).Draw(t, "compression")
	return r
}

func (r *randomTable) create() string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE ks.%s (", r.name)
	for _, c := range r.key {
		fmt.Fprintf(&b, "%s %s, ", c.name, c.typ)
	}
	for _, c := range r.clustering {
		fmt.Fprintf(&b, "%s %s, ", c.name, c.typ)
	}
	for _, c := range r.static {
		fmt.Fprintf(&b, "%s %s static, ", c.name, c.typ)
	}
	for _, c := range r.regular {
		fmt.Fprintf(&b, "%s %s, ", c.name, c.typ)
	}
	fmt.Fprintf(&b, "PRIMARY KEY ((%s)%s)) WITH compression = %s", names(r.key), prefixed(names(r.clustering)), r.compression)
	for i, c := range r.clustering {
		b.WriteString([]string{" AND CLUSTERING ORDER BY (", ", "}[min(i, 1)])
		b.WriteString(c.name + []string{" ASC", " DESC"}[btoi(r.descending[i])])
	}
	if len(r.clustering) > 0 {
		b.WriteString(")")
	}
	return b.String()
}

func names(cs []randomColumn) string {
	var ns []string
	for _, c := range cs {
		ns = append(ns, c.name)
	}
	return strings.Join(ns, ", ")
}

func prefixed(s string) string {
	if s == "" {
		return ""
	}
	return ", " + s
}

// keyLiteral is a value that a key can have: an empty one it can't, alone.
func keyLiteral(t *rapid.T, typ string) string {
	l := unfrozenLiteral(t, typ)
	if l == "''" || l == "0x" {
		return map[string]string{"''": "'x'", "0x": "0x01"}[l]
	}
	return l
}

// where is a condition on the whole partition key and the first n clustering columns.
func (r *randomTable) where(t *rapid.T, n int) []string {
	var parts []string
	for _, c := range r.key {
		parts = append(parts, c.name+" = "+keyLiteral(t, c.typ))
	}
	for _, c := range r.clustering[:n] {
		parts = append(parts, c.name+" = "+unfrozenLiteral(t, c.typ))
	}
	return parts
}

func (r *randomTable) using(t *rapid.T, ttl bool) string {
	if r.counters {
		return ""
	}
	s := fmt.Sprintf(" USING TIMESTAMP %d", rapid.IntRange(1, 6).Draw(t, "timestamp"))
	if ttl && rapid.IntRange(0, 3).Draw(t, "expires") == 0 {
		s += fmt.Sprintf(" AND TTL %d", rapid.SampledFrom([]int{1000, 1001, 2000}).Draw(t, "ttl"))
	}
	return s
}

// statement draws a statement.
func (r *randomTable) statement(t *rapid.T) string {
	if r.counters {
		if rapid.IntRange(0, 5).Draw(t, "delete") == 0 {
			return "DELETE FROM ks." + r.name + " WHERE " + strings.Join(r.where(t, len(r.clustering)), " AND ")
		}
		c := rapid.SampledFrom(r.regular).Draw(t, "counter")
		return fmt.Sprintf("UPDATE ks.%s SET %s = %s + %d WHERE %s", r.name, c.name, c.name, rapid.IntRange(-3, 5).Draw(t, "n"), strings.Join(r.where(t, len(r.clustering)), " AND "))
	}
	switch rapid.IntRange(0, 9).Draw(t, "statement") {
	case 0, 1, 2, 3:
		return r.insert(t)
	case 4, 5, 6:
		return r.update(t)
	}
	return r.delete(t)
}

func (r *randomTable) insert(t *rapid.T) string {
	var ns, vs []string
	for _, c := range r.key {
		ns, vs = append(ns, c.name), append(vs, keyLiteral(t, c.typ))
	}
	some := func(cs []randomColumn) {
		for _, c := range cs {
			if rapid.Bool().Draw(t, "written") {
				ns, vs = append(ns, c.name), append(vs, orNull(t, c.typ))
			}
		}
	}
	some(r.static)
	if onlyStatic := len(ns) > len(r.key) && rapid.IntRange(0, 3).Draw(t, "only static") == 0; !onlyStatic {
		for _, c := range r.clustering {
			ns, vs = append(ns, c.name), append(vs, unfrozenLiteral(t, c.typ))
		}
		some(r.regular)
	}
	return fmt.Sprintf("INSERT INTO ks.%s (%s) VALUES (%s)%s", r.name, strings.Join(ns, ", "), strings.Join(vs, ", "), r.using(t, true))
}

// update changes columns of a row, or static ones of a partition.
func (r *randomTable) update(t *rapid.T) string {
	cs, n := r.regular, len(r.clustering)
	if len(r.static) > 0 && rapid.IntRange(0, 3).Draw(t, "static") == 0 {
		cs, n = r.static, 0
	}
	var sets []string
	for _, c := range cs {
		if rapid.Bool().Draw(t, "set") {
			sets = append(sets, r.assignment(t, c))
		}
	}
	if len(sets) == 0 {
		return r.insert(t)
	}
	return fmt.Sprintf("UPDATE ks.%s%s SET %s WHERE %s", r.name, r.using(t, true), strings.Join(sets, ", "), strings.Join(r.where(t, n), " AND "))
}

func (r *randomTable) assignment(t *rapid.T, c randomColumn) string {
	kind, args := outer(c.typ)
	how := rapid.IntRange(0, 2).Draw(t, "how")
	switch {
	case kind == "map" && how == 0:
		return fmt.Sprintf("%s[%s] = %s", c.name, unfrozenLiteral(t, args[0]), orNull(t, args[1]))
	case kind == "map" && how == 1, kind == "set" && how == 0, kind == "list" && how == 0:
		return fmt.Sprintf("%s = %s + %s", c.name, c.name, unfrozenLiteral(t, c.typ))
	case kind == "set" && how == 1:
		return fmt.Sprintf("%s = %s - %s", c.name, c.name, unfrozenLiteral(t, c.typ))
	case kind == "pair" && how == 0:
		return fmt.Sprintf("%s.a = %s", c.name, orNull(t, "int"))
	}
	return c.name + " = " + orNull(t, c.typ)
}

// delete deletes columns, a row, a range of rows or a partition.
func (r *randomTable) delete(t *rapid.T) string {
	what := rapid.IntRange(0, 9).Draw(t, "what")
	n := len(r.clustering)
	switch {
	case what < 3 && len(r.regular) > 0:
		c := rapid.SampledFrom(r.regular).Draw(t, "column")
		target := c.name
		if kind, args := outer(c.typ); (kind == "map" || kind == "set") && rapid.Bool().Draw(t, "element") {
			target += "[" + unfrozenLiteral(t, args[0]) + "]"
		}
		return fmt.Sprintf("DELETE %s FROM ks.%s%s WHERE %s", target, r.name, r.using(t, false), strings.Join(r.where(t, n), " AND "))
	case what < 4 && len(r.static) > 0:
		c := rapid.SampledFrom(r.static).Draw(t, "static")
		return fmt.Sprintf("DELETE %s FROM ks.%s%s WHERE %s", c.name, r.name, r.using(t, false), strings.Join(r.where(t, 0), " AND "))
	case what < 9:
		n = rapid.IntRange(0, n).Draw(t, "prefix")
	default:
		n = 0
	}
	conditions := r.where(t, n)
	if n < len(r.clustering) && what > 4 && what < 9 {
		c := r.clustering[n]
		low, high := rapid.Bool().Draw(t, "low"), rapid.Bool().Draw(t, "high")
		if low {
			conditions = append(conditions, c.name+rapid.SampledFrom([]string{" > ", " >= "}).Draw(t, "op")+unfrozenLiteral(t, c.typ))
		}
		if high {
			conditions = append(conditions, c.name+rapid.SampledFrom([]string{" < ", " <= "}).Draw(t, "op")+unfrozenLiteral(t, c.typ))
		}
	}
	return fmt.Sprintf("DELETE FROM ks.%s%s WHERE %s", r.name, r.using(t, false), strings.Join(conditions, " AND "))
}
