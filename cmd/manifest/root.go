package main

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"
)

// newRootCommand builds the command tree. Nothing is shared between trees, so
// that tests can run many.
func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "manifest",
		Short: "Statistics and training manifests from whole Cassandra tables",
		Long: `manifest reads whole Cassandra tables in parallel by token range and turns them
into statistics and training manifests, as Parquet and Arrow files. The cluster
only hands out rows: no COUNT, GROUP BY or ALLOW FILTERING ever runs on it.

Settings come from flags, then from MANIFEST_* variables (--local-dc is
MANIFEST_LOCAL_DC), then from the file named by --config.`,
		Example: `  manifest doctor --hosts 10.0.0.1
  manifest stats --hosts 10.0.0.1 --out stats
  manifest export --hosts 10.0.0.1 --tags "leaf_spot AND NOT blurry" --out leaf
  manifest export --hosts 10.0.0.1 --table image_keyspace.image_metadata --out images`,
		SilenceUsage:  true,
		SilenceErrors: true,
		CompletionOptions: cobra.CompletionOptions{
			HiddenDefaultCmd: false,
		},
	}
	root.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			return usagef("unknown command %q; is %q meant?", args[0], near[0])
		}
		return usagef("unknown command %q; see 'manifest --help'", args[0])
	}
	root.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	root.SuggestionsMinimumDistance = 2
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%w; see 'manifest %s --help'", err, cmd.Name())
	})
	root.AddCommand(
		newDoctorCommand(),
		newPlanCommand(),
		newStatsCommand(),
		newExportCommand(),
		newVerifyCommand(),
		newDiffCommand(),
		newExplainCommand(),
		newSnapshotCommand(),
		newDemoCommand(),
		newVersionCommand(),
	)
	for _, cmd := range root.Commands() {
		completeChoices(cmd)
	}
	return root
}

// noArguments refuses positional arguments as a fault of usage.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("unexpected argument %q; see 'manifest %s --help'", args[0], cmd.Name())
	}
	return nil
}

// discard is a log that nobody reads.
var discard = slog.New(slog.DiscardHandler)

// logOptions are the settings of the log, which goes to standard error.
type logOptions struct {
	Level  string
	Format string
}

func (o *logOptions) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.Level, "log-level", "warn", "least level of log lines: debug, info, warn or error")
	cmd.Flags().StringVar(&o.Format, "log-format", "text", "log lines as text or json")
}

func (o *logOptions) logger() (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(o.Level)); err != nil {
		return nil, usagef("--log-level %q is not debug, info, warn or error", o.Level)
	}
	options := &slog.HandlerOptions{Level: level}
	switch o.Format {
	case "text":
		return slog.New(slog.NewTextHandler(os.Stderr, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(os.Stderr, options)), nil
	default:
		return nil, usageError{fmt.Errorf("--log-format %q is not text or json", o.Format)}
	}
}
