package datasetcard

import (
	"fmt"
	"strings"

	"manifest/export"
)

// Card makes README.md. Its head is YAML; all texts in it that a user chose are
// quoted, so that they can't be taken for anything else.
func Card(m export.Manifest, info Info) []byte {
	var b strings.Builder
	splits := splitsOf(m)
	head(&b, m, info, splits)
	fmt.Fprintf(&b, "\n# %s\n\n%s\n", inline(info.Name), summary(m))
	if m.Training != nil {
		training(&b, *m.Training)
	}
	b.WriteString("\n## Splits\n\n| split | rows | files | bytes |\n|---|---:|---:|---:|\n")
	for _, s := range splits {
		fmt.Fprintf(&b, "| %s | %d | %d | %d |\n", cell(s.name), s.rows, s.files, s.bytes)
	}
	loading(&b, m, info, splits)
	b.WriteString("\n## Columns\n\n| column | CQL type | type in the files | can be NULL |\n|---|---|---|---|\n")
	for _, c := range m.Columns {
		null := "no"
		if c.Nullable {
			null = "yes"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", cell(c.Name), cell(c.CQL), cell(c.Type), null)
	}
	provenance(&b, m)
	return []byte(b.String())
}

// head writes the YAML that Hugging Face datasets reads. num_bytes there is the
// size in memory, which nobody knows here, and it is ignored without: the size of
// the files stands for it. Types are stated for CSV alone, which has none.
func head(b *strings.Builder, m export.Manifest, info Info, splits []split) {
	b.WriteString("---\n")
	fmt.Fprintf(b, "pretty_name: %s\n", quoted(info.Name))
	if info.License != "" {
		fmt.Fprintf(b, "license: %s\n", quoted(info.License))
	}
	fmt.Fprintf(b, "size_categories:\n- %s\n", sizeCategory(m.Rows))
	b.WriteString("configs:\n- config_name: default\n  data_files:\n")
	for _, s := range splits {
		fmt.Fprintf(b, "  - split: %s\n    path: %s\n", quoted(s.name), quoted(s.pattern))
	}
	b.WriteString("dataset_info:\n  config_name: default\n")
	if m.Format == export.CSV {
		b.WriteString("  features:\n")
		for _, c := range m.Columns {
			fmt.Fprintf(b, "  - name: %s\n    dtype: %s\n", quoted(c.Name), cellType(c))
		}
	}
	b.WriteString("  splits:\n")
	for _, s := range splits {
		fmt.Fprintf(b, "  - name: %s\n    num_examples: %d\n    num_bytes: %d\n", quoted(s.name), s.rows, s.bytes)
	}
	fmt.Fprintf(b, "  download_size: %d\n  dataset_size: %d\n---\n", m.Bytes, m.Bytes)
}

// cellType is what a column of CSV is read as. Whole numbers and booleans that can
// be NULL are read as text: the reader has no NULL for them.
func cellType(c export.Column) string {
	switch c.Type {
	case "float32", "float64":
		return c.Type
	case "bool", "int8", "int16", "int32", "int64":
		if !c.Nullable {
			return c.Type
		}
	}
	return "string"
}

// sizeCategory is the class of a number of rows, as the Hub names it.
func sizeCategory(rows int64) string {
	names := []string{"n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B", "1B<n<10B", "10B<n<100B", "100B<n<1T"}
	i := 0
	for limit := int64(1000); rows >= limit && i < len(names)-1; limit *= 10 {
		i++
	}
	return names[i]
}

func summary(m export.Manifest) string {
	source := m.Source.Keyspace + "." + m.Source.Table
	text := fmt.Sprintf("%d rows of %s, read between %s and %s.", m.Rows, inline(source), m.Window.Start.Format(stamp), m.Window.End.Format(stamp))
	if !m.Coverage.Complete {
		text += " **This dataset is incomplete: not all that was asked for could be read.**"
	}
	return text
}

// stamp is how instants are written.
const stamp = "2006-01-02 15:04:05 MST"

// training tells how the images were chosen.
func training(b *strings.Builder, t export.Training) {
	b.WriteString("\n## Selection\n\n")
	line := func(what, value string) {
		if value != "" {
			fmt.Fprintf(b, "- %s: %s\n", what, inline(value))
		}
	}
	line("tags", t.Tags)
	line("first day", t.From)
	line("last day", t.To)
	line("devices", strings.Join(t.Devices, ", "))
	line("regions", strings.Join(t.Regions, ", "))
	line("review status", strings.Join(t.Statuses, ", "))
	line("duplicates", t.Dedupe)
	line("fraction", t.Fraction)
	if t.Limit > 0 {
		line("at most", fmt.Sprintf("%d images", t.Limit))
	}
	line("balanced by", strings.Join(t.Balance, ", "))
	line("at most per group", strings.Join(t.MaxPer, ", "))
	line("groups that stay in one split", strings.Join(t.GroupBy, ", "))
	line("salt", t.Salt)
	line("order", t.Order)
	line("URIs", t.URI)
	line("splits kept from run", t.PinFrom)
	for _, r := range t.Rejected {
		fmt.Fprintf(b, "- left out as %s: %d images\n", inline(r.Stage), r.Rows)
	}
	fmt.Fprintf(b, "\nCounted in the final rows: %d of %d groups are in more than one split", t.Proof.GroupsAcrossSplits, t.Proof.Groups)
	if t.Proof.HashesKnown {
		fmt.Fprintf(b, ", and %d of %d content hashes", t.Proof.HashesAcrossSplits, t.Proof.ContentHashes)
	}
	b.WriteString(".\n")
}

// loading shows how the files are opened.
func loading(b *strings.Builder, m export.Manifest, info Info, splits []split) {
	at := quoted("./" + info.Name)
	code := fmt.Sprintf("from datasets import load_dataset\n\ndataset = load_dataset(%s)", at)
	if m.Format == export.CSV { // it guesses types otherwise, and fails on numbers of more than 64 bits
		code = fmt.Sprintf("from datasets import load_dataset, load_dataset_builder\n\nfeatures = load_dataset_builder(%s).info.features\ndataset = load_dataset(%[1]s, features=features)", at)
	}
	fmt.Fprintf(b, "\n## Loading\n\nWhere the directory is:\n\n```python\n%s\n```\n", code)
	if m.Format == export.Parquet && len(splits) > 0 {
		fmt.Fprintf(b, "\n```sql\n-- DuckDB\nSELECT * FROM read_parquet('%s');\n```\n", strings.ReplaceAll(oneLine(info.Name+"/"+splits[0].pattern), "'", "''"))
	}
}

func provenance(b *strings.Builder, m export.Manifest) {
	b.WriteString("\n## Provenance\n\n")
	fmt.Fprintf(b, "- made by run %s of manifest %s, on %s\n", inline(m.RunID), inline(m.ToolVersion), m.CreatedAt.UTC().Format(stamp))
	fmt.Fprintf(b, "- request: %s\n", inline(m.Query.Text))
	if m.Query.Where != "" {
		fmt.Fprintf(b, "- rows: %s\n", inline(m.Query.Where))
	}
	if m.Source.Cluster != "" {
		fmt.Fprintf(b, "- cluster: %s, consistency %s\n", inline(m.Source.Cluster), inline(m.Source.Consistency))
	}
	for _, c := range m.Counts {
		fmt.Fprintf(b, "- rows %s: %d\n", inline(c.Stage), c.Rows)
	}
	for _, c := range m.Columns {
		if n := m.Unfit[c.Name]; n > 0 {
			fmt.Fprintf(b, "- values of %s that did not fit their type and were replaced: %d\n", inline(c.Name), n)
		}
	}
	b.WriteString("\n`manifest.json` says all of this to programs, `SHA256SUMS` has the checksums, and `manifest verify` checks both.\n")
}

// quoted is a text as YAML: a string in double quotes, as JSON has them.
func quoted(text string) string { return string(jsonText(text)) }

// oneLine is a text without line ends and other controls.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, text)
}

// inline is a text in code quotes, on one line.
func inline(text string) string {
	text = oneLine(text)
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if len(fence) > 1 || text == "" {
		return fence + " " + text + " " + fence
	}
	return fence + text + fence
}

// cell is a text in a table.
func cell(text string) string {
	if text == "" {
		return ""
	}
	return strings.ReplaceAll(inline(text), "|", `\|`)
}
