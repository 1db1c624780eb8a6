package export

// statedTypes are the types that docs/format/dataset.md states for the columns of
// everyType in a Parquet file: in pyarrow, DuckDB and Polars.
func statedTypes() (pyarrow, duckdb, polars map[string]string) {
	pyarrow, duckdb, polars = map[string]string{}, map[string]string{}, map[string]string{}
	for _, c := range []struct{ name, pyarrow, duckdb, polars string }{
		{"row", "int32", "INTEGER", "Int32"},
		{"c_ascii", "string", "VARCHAR", "String"},
		{"c_bigint", "int64", "BIGINT", "Int64"},
		{"c_blob", "binary", "BLOB", "Binary"},
		{"c_boolean", "bool", "BOOLEAN", "Boolean"},
		{"c_counter", "int64", "BIGINT", "Int64"},
		{"c_date", "date32[day]", "DATE", "Date"},
		{"c_decimal", "string", "VARCHAR", "String"},
		{"c_double", "double", "DOUBLE", "Float64"},
		{"c_duration", "struct<months: int32 not null, days: int32 not null, nanoseconds: int64 not null>",
			"STRUCT(months INTEGER, days INTEGER, nanoseconds BIGINT)", "Struct({'months': Int32, 'days': Int32, 'nanoseconds': Int64})"},
		{"c_float", "float", "FLOAT", "Float32"},
		{"c_inet", "string", "VARCHAR", "String"},
		{"c_int", "int32", "INTEGER", "Int32"},
		{"c_smallint", "int16", "SMALLINT", "Int16"},
		{"c_text", "string", "VARCHAR", "String"},
		{"c_time", "string", "VARCHAR", "String"},
		{"c_timestamp", "timestamp[us, tz=UTC]", "TIMESTAMP WITH TIME ZONE", "Datetime(time_unit='us', time_zone='UTC')"},
		{"c_timeuuid", "string", "VARCHAR", "String"},
		{"c_tinyint", "int8", "TINYINT", "Int8"},
		{"c_uuid", "string", "VARCHAR", "String"},
		{"c_varint", "string", "VARCHAR", "String"},
		{"c_list", "list<element: string>", "VARCHAR[]", "List(String)"},
		{"c_set", "list<element: string>", "VARCHAR[]", "List(String)"},
		{"c_map", "list<element: struct<key: string not null, value: timestamp[us, tz=UTC]> not null>",
			"STRUCT(key VARCHAR, value TIMESTAMP WITH TIME ZONE)[]",
			"List(Struct({'key': String, 'value': Datetime(time_unit='us', time_zone='UTC')}))"},
		{"c_tuple", "struct<0: int32, 1: string>", "STRUCT(0 INTEGER, 1 VARCHAR)", "Struct({'0': Int32, '1': String})"},
		{"c_udt", "struct<street: string, zip: int32>", "STRUCT(street VARCHAR, zip INTEGER)", "Struct({'street': String, 'zip': Int32})"},
		{"c_vector", "list<element: float not null>", "FLOAT[]", "List(Float32)"},
		{"c_nested", "list<element: struct<key: string not null, value: list<element: struct<0: date32[day], 1: list<element: string>>>> not null>",
			"STRUCT(key VARCHAR, value STRUCT(0 DATE, 1 VARCHAR[])[])[]",
			"List(Struct({'key': String, 'value': List(Struct({'0': Date, '1': List(String)}))}))"},
		{`Mixed Case, with "comma"`, "string", "VARCHAR", "String"},
	} {
		pyarrow[c.name], duckdb[c.name], polars[c.name] = c.pyarrow, c.duckdb, c.polars
	}
	return pyarrow, duckdb, polars
}
