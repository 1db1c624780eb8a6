package expr

import "fmt"

// SyntaxError says where a text stopped making sense.
type SyntaxError struct {
	Text   string // the whole text
	Offset int    // in bytes, of the first byte that does not fit; len(Text) at the end
	Reason string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("parse %q: at offset %d: %s", e.Text, e.Offset, e.Reason)
}
