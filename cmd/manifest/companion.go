package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/spf13/cobra"

	"manifest/export"
	"manifest/internal/datasetcard"
	"manifest/internal/sidecar"
)

// companionOptions say which files a dataset has beside its data.
type companionOptions struct {
	with    []string
	name    string
	license string
}

// Names of the files that a dataset can have.
const (
	withCard      = "card"
	withCroissant = "croissant"
	withUIDs      = "uids"
	withCOCO      = "coco"
	withNone      = "none"
)

var companions = []string{withCard, withCroissant, withUIDs, withCOCO, withNone}

// idColumn is the column that names images.
const idColumn = "image_id"

// uidsMemory is what sorting ids may take.
const uidsMemory = 64 << 20

func (o *companionOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&o.with, "with", []string{withCard, withCroissant}, "files beside the data: card (README.md), croissant (croissant.json), uids (index/uids.npy), coco (coco/SPLIT.json), or none")
	f.StringVar(&o.name, "dataset-name", "", "name of the dataset in them (default: the last part of --out)")
	f.StringVar(&o.license, "license", "", "licence of the dataset in them, as an SPDX identifier")
}

func (o *companionOptions) validate() error {
	var errs []error
	for _, w := range o.with {
		if !slices.Contains(companions, w) {
			errs = append(errs, fmt.Errorf("--with %q is not one of %s", w, strings.Join(companions, ", ")))
		}
	}
	if slices.Contains(o.with, withNone) && len(o.with) > 1 {
		errs = append(errs, errors.New("--with none leaves out all others: give it alone"))
	}
	if err := errors.Join(errs...); err != nil {
		return usageError{err}
	}
	return nil
}

// check refuses files that can't be made of the columns, before anything is read.
func (o *companionOptions) check(schema *arrow.Schema) error {
	for _, c := range []struct{ with, column string }{{withUIDs, idColumn}, {withCOCO, "object_key"}} {
		if slices.Contains(o.with, c.with) && !schema.HasField(c.column) {
			return usagef("--with %s is made of the column %s, which the files don't have", c.with, c.column)
		}
	}
	return nil
}

// write writes the files beside those of the dataset, before it is published. out
// is where it goes, as the user named it.
func (o *companionOptions) write(ctx context.Context, target *export.Target, m export.Manifest, schema *arrow.Schema, out string) error {
	info := datasetcard.Info{Name: o.name, License: o.license}
	if info.Name == "" {
		info.Name = path.Base(filepath.ToSlash(strings.TrimSuffix(out, "/")))
	}
	if slices.Contains(o.with, withUIDs) {
		if err := sidecar.WriteUIDs(ctx, target.Dir(), m, idColumn, target.RunDir(), uidsMemory); err != nil {
			return err
		}
	}
	if slices.Contains(o.with, withCOCO) {
		if err := sidecar.WriteCOCO(ctx, target.Dir(), m); err != nil {
			return err
		}
	}
	if slices.Contains(o.with, withCard) {
		if err := target.WriteFile(datasetcard.CardFile, datasetcard.Card(m, info)); err != nil {
			return err
		}
	}
	if !slices.Contains(o.with, withCroissant) {
		return nil
	}
	data, err := datasetcard.Croissant(m, schema, info)
	if err != nil {
		return err
	}
	return target.WriteFile(datasetcard.CroissantFile, data)
}
