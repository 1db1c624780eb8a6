// Package metrics counts what a run does and shows it to Prometheus.
//
// # Words
//
//   - A run is one execution of the command. Its metrics begin at zero, and all
//     of them carry nothing of the run's data: no keys, no values, no secrets.
//   - The file is for node_exporter's textfile collector: it is written whole,
//     through a temporary name and a rename, again and again while the run goes
//     on and once at its end.
//   - The address is for a Prometheus that scrapes the run itself.
//
// # Where the numbers come from
//
//	scan.Run ──── Events ─────┐
//	throttle ──── Nodes() ────┼──> Run ──┬──> WriteFile, Every   --metrics-file
//	command ──── Finish ──────┘          └──> Serve              --metrics-listen
//
// # Invariants
//
//   - A row counts as read when it was received, and as committed only when its
//     split is in the ledger; what was dropped in between is counted as well, so
//     that read = committed + dropped once the run has ended.
//   - The time of the last success outlives a run that fails: it is taken over
//     from the file that is replaced.
//
// # What it does not do
//
// It pushes to no gateway and keeps no history. The list of metrics is
// docs/metrics.md, which a test compares with what a run shows.
package metrics
