package export

import (
	"fmt"
	"slices"
	"strings"
)

// Format is a file format.
type Format string

// The file formats.
const (
	Parquet   Format = "parquet"
	Arrow     Format = "arrow" // Arrow IPC file, also known as Feather V2
	CSV       Format = "csv"
	JSONLines Format = "jsonl"
)

var formats = []Format{Parquet, Arrow, CSV, JSONLines}

// ParseFormat gives the format of a name; "" is Parquet.
func ParseFormat(name string) (Format, error) {
	f := Format(strings.ToLower(name))
	if f == "" {
		return Parquet, nil
	}
	if !slices.Contains(formats, f) {
		return "", fmt.Errorf("format %q is not known: it is one of parquet, arrow, csv, jsonl", name)
	}
	return f, nil
}

// extension is the end of names of files of the format.
func (f Format) extension() string { return "." + string(f) }
