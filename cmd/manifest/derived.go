package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"manifest/export"
)

// derivedOptions say which columns are made of others.
type derivedOptions struct {
	key  string
	keys []string
}

func (o *derivedOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.key, "webdataset-key", "", "template of a column __key__, whose values WebDataset takes as keys, such as {image_id}")
	f.StringSliceVar(&o.keys, "map-columns", nil, "values of maps that become columns, such as \"attributes['weather'] AS weather\"")
}

// mapColumn is the value of a map, and perhaps its name as a column.
var mapColumn = regexp.MustCompile(`(?i)^\s*([^\[\]']+)\['((?:[^']|'')*)'\](?:\s+AS\s+(\S+))?\s*$`)

// columns gives the columns that are made of others. uri is the template of the
// column uri; "" leaves it out.
func (o derivedOptions) columns(uri string) ([]export.DerivedColumn, error) {
	var columns []export.DerivedColumn
	if uri != "" {
		columns = append(columns, export.DerivedColumn{Name: "uri", Template: uri})
	}
	if o.key != "" {
		columns = append(columns, export.DerivedColumn{Name: "__key__", Template: o.key, Safe: true})
	}
	var errs []error
	for _, text := range o.keys {
		parts := mapColumn.FindStringSubmatch(text)
		if parts == nil {
			errs = append(errs, fmt.Errorf("--map-columns: %q is not of the form map['key'] or map['key'] AS name", text))
			continue
		}
		c := export.DerivedColumn{Name: parts[3], Map: strings.TrimSpace(parts[1]), MapKey: strings.ReplaceAll(parts[2], "''", "'")}
		if c.Name == "" {
			c.Name = c.Map + "_" + c.MapKey
			if c.Map == "attributes" {
				c.Name = "attr_" + c.MapKey
			}
		}
		columns = append(columns, c)
	}
	return columns, errors.Join(errs...)
}

// arguments are the flags as they were given.
func (o derivedOptions) arguments() (args []string) {
	if o.key != "" {
		args = append(args, "--webdataset-key", o.key)
	}
	for _, k := range o.keys {
		args = append(args, "--map-columns", k)
	}
	return args
}

// validate checks the request without knowing the table.
func (o derivedOptions) validate(mapAs string) error {
	if _, err := o.columns(""); err != nil {
		return usageError{err}
	}
	if mapAs == "columns" && len(o.keys) == 0 {
		return usagef("--map-as columns leaves maps out: name the values to keep with --map-columns")
	}
	return nil
}
