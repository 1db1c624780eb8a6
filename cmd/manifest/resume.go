package main

import (
	"context"
	"log/slog"

	"manifest/internal/ledger"
	"manifest/scan"
)

// dropDamaged withdraws the splits of an earlier process whose files are not
// there any more, or not as they were committed, so that they are read again.
func dropDamaged(record *ledger.Ledger, faults []scan.FileFault, log *slog.Logger) error {
	for _, f := range faults {
		log.Warn("a part of the earlier run can't be used: its range is read again", "range", f.Range.String(), "err", f.Err)
		if err := record.Withdraw(ledger.Withdrawal{Split: f.Split, Range: f.Range, Reason: f.Err.Error()}); err != nil {
			return err
		}
	}
	return nil
}

// verifyEarlier reads the files of the splits that an earlier process
// committed, and withdraws those that are damaged. The files of this process
// were hashed as they were written.
func verifyEarlier(ctx context.Context, dir string, record *ledger.Ledger, earlier []scan.Receipt, log *slog.Logger) (again bool, err error) {
	faults, err := scan.VerifyFiles(ctx, dir, earlier)
	if err != nil {
		return false, err
	}
	return len(faults) > 0, dropDamaged(record, faults, log)
}
