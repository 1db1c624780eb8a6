package accesspath

import (
	"encoding/binary"
	"fmt"
	"slices"

	"manifest/internal/cqltype"
	"manifest/internal/schema"
	"manifest/internal/selection"
	"manifest/tokenrange"
)

// Days are the days that a request names, both included; nil is no bound.
type Days struct{ From, To *selection.Day }

// ListDays gives the tokens of all partitions that can hold rows of the names and days, or nil; and the reason for either. The
// partition key has to be the column of the names and that of the days; what is how people call the names, in the plural.
func ListDays(table *schema.Table, what, column string, names []selection.Pattern, dayColumn string, days Days, partitioner tokenrange.Partitioner) ([]tokenrange.Range, string) {
	switch {
	case !partitioner.Hashes():
		return nil, "tokens of this partitioner can't be computed"
	case slices.ContainsFunc(names, func(p selection.Pattern) bool { return p.Glob }):
		return nil, "a pattern of " + what + " leaves the partitions open"
	case len(names) == 0:
		return nil, "nothing that is asked for names partitions"
	case days.From == nil || days.To == nil:
		return nil, "days without a first or a last one leave the partitions open"
	}
	first, last := *days.From, *days.To
	count := int64(last) - int64(first) + 1
	if count <= 0 || count > maxList || int64(len(names))*count > maxList {
		return nil, fmt.Sprintf("%d %s on %d days are too many partitions to list", len(names), what, count)
	}
	order, ok := keyOrder(table, column, dayColumn)
	if !ok {
		return nil, fmt.Sprintf("the partition key of %s is not its %s and day", table, column)
	}
	var tokens []tokenrange.Token
	for _, name := range names {
		for d := first; d <= last; d++ {
			parts := [][]byte{[]byte(name.Text), binary.BigEndian.AppendUint32(nil, uint32(int32(d))+1<<31)}
			tokens = append(tokens, partitioner.Token(tokenrange.PartitionKey(parts[order[0]], parts[order[1]])))
		}
	}
	return RangesOf(tokens), fmt.Sprintf("%d %s on %d days name every partition", len(names), what, count)
}

// keyOrder tells the order of a name and a day in the partition key.
func keyOrder(table *schema.Table, name, day string) (order [2]int, ok bool) {
	keys := table.OfKind(schema.PartitionKey)
	if len(keys) != 2 {
		return order, false
	}
	for i, k := range keys {
		switch {
		case k.Name == name && (k.Type.Kind == cqltype.Text || k.Type.Kind == cqltype.Ascii):
			order[i] = 0
		case k.Name == day && k.Type.Kind == cqltype.Date:
			order[i] = 1
		default:
			return order, false
		}
	}
	return order, keys[0].Name != keys[1].Name
}

// RangesOf gives a range for each token, in order.
func RangesOf(tokens []tokenrange.Token) []tokenrange.Range {
	slices.SortFunc(tokens, tokenrange.Token.Compare)
	var ranges []tokenrange.Range
	for _, t := range slices.Compact(tokens) {
		ranges = append(ranges, tokenrange.RangeOf(t))
	}
	return ranges
}
