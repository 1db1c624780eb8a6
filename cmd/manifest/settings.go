package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"manifest/internal/schema"
)

// settings are what a user may say beside flags: environment variables and the
// file named by --config. A flag on the command line wins over a variable, a
// variable over the file.
type settings struct {
	path string
	// Names maps the names of tables and columns that the named statistics
	// read to those of this cluster. They stand in the file alone.
	Names names
	// given are the flags that were on the command line.
	given map[string]bool
}

// names are the mapped names: image_metadata: pictures, and
// image_metadata.image_id: id.
type names struct {
	Tables  map[string]string
	Columns map[string]string
}

// fileOnly are the keys of the file that are no flags.
var fileOnly = []string{"table-names", "column-names"}

func (s *settings) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.path, "config", "", "file with settings (YAML; the keys are the flags' names)")
}

// apply gives each flag that was not on the command line its value from the
// environment or the file, and reads the mapped names.
func (s *settings) apply(cmd *cobra.Command) error {
	s.given = map[string]bool{}
	cmd.Flags().Visit(func(f *pflag.Flag) { s.given[f.Name] = true })
	if s.path == "" {
		s.path = os.Getenv("MANIFEST_CONFIG")
	}
	values := koanf.New("\x00") // keys are taken whole: names of columns hold dots
	if s.path != "" {
		if err := values.Load(file.Provider(s.path), yaml.Parser()); err != nil {
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
				return usagef("read --config: %w", err)
			}
			return usagef("read %s: %w", s.path, err)
		}
		if err := s.checkKeys(cmd, values); err != nil {
			return err
		}
		s.Names = names{Tables: values.StringMap("table-names"), Columns: values.StringMap("column-names")}
		if err := s.Names.check(); err != nil {
			return usagef("%s: %w", s.path, err)
		}
	}
	var errs []error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Changed || f.Name == "help" || f.Name == "config" {
			return
		}
		value, origin, ok := lookup(f, values, s.path)
		if !ok {
			return
		}
		if err := cmd.Flags().Set(f.Name, value); err != nil {
			errs = append(errs, fmt.Errorf("%s: %s: %w", origin, f.Name, err))
		}
	})
	if err := errors.Join(errs...); err != nil {
		return usageError{err}
	}
	return nil
}

// lookup finds a flag's value in the environment or the file.
func lookup(f *pflag.Flag, values *koanf.Koanf, path string) (value, origin string, ok bool) {
	variable := "MANIFEST_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
	if v, ok := os.LookupEnv(variable); ok {
		return v, variable, true
	}
	if !values.Exists(f.Name) {
		return "", "", false
	}
	if list := values.Strings(f.Name); len(list) > 0 {
		return strings.Join(list, ","), path, true
	}
	return fmt.Sprint(values.Get(f.Name)), path, true
}

// checkKeys refuses keys that are no setting of any command. A file may serve
// several commands, so those of others pass.
func (s *settings) checkKeys(cmd *cobra.Command, values *koanf.Koanf) error {
	known := map[string]bool{}
	for _, key := range fileOnly {
		known[key] = true
	}
	for _, c := range cmd.Root().Commands() {
		c.Flags().VisitAll(func(f *pflag.Flag) { known[f.Name] = true })
	}
	delete(known, "config")
	delete(known, "help")
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(values.Raw())) {
		if known[key] {
			continue
		}
		message := fmt.Sprintf("%s: unknown setting %q", s.path, key)
		if near := schema.Nearest(key, slices.Sorted(maps.Keys(known))); near != "" {
			message += fmt.Sprintf("; is %q meant?", near)
		}
		errs = append(errs, errors.New(message))
	}
	if err := errors.Join(errs...); err != nil {
		return usageError{err}
	}
	return nil
}
