package cassandra

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// ErrStatement means that the guard refused a statement.
var ErrStatement = errors.New("statement refused")

var (
	literals   = regexp.MustCompile(`'(?:[^']|'')*'|"(?:[^"]|"")*"|\$\$.*?\$\$`)
	comments   = regexp.MustCompile(`--|//|/\*`)
	aggregates = regexp.MustCompile(`\b(count|sum|avg|min|max)\s*\(`)
	forbidden  = regexp.MustCompile(`\b(group\s+by|allow\s+filtering|per\s+partition\s+limit|json)\b`)
)

// guard accepts only statements that hand out rows as they are: a SELECT
// without aggregates, GROUP BY or ALLOW FILTERING. It is the one place through
// which every statement of this program passes on its way to the cluster.
//
// Quoted names and strings are blanked before looking, so that a column called
// "count" passes and one that hides a clause in its name changes nothing.
func guard(statement string) error {
	refuse := func(reason string) error { return fmt.Errorf("%w: %s: %s", ErrStatement, reason, statement) }
	bare := strings.ToLower(literals.ReplaceAllString(statement, "\x00"))
	switch {
	case !strings.HasPrefix(bare, "select "):
		return refuse("not a SELECT")
	case strings.ContainsAny(bare, `;'"`):
		return refuse("more than one statement, or an open quote")
	case comments.MatchString(bare):
		return refuse("a comment")
	case aggregates.MatchString(bare):
		return refuse("an aggregate runs on the cluster")
	}
	if m := forbidden.FindString(bare); m != "" {
		return refuse(strings.ToUpper(m))
	}
	return nil
}
