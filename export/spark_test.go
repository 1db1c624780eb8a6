package export

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"manifest/internal/pyenv"
)

// Spark reads every CQL type, with the types and values that it should, and
// answers as we do. It writes what it read as Parquet again, which pyarrow reads.
func TestSparkOfEveryType(t *testing.T) {
	python := pyenv.Spark(t)
	rec, columns, rows := everyTypeForOthers(t)
	defer rec.Release()
	dir := t.TempDir()
	var variants []interopVariant
	arguments := []string{"testdata/spark.py"}
	for name, opts := range map[string]Options{
		"parquet":     {Shards: 3},
		"parquet-map": {Shape: ShapeOptions{Map: "map", NoZone: true}},
	} {
		opts.WorkDir = t.TempDir()
		d := newDataset(t, rec.Schema(), opts)
		writePart(t, t.Context(), d, "a", rec.NewSlice(0, 2))
		writePart(t, t.Context(), d, "b", rec.NewSlice(2, 5))
		out := filepath.Join(dir, name)
		if err := os.Mkdir(out, 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Finish(t.Context(), []string{"a", "b"}, out); err != nil {
			t.Fatal(err)
		}
		v := interopVariant{Dir: name, Format: Parquet, Shape: map[string]string{"uuid": "", "map": opts.Shape.Map, "time": ""}}
		if name == "parquet" {
			v.SparkTypes = sparkTypes
		}
		variants = append(variants, v)
		arguments = append(arguments, out)
	}
	cmd := exec.CommandContext(t.Context(), python, arguments...)
	cmd.Env = append(os.Environ(), "SPARK_LOCAL_IP=127.0.0.1", "TMPDIR="+t.TempDir(), "PYTHONDONTWRITEBYTECODE=1")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("Spark: %v\n%s", err, text)
	}
	runInterop(t, dir, map[string]any{"case": "spark", "columns": columns, "rows": rows, "variants": variants})
}

// sparkTypes are the types that docs/format/dataset.md implies for Spark.
var sparkTypes = map[string]string{
	"row": "int", "c_ascii": "string", "c_bigint": "bigint", "c_blob": "binary", "c_boolean": "boolean", "c_counter": "bigint", "c_date": "date",
	"c_decimal": "string", "c_double": "double", "c_duration": "struct<months:int,days:int,nanoseconds:bigint>", "c_float": "float", "c_inet": "string",
	"c_int": "int", "c_smallint": "smallint", "c_text": "string", "c_time": "string", "c_timestamp": "timestamp", "c_timeuuid": "string",
	"c_tinyint": "tinyint", "c_uuid": "string", "c_varint": "string", "c_list": "array<string>", "c_set": "array<string>",
	"c_map": "array<struct<key:string,value:timestamp>>", "c_tuple": "struct<0:int,1:string>", "c_udt": "struct<street:string,zip:int>",
	"c_vector": "array<float>", "c_nested": "array<struct<key:string,value:array<struct<0:date,1:array<string>>>>>", `Mixed Case, with "comma"`: "string",
}
