package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"manifest/internal/ledger"
	"manifest/scan"
	"manifest/tokenrange"
)

// passResult is what the ledger says of a pass at its end.
type passResult struct {
	Complete bool `json:"complete"`
	// Missing are the token ranges that were not read, and Cause is why.
	Missing []tokenrange.Range `json:"missing,omitempty"`
	Cause   string             `json:"cause,omitempty"`
	// Poisoned are the partitions among them that no replica could read.
	Poisoned []scan.Poisoned `json:"poisoned,omitempty"`
	// Largest are the largest partitions that were read.
	Largest scan.Largest `json:"largest"`
}

// incompleteFile is the file in the directory of a pass that says that it is
// incomplete, for those who look at names alone.
const incompleteFile = "INCOMPLETE"

// markIncomplete says in the ledger and beside it what was not read. Its error
// is one of writing.
func (p *pass) markIncomplete(record *ledger.Ledger, cause error) error {
	incomplete, ok := errors.AsType[*scan.IncompleteError](cause)
	if !ok {
		return nil
	}
	result := passResult{
		Missing: incomplete.Missing, Cause: cause.Error(), Poisoned: incomplete.Poisoned,
		Largest: scan.LargestPartitions(record.Receipts()),
	}
	if err := record.Finish(result); err != nil {
		return err
	}
	text, err := json.MarshalIndent(result, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(p.dir, incompleteFile), append(text, '\n'), 0o600)
}
