package parquetfile

import "errors"

var (
	// ErrSchema reports a schema that can't be written as Parquet, or a record
	// that does not have the schema of its file.
	ErrSchema = errors.New("schema does not fit")

	// ErrFormat reports bytes that are not a Parquet file of the shape that
	// this package writes.
	ErrFormat = errors.New("not a Parquet file of this program")

	// ErrNullInRequired reports a null in a column declared not nullable.
	ErrNullInRequired = errors.New("null in a column that is not nullable")
)
