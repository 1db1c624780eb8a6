// Package derive adds columns to records that are made of other columns: a text
// with their values in it, such as a URI; a key that is safe as the name of a
// sample in a WebDataset; the value that a map has for a key.
//
//	object_store │ object_key │ attributes              uri                  │ attr_weather
//	─────────────┼────────────┼───────────────────  ──> ─────────────────────┼─────────────
//	bucket       │ a/b.jpg    │ {weather: rain}         s3://bucket/a/b.jpg  │ rain
//	bucket       │ NULL       │ {}                      NULL                 │ NULL
//
// A column that needs a value that is NULL is NULL. Columns of the record stay as
// they are, the new ones stand behind them.
package derive
