package export

import (
	"fmt"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// parquetTypes says how the types of Arrow in manifest.json look in Parquet
// files, where they are leaves: the physical type, and what the logical type's
// text begins with.
var parquetTypes = map[string]struct {
	kind    parquet.Kind
	logical string
}{
	"utf8": {parquet.ByteArray, "STRING"}, "binary": {parquet.ByteArray, ""}, "bool": {parquet.Boolean, ""},
	"int8": {parquet.Int32, "INT(8,true)"}, "int16": {parquet.Int32, "INT(16,true)"}, "int32": {parquet.Int32, ""}, "int64": {parquet.Int64, ""},
	"float32": {parquet.Float, ""}, "float64": {parquet.Double, ""}, "date32": {parquet.Int32, "DATE"},
	"timestamp[us, tz=UTC]": {parquet.Int64, "TIMESTAMP(isAdjustedToUTC=true,unit=MICROS)"},
	"timestamp[us]":         {parquet.Int64, "TIMESTAMP(isAdjustedToUTC=false,unit=MICROS)"},
	"fixed_size_binary[16]": {parquet.FixedLenByteArray, ""},
}

// checkParquetTypes compares the types of a Parquet file's columns with those of
// the manifest, and gives what differs. Columns that one of them lacks are for
// others to find.
func checkParquetTypes(schema *parquet.Schema, columns []Column) []string {
	fields := map[string]parquet.Field{}
	for _, f := range schema.Fields() {
		fields[f.Name()] = f
	}
	var differ []string
	fault := func(format string, args ...any) { differ = append(differ, fmt.Sprintf(format, args...)) }
	for _, c := range columns {
		f, ok := fields[c.Name]
		if !ok {
			continue
		}
		if f.Optional() != c.Nullable {
			fault("column %s may be null: %t, and the manifest says %t", c.Name, f.Optional(), c.Nullable)
		}
		want, flat := parquetTypes[c.Type]
		switch {
		case !flat && f.Leaf() && isNested(c.Type):
			fault("column %s is %s, and the manifest says %s", c.Name, f.Type(), c.Type)
		case !flat:
		case !f.Leaf():
			fault("column %s is nested, and the manifest says %s", c.Name, c.Type)
		case f.Type().Kind() != want.kind || !strings.HasPrefix(logicalName(f), want.logical):
			fault("column %s is %s %s, and the manifest says %s", c.Name, f.Type().Kind(), logicalName(f), c.Type)
		}
	}
	return differ
}

func isNested(arrowType string) bool {
	for _, prefix := range []string{"list<", "map<", "struct<", "fixed_size_list<"} {
		if strings.HasPrefix(arrowType, prefix) {
			return true
		}
	}
	return false
}

func logicalName(f parquet.Field) string {
	if l := f.Type().LogicalType(); l != nil {
		return l.String()
	}
	return ""
}
