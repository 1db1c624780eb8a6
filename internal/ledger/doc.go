// Package ledger keeps the record of a run: which token ranges have been read
// and committed, so that a run that stops, however it stops, goes on where it
// was and can prove at its end that nothing is missing.
//
// # Words
//
//   - A run directory holds one ledger, the file [FileName], and its lock.
//   - A line is one record as JSON, with a checksum of its own and a number.
//     A line is torn when it was being written as the process or the machine
//     stopped: its end, or any part of it, is not there.
//   - The header is the first line. It says what the run reads, so that a
//     resumed run can be told from another one.
//   - A receipt ([scan.Receipt]) says what one committed split was.
//   - A line is durable once an fsync that began after it was written has
//     returned: from then on neither the end of the process nor a loss of
//     power takes it away.
//
// # From a commit to the disk
//
//	worker ── Commit ──┐
//	worker ── Commit ──┼──> gathering batch ──> one write, one fsync ──> all return
//	worker ── Commit ──┘          ^                     |
//	worker ── Commit ─────────────┴── the next batch <──┘ gathers meanwhile
//
// Whoever finds nobody writing writes the batch that has gathered, for all that
// are in it. No goroutine runs in the background.
//
// # Invariants
//
//   - Commit returns nil only when its line is durable.
//   - Every line says how many lines were durable when it was written. A damaged
//     line that no later line calls durable was never promised to anybody, and
//     is cut off; any other damage is [ErrCorrupt].
//   - No two receipts overlap, unless their ranges are the same: then the later
//     one counts, since a split that was read again has replaced its parts.
//   - After a write has failed the ledger takes no further commit, and what was
//     committed before stays readable.
//   - One process at a time has a run: [Create] and [Resume] take an exclusive
//     lock that ends with the process, whatever way that ends.
//
// # What it does not do
//
// It does not decide what is left to read, does not hold the parts, and does not
// judge whether a run is complete: its receipts are the evidence, and
// tokenrange.CheckTiling the judge. It hides nothing, so nothing secret may be
// put into it; but keys of the table may, and so its files can be read by their
// owner alone.
//
// The format is described in docs/format/ledger.md.
package ledger
