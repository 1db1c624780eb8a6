package cql

import (
	"strings"

	"manifest/internal/schema"
)

// quote gives a name as CQL text. All names are quoted, so that reserved and
// mixed-case names need no care.
func quote(name string) string {
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// tokenOf is the token of a table's rows as CQL text.
func tokenOf(t *schema.Table) string {
	var keys []string
	for _, c := range t.OfKind(schema.PartitionKey) {
		keys = append(keys, quote(c.Name))
	}
	return "token(" + strings.Join(keys, ",") + ")"
}

// selectOf begins a statement that reads rows, or each partition once.
func selectOf(distinct bool) string {
	if distinct {
		return "SELECT DISTINCT "
	}
	return "SELECT "
}

// fromTable is what stands in a statement between what is selected and the condition.
func fromTable(t *schema.Table) string {
	return " FROM " + quote(t.Keyspace) + "." + quote(t.Name) + " WHERE "
}

// expression gives a selected value as CQL text.
func expression(s schema.Selected) string {
	if s.Func != "" {
		return s.Func + "(" + quote(s.Column.Name) + ")"
	}
	return quote(s.Column.Name)
}
