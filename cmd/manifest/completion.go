package main

import (
	"strings"

	"github.com/spf13/cobra"

	"manifest/internal/cassandra"
	"manifest/queries"
)

// completeChoices lets the shell complete flags that take one of a few values.
func completeChoices(cmd *cobra.Command) {
	var statistics []string
	for _, s := range queries.Statistics() {
		statistics = append(statistics, s.Name+"\t"+s.Doc)
	}
	for flag, choices := range map[string][]string{
		"format":            {"parquet", "arrow", "csv", "jsonl"},
		"progress":          {"auto", "plain", "none"},
		"consistency":       cassandra.ConsistencyLevels,
		"query":             statistics,
		"map-as":            {"list", "map", "json"},
		"uuid":              {"string", "binary"},
		"time-unit":         {"string", "nanos", "micros"},
		"unfit":             {"error", "clamp", "null"},
		"arrow-compression": {"none", "zstd", "lz4"},
		"dedupe":            {"content-hash", "none"},
		"order":             {"hash", "time"},
		"access-path":       {"auto", "partition-list", "distinct-then-read", "full-scan"},
		"status":            {"approved", "pending", "rejected", "deleted", "none", "any"},
		"balance":           {"device", "tag", "day", "tag,device"},
		"group-by":          {"device", "device,day", "content_hash"},
		"snapshot-replicas": {replicasOwned, replicasAll},
		"log-level":         {"debug", "info", "warn", "error"},
		"log-format":        {"text", "json"},
	} {
		if cmd.Flag(flag) == nil {
			continue
		}
		err := cmd.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
			var fitting []string
			for _, c := range choices {
				if strings.HasPrefix(c, begun) {
					fitting = append(fitting, c)
				}
			}
			return fitting, cobra.ShellCompDirectiveNoFileComp
		})
		if err != nil { // the flag is there, and this is its only registration
			panic(err)
		}
	}
}
