package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"manifest/internal/trainset"
)

func newExplainCommand() *cobra.Command {
	var set settings
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain DIR IMAGE_ID",
		Short: "Say why an image is in a training manifest, or not",
		Long: `Find an image in a training manifest: in its files, or in its rejects with the
reason. Of an image in neither, say which of the rules may have left it out. No
cluster is needed.
` + exitStatus,
		Example: `  manifest explain leaf f81d4fae-7dec-11d0-a765-00a0c91e6bf6`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usagef("which directory and which image? See 'manifest explain --help'")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := set.apply(cmd); err != nil {
				return err
			}
			e, err := trainset.Explain(cmd.Context(), args[0], args[1])
			if err != nil {
				return err
			}
			return printExplanation(cmd.OutOrStdout(), e, asJSON)
		},
	}
	set.addFlags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return cmd
}

func printExplanation(w io.Writer, e trainset.Explanation, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(e)
	}
	switch {
	case e.Kept:
		fmt.Fprintf(w, "%s is in split %s, in %s\n", e.Image, e.Split, e.File)
		for _, name := range slices.Sorted(maps.Keys(e.Values)) {
			fmt.Fprintf(w, "  %-14s %s\n", name, e.Values[name])
		}
	case e.Rejected:
		fmt.Fprintf(w, "%s was rejected: %s", e.Image, e.Reason)
		if e.DuplicateOf != "" {
			fmt.Fprintf(w, " of %s", e.DuplicateOf)
		}
		fmt.Fprintln(w)
		return nil
	default:
		fmt.Fprintf(w, "%s is neither in the manifest nor in its rejects\n", e.Image)
	}
	for _, reason := range e.Because {
		fmt.Fprintf(w, "  %s\n", reason)
	}
	return nil
}
