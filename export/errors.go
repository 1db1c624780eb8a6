package export

import (
	"errors"

	"manifest/export/internal/derive"
	"manifest/export/internal/parquetfile"
	"manifest/export/internal/shape"
)

var (
	// ErrExists reports an output directory that is there already.
	ErrExists = errors.New("output exists")

	// ErrNotDataset reports a directory that was to be overwritten, but that
	// this program has not written.
	ErrNotDataset = errors.New("not a dataset of this program")

	// ErrPart reports a part file that is missing, damaged, or written with
	// other settings.
	ErrPart = errors.New("part does not fit")

	// ErrVerify reports output that differs from what was meant to be written.
	ErrVerify = errors.New("verification failed")

	// ErrColumn reports a column that is not there, or whose type can't be written.
	ErrColumn = shape.ErrColumn

	// ErrDerived reports a column that can't be made of others.
	ErrDerived = derive.ErrColumn

	// ErrUnfit reports a value that its type in the file can't hold, such as a
	// timestamp past the year 294,246. The error names column, value and partition.
	ErrUnfit = shape.ErrUnfit

	// ErrSchema reports a schema that can't be written in a format.
	ErrSchema = parquetfile.ErrSchema
)
