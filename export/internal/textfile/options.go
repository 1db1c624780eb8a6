package textfile

import (
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
)

// Format is a text format.
type Format uint8

// The text formats.
const (
	CSV Format = iota
	JSONLines
)

// Options of text files. The zero value is good.
type Options struct {
	// NullText is what CSV has for NULL, unquoted. Default empty.
	NullText string
	// QuoteInt64 writes int64 values in JSON as strings.
	QuoteInt64 bool
}

// Validate reports settings that make no sense.
func (o Options) Validate() error {
	if strings.ContainsAny(o.NullText, "\",\r\n") {
		return fmt.Errorf("null text %q has a quote, comma or line end", o.NullText)
	}
	return nil
}

func (o Options) withDefaults(schema *arrow.Schema) Options {
	if o.NullText == "" && schema.NumFields() == 1 {
		o.NullText = `\N`
	}
	return o
}
