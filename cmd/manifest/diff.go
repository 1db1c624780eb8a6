package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"manifest/internal/tokensort"
	"manifest/internal/trainset"
)

type diffOptions struct {
	settings settings
	asJSON   bool
	counts   bool
	exitCode bool
	memory   byteSize
}

func newDiffCommand() *cobra.Command {
	o := diffOptions{memory: 256 << 20}
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Compare two training manifests, image by image",
		Long: `Compare two training manifests, and print a line for each image that was added or
removed, is in another split, or has another review status: + ID SPLIT, - ID SPLIT,
> ID OLD NEW, and ~ ID OLD NEW. The counts come last. No cluster is needed.
` + exitStatus,
		Example: `  manifest diff leaf-may leaf-june
  manifest diff leaf-may leaf-june --counts --exit-code`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usagef("which two directories? See 'manifest diff --help'")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.settings.apply(cmd); err != nil {
				return err
			}
			return runDiff(cmd, args[0], args[1], o)
		},
	}
	o.settings.addFlags(cmd)
	f := cmd.Flags()
	f.BoolVar(&o.asJSON, "json", false, "print the counts as JSON, and each change before them as a line of JSON")
	f.BoolVar(&o.counts, "counts", false, "print the counts alone")
	f.BoolVar(&o.exitCode, "exit-code", false, "end with 4 if there are changes")
	f.Var(&o.memory, "memory", "memory beyond which images spill to disk")
	return cmd
}

// changeMarks begin the lines of changes.
var changeMarks = map[string]string{trainset.Added: "+", trainset.Removed: "-", trainset.Moved: ">", trainset.StatusChanged: "~"}

func runDiff(cmd *cobra.Command, from, to string, o diffOptions) error {
	counts := map[string]int64{trainset.Added: 0, trainset.Removed: 0, trainset.Moved: 0, trainset.StatusChanged: 0}
	out := bufio.NewWriter(cmd.OutOrStdout())
	err := trainset.Diff(cmd.Context(), from, to, tokensort.Options{Memory: int64(o.memory)}, func(c trainset.Change) error {
		counts[c.Kind]++
		if o.counts {
			return nil
		}
		return printChange(out, c, o.asJSON)
	})
	if err != nil {
		return err
	}
	if o.asJSON {
		err = json.NewEncoder(out).Encode(map[string]any{"from": from, "to": to, "counts": counts})
	} else {
		_, err = fmt.Fprintf(out, "%d added, %d removed, %d moved to another split, %d with another status\n",
			counts[trainset.Added], counts[trainset.Removed], counts[trainset.Moved], counts[trainset.StatusChanged])
	}
	if err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	total := 0
	for _, n := range counts {
		total += int(n)
	}
	if o.exitCode && total > 0 {
		return fmt.Errorf("%s and %s: %w", from, to, &differencesError{total})
	}
	return nil
}

func printChange(w io.Writer, c trainset.Change, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(map[string]string{"image_id": c.Image, "change": c.Kind, "from": c.From, "to": c.To})
	}
	line := changeMarks[c.Kind] + " " + c.Image
	for _, s := range []string{c.From, c.To} {
		if s != "" {
			line += " " + s
		}
	}
	_, err := fmt.Fprintln(w, line)
	return err
}
