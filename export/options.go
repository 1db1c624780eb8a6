package export

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"manifest/export/internal/arrowfile"
	"manifest/export/internal/parquetfile"
	"manifest/export/internal/shape"
	"manifest/export/internal/textfile"
)

// Options of a dataset. WorkDir must be set; the zero value of everything else
// is good.
type Options struct {
	// WorkDir is where parts are kept until they have become files: an existing
	// directory on the file system of the output.
	WorkDir string

	// Format of the files. Default Parquet.
	Format Format

	// Columns to write, in that order. Default all, in the order of the table.
	Columns []string

	// Filter chooses rows. Default all. If it is a fmt.Stringer, parts of a run
	// that is resumed with another filter are found out.
	Filter RowFilter

	// Derived columns are made of those of the records, and written behind them.
	Derived []DerivedColumn

	// PartitionKey names the columns of the partition key, for error messages.
	PartitionKey []string

	Shape   ShapeOptions
	Parquet ParquetOptions
	Arrow   ArrowOptions
	Text    TextOptions

	// Dir is the directory of the files, below that of the dataset. Default data.
	Dir string

	// FilePrefix begins the names of the files, such as train in
	// train-00000-of-00004.parquet. Default part. Several datasets of different
	// prefixes may share a Dir.
	FilePrefix string

	// Shards is the number of files. Default: as many as ShardBytes asks for.
	// There are never more files than rows, nor less than one.
	Shards int

	// ShardBytes is the size of files to aim for. Default 192 MiB: large enough
	// to be read at full speed, small enough to hand one to each worker.
	ShardBytes int64

	// Parallelism is how many files are put together at a time. Default the
	// number of processors.
	Parallelism int

	// NoSync leaves out waiting for the disk at each commit. For tests.
	NoSync bool
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_]*$`)

// RowFilter chooses rows of records, which have all columns that were read.
// Apply gives a record of the same schema, which the caller releases, and may
// be called concurrently.
type RowFilter interface {
	Apply(rec arrow.Record) (arrow.Record, error)
}

// DerivedColumn is a column of text that is made of others: by a template, or as
// the value that a map has for a key. It is NULL where a value that it needs is.
type DerivedColumn struct {
	Name string
	// Template is text with names of columns in braces, such as
	// s3://{object_store}/{object_key}. {{ and }} are braces. A value that has a
	// scheme of its own takes the place of the template's.
	Template string
	// Safe makes values safe as keys of WebDataset, and as names of files: every
	// byte but ASCII letters and digits and '-' is written as '_' and two
	// hexadecimal digits. No text at all is NULL.
	Safe bool
	// Map names a column of type map<text, text>, and MapKey the key.
	Map, MapKey string
}

// ShapeOptions say how types of CQL look in files. See docs/format/dataset.md
// for the table of types.
type ShapeOptions struct {
	// UUID is "string" (default), 36 characters, or "binary", 16 bytes.
	UUID string
	// Map is "list" (default), a list of structs of key and value, "map", "json",
	// text with a JSON object, or "columns": maps are not written, but for the
	// values in Options.Derived; those inside of other types are lists.
	Map string
	// Time is how times of day are written: "string" (default), text such as
	// 08:12:54.123456789, or "nanos" or "micros", a time of that unit. Not all
	// readers know times, and some fail on nanoseconds.
	Time string
	// Unfit is what becomes of a value that its type in the file can't hold:
	// "error" (default), "clamp", or "null".
	Unfit string
	// NoZone writes timestamps without the mark that they are UTC, for readers
	// that would show them in a zone of their own.
	NoZone bool
}

// ParquetOptions are for Parquet files.
type ParquetOptions struct {
	// RowGroupRows and RowGroupBytes end a row group. Default 131,072 and 64 MiB.
	RowGroupRows  int
	RowGroupBytes int64

	// Dictionary turns dictionary encoding on or off by column or by the path of
	// a leaf. The default is on for text, except in columns of CQL type uuid,
	// timeuuid, decimal and varint and those whose last word is key, hash, uri,
	// url or path; a dictionary past 256 KiB is left.
	Dictionary map[string]bool

	// NoBounds names columns without minimum and maximum. Default: those whose
	// last word is uri or url; columns of bytes never have them.
	NoBounds []string

	// Sorting tells readers how rows are sorted. Set it only where it is true.
	Sorting []SortingColumn

	// Metadata goes into each file's footer.
	Metadata map[string]string

	// Parallelism is how many columns of a part are encoded at a time. Default 1:
	// a scan writes many parts at a time.
	Parallelism int
}

// SortingColumn names one column that rows are sorted by.
type SortingColumn struct {
	Path       string // a column's name, or the dotted path of a leaf
	Descending bool
	NullsFirst bool
}

// ArrowOptions are for Arrow IPC files.
type ArrowOptions struct {
	// BatchRows ends a record batch. Default 16,384.
	BatchRows int
	// Compression is "" (default), so that files can be mapped into memory,
	// "zstd" or "lz4".
	Compression string
}

// TextOptions are for CSV and JSON lines.
type TextOptions struct {
	// NullText is what CSV has for NULL. Default nothing, while empty text is
	// written as two quotes; \N for a table of one column.
	NullText string
	// QuoteInt64 writes integers of 64 bits in JSON as strings.
	QuoteInt64 bool
}

func (o Options) withDefaults() Options {
	o.Format = cmp.Or(o.Format, Parquet)
	o.Dir = cmp.Or(o.Dir, dataDir)
	o.FilePrefix = cmp.Or(o.FilePrefix, "part")
	o.ShardBytes = cmp.Or(o.ShardBytes, 192<<20)
	o.Parallelism = cmp.Or(o.Parallelism, runtime.GOMAXPROCS(0))
	return o
}

// Validate reports all settings that make no sense, joined.
func (o Options) Validate() error {
	var errs []error
	if o.WorkDir == "" {
		errs = append(errs, errors.New("no work directory"))
	}
	for what, name := range map[string]string{"directory": o.Dir, "prefix": o.FilePrefix} {
		if name != "" && !plainName.MatchString(name) {
			errs = append(errs, fmt.Errorf("%s %q of the files is no plain name", what, name))
		}
	}
	if _, err := ParseFormat(string(o.Format)); err != nil {
		errs = append(errs, err)
	}
	for _, n := range []struct {
		name  string
		value int64
	}{
		{"shards", int64(o.Shards)}, {"shard bytes", o.ShardBytes}, {"parallelism", int64(o.Parallelism)},
	} {
		if n.value < 0 {
			errs = append(errs, fmt.Errorf("%s is %d, but can't be negative", n.name, n.value))
		}
	}
	if _, err := o.shape(); err != nil {
		errs = append(errs, err)
	}
	if err := o.Parquet.internal("").Validate(); err != nil {
		errs = append(errs, fmt.Errorf("parquet: %w", err))
	}
	if err := o.Arrow.internal().Validate(); err != nil {
		errs = append(errs, fmt.Errorf("arrow: %w", err))
	}
	if err := o.Text.internal().Validate(); err != nil {
		errs = append(errs, fmt.Errorf("text: %w", err))
	}
	return errors.Join(errs...)
}

// shape gives the settings of the shape for the format. In text there is no
// reason for units other than those of the values.
func (o Options) shape() (shape.Options, error) {
	s, err := o.Shape.internal()
	s.Partition = o.PartitionKey
	if o.Format == CSV || o.Format == JSONLines {
		s.Timestamp = shape.TimestampMillis
		if s.Map == shape.MapJSON { // a map is an object there; text would be quoted once more
			s.Map = shape.MapNative
		}
	}
	return s, err
}

// mapColumns is the setting of ShapeOptions.Map that leaves maps out.
const mapColumns = "columns"

func (s ShapeOptions) internal() (shape.Options, error) {
	out := shape.Options{NoZone: s.NoZone}
	var errs []error
	choose(&errs, "uuid", s.UUID, &out.UUID, "string", "binary")
	choose(&errs, "map", strings.TrimPrefix(s.Map, mapColumns), &out.Map, "list", "map", "json")
	choose(&errs, "time", s.Time, &out.Time, "string", "nanos", "micros")
	choose(&errs, "unfit", s.Unfit, &out.Unfit, "error", "clamp", "null")
	return out, errors.Join(errs...)
}

// choose sets a setting to the place of its name among names; "" is the first.
func choose[T ~uint8](errs *[]error, setting, name string, to *T, names ...string) {
	for i, n := range names {
		if n == name {
			*to = T(i)
			return
		}
	}
	if name != "" {
		*errs = append(*errs, fmt.Errorf("setting %s is %q, but can be only %s", setting, name, strings.Join(names, ", ")))
	}
}

func (p ParquetOptions) internal(tempDir string) parquetfile.Options {
	out := parquetfile.Options{
		RowGroupRows: p.RowGroupRows, RowGroupBytes: p.RowGroupBytes,
		Dictionary: p.Dictionary, NoBounds: p.NoBounds,
		Metadata: p.Metadata, Parallelism: p.Parallelism, TempDir: tempDir,
	}
	for _, s := range p.Sorting {
		out.Sorting = append(out.Sorting, parquetfile.SortingColumn(s))
	}
	return out
}

func (a ArrowOptions) internal() arrowfile.Options {
	return arrowfile.Options{BatchRows: a.BatchRows, Compression: a.Compression}
}

func (t TextOptions) internal() textfile.Options {
	return textfile.Options{NullText: t.NullText, QuoteInt64: t.QuoteInt64}
}

// withoutBounds gives the columns that have no bounds by default.
func withoutBounds(schema *arrow.Schema) []string {
	names := []string{}
	for _, f := range schema.Fields() {
		switch parquetfile.LastWord(f.Name) {
		case "uri", "url":
			names = append(names, f.Name)
		}
	}
	return names
}
