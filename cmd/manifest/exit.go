package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"manifest/export"
	"manifest/internal/cassandra"
	"manifest/internal/ledger"
	"manifest/internal/schema"
	"manifest/internal/selection"
	"manifest/internal/sstable/fault"
	"manifest/internal/sstable/s3"
	sstables "manifest/internal/sstable/snapshot"
	"manifest/queries"
	"manifest/scan"
	"manifest/tokenrange"
)

// The exit codes. exitStatus repeats them in each command's help.
const (
	exitDone        = 0
	exitFault       = 1
	exitUsage       = 2
	exitIncomplete  = 3
	exitDifferences = 4
	exitNoAccess    = 5
	exitInterrupted = 130
)

const exitStatus = `
EXIT STATUS
  0    done, and complete
  1    a fault; nothing was published
  2    the command line, the configuration or a name in it is wrong
  3    incomplete: some token ranges could not be read, and nothing was published;
       or the object store could not be reached to the end, and --resume goes on;
       or --on-corrupt skip has left damaged SSTables out
  4    verification or audit found differences
  5    no connection, or not authorised
  130  interrupted; nothing was published, the parts read so far are kept`

// usageError is a fault of the command line or the configuration.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// exitCode gives the exit code that an error stands for.
func exitCode(err error) int {
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errInterrupted), errors.Is(err, context.Canceled):
		return exitInterrupted
	case isNoAccess(err):
		return exitNoAccess
	case isUsage(err):
		return exitUsage
	}
	if code, ok := storeExit(err); ok {
		return code
	}
	if _, ok := errors.AsType[*differencesError](err); ok {
		return exitDifferences
	}
	if errors.Is(err, errWindowEnded) {
		return exitIncomplete
	}
	if _, ok := errors.AsType[*incompleteError](err); ok {
		return exitIncomplete
	}
	if incomplete, ok := errors.AsType[*scan.IncompleteError](err); ok {
		if stoppedByFault(incomplete) {
			return exitFault
		}
		return exitIncomplete
	}
	return exitFault
}

func isNoAccess(err error) bool {
	class := scan.ClassOf(err)
	return errors.Is(err, cassandra.ErrNoHost) || errors.Is(err, cassandra.ErrCredentials) || errors.Is(err, s3.ErrNoAccess) || class == scan.Unauthorized || class == scan.Authentication
}

// usageErrors are what other packages say of a request that can't be met as it
// stands.
var usageErrors = []error{
	cassandra.ErrSettings, export.ErrExists, export.ErrNotDataset,
	sstables.ErrNoTable, sstables.ErrTags, sstables.ErrLive, sstables.ErrAmbiguous, sstables.ErrNoSchema,
	tokenrange.ErrUnsupportedPartitioner, tokenrange.ErrEmptyRange, tokenrange.ErrOutOfRing, tokenrange.ErrUnknownDatacenter,
}

func isUsage(err error) bool {
	if _, begun := errors.AsType[*scan.IncompleteError](err); begun {
		return false // what was asked for was there when the run began
	}
	if _, ok := errors.AsType[usageError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*cassandra.NotFoundError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*schema.ColumnError](err); ok {
		return true
	}
	return slices.ContainsFunc(usageErrors, func(target error) bool { return errors.Is(err, target) })
}

// stoppedByFault tells a run that more reading would not complete: the table
// changed, or the reading side failed.
func stoppedByFault(e *scan.IncompleteError) bool {
	if e.Causes == nil || errors.Is(e.Causes, scan.ErrTooManyFailures) {
		return false
	}
	re, ok := errors.AsType[*scan.ReadError](e.Causes)
	return !ok || re.Class == scan.SchemaChanged || re.Class == scan.Protocol
}

// describe gives the message for an error: what happened, and what to do.
func describe(err error) string {
	text := "manifest: " + strings.TrimSpace(err.Error())
	if h := hint(err); h != "" {
		text += "\nTry: " + h
	}
	return text
}

// hint says what a user can do about an error; "" where the error says it all.
func hint(err error) string {
	if missing, ok := errors.AsType[*cassandra.NotFoundError](err); ok {
		name := missing.Name[strings.LastIndex(missing.Name, ".")+1:]
		if near := schema.Nearest(name, missing.Known); near != "" {
			return fmt.Sprintf("the %s %q", missing.What, near)
		}
		if len(missing.Known) > 0 {
			return fmt.Sprintf("one of: %s", strings.Join(missing.Known, ", "))
		}
	}
	if name, known := unknownColumn(err); name != "" {
		if near := schema.Nearest(name, known); near != "" {
			return fmt.Sprintf("the column %q", near)
		}
		return "one of the columns " + strings.Join(known, ", ")
	}
	if stopped, ok := errors.AsType[*interruptedError](err); ok && canResume(err) {
		if diskFull(err) {
			return fmt.Sprintf("make room, then the same command with --resume %s: what was read is kept", stopped.run)
		}
		return fmt.Sprintf("the same command with --resume %s: what was read is kept", stopped.run)
	}
	if missing, ok := errors.AsType[*sstables.UnknownTableError](err); ok && len(missing.Known) > 0 {
		if near := schema.Nearest(missing.Name, missing.Known); near != "" {
			return fmt.Sprintf("the table %q", near)
		}
		return fmt.Sprintf("one of: %s", strings.Join(missing.Known, ", "))
	}
	if h := cmp.Or(snapshotHint(err), uploadHint(err)); h != "" {
		return h
	}
	switch {
	case errors.Is(err, cassandra.ErrCredentials), scan.ClassOf(err) == scan.Authentication:
		return "--user NAME, and the password in MANIFEST_PASSWORD or --password-file"
	case errors.Is(err, cassandra.ErrNoHost):
		return "check --hosts, --port, --local-dc and, if the cluster wants TLS, --tls-ca; 'manifest doctor' shows each step"
	case scan.ClassOf(err) == scan.Unauthorized:
		return "GRANT SELECT on the table to the role; 'manifest doctor' prints the grants"
	case scan.ClassOf(err) == scan.SchemaChanged:
		return "run again: the table was changed or dropped while it was read"
	case errors.Is(err, export.ErrExists):
		return "another --out, or --overwrite to replace it"
	case errors.Is(err, export.ErrNotDataset):
		return "another --out: what is there was not made by this program, and is left alone"
	case errors.Is(err, ledger.ErrLocked):
		return "wait for the other process that has this run"
	case errors.Is(err, fs.ErrPermission):
		return "a directory that this user may write to"
	case errors.Is(err, scan.ErrTooManyFailures):
		return "smaller pages (--page-size), fewer workers (--workers), or wait until the cluster is healthy"
	}
	return ""
}

// snapshotHint says what a user can do about an error of snapshots.
func snapshotHint(err error) string {
	switch {
	case errors.Is(err, s3.ErrNoAccess):
		return "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, --s3-endpoint, --s3-region: a user that may list the bucket and read its objects"
	case errors.Is(err, sstables.ErrTags):
		return "--snapshot-tag with one of these names, or --snapshot with the folder itself"
	case errors.Is(err, sstables.ErrLive):
		return "nodetool snapshot --tag NAME on that node, then --snapshot-tag NAME: a running server's files change while they are read"
	case errors.Is(err, sstables.ErrAmbiguous):
		return "--snapshot with the folders of one of them, or --schema FILE"
	case errors.Is(err, sstables.ErrNoSchema):
		return "--schema FILE with the table's CREATE TABLE and its dropped columns, as DESCRIBE prints them"
	case errors.Is(err, sstables.ErrIncomplete), errors.Is(err, fault.ErrMissing):
		return "copy the snapshot again: not all of its files are there"
	case errors.Is(err, fault.ErrCorrupt):
		return "copy the file again, or take it from another replica; --on-corrupt skip reads on without the SSTable, and the result is incomplete"
	}
	return ""
}

// unknownColumn finds, in an error, a column that a table lacks, and those that
// it has.
func unknownColumn(err error) (name string, known []string) {
	if e, ok := errors.AsType[*schema.ColumnError](err); ok && errors.Is(e, schema.ErrNoColumn) {
		return e.Column, e.Known
	}
	if e, ok := errors.AsType[*selection.Error](err); ok {
		return e.Unknown, e.Known
	}
	if e, ok := errors.AsType[*groupingError](err); ok {
		if c, ok := errors.AsType[*queries.ColumnError](e.err); ok && c.Field == "" {
			return c.Column, e.known
		}
	}
	return "", nil
}
