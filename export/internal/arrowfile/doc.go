// Package arrowfile writes Arrow IPC files (also known as Feather V2) from
// records, in batches of its own: a batch ends at the first row at which it has
// Options.BatchRows rows or Options.BatchBytes bytes. So the bytes of a file do
// not depend on how rows were cut into records.
package arrowfile
