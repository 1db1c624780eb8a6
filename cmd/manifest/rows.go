package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/spf13/cobra"

	"manifest/export"
	"manifest/internal/accesspath"
	"manifest/internal/cqltype"
	"manifest/internal/schema"
	"manifest/internal/selection"
	"manifest/scan"
	"manifest/tokenrange"
)

// rowOptions say which rows of a table are wanted.
type rowOptions struct {
	where     string
	from, to  string
	day       string
	dayColumn string
	tags      tagTexts
	devices   []string
	regions   []string
}

func (o *rowOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.where, "where", "", "condition on the rows, such as \"width >= 1024 AND attributes['weather'] = 'rain'\"")
	f.StringVar(&o.from, "from", "", "first UTC day, as YYYY-MM-DD")
	f.StringVar(&o.to, "to", "", "last UTC day, included")
	f.StringVar(&o.day, "day", "", "the one UTC day wanted")
	f.StringVar(&o.dayColumn, "day-column", "", "date or timestamp that the days are of (default: day_bucket or capture_time)")
	f.Var(&o.tags, "tags", "tags wanted, in the column tag; * and ? are wild")
	f.StringSliceVar(&o.devices, "device", nil, "devices wanted; * and ? are wild")
	f.StringSliceVar(&o.regions, "region", nil, "regions wanted; * and ? are wild")
}

// days are the asked first and last day; nil is no bound.
func (o rowOptions) days() (from, to *selection.Day, err error) {
	parse := func(flag, s string) *selection.Day {
		if s == "" {
			return nil
		}
		day, dayErr := selection.ParseDay(s)
		if dayErr != nil {
			err = errors.Join(err, fmt.Errorf("--%s: %w", flag, dayErr))
		}
		return &day
	}
	if o.day != "" {
		if o.from != "" || o.to != "" {
			return nil, nil, errors.New("--day is one day, --from and --to are several: give one of them")
		}
		day := parse("day", o.day)
		return day, day, err
	}
	from, to = parse("from", o.from), parse("to", o.to)
	if err == nil && from != nil && to != nil && *from > *to {
		err = fmt.Errorf("--from %s is after --to %s", o.from, o.to)
	}
	return from, to, err
}

// speaksFor tells whether a run over these rows would have found a statistic's
// day, had it any rows.
func (o rowOptions) speaksFor(day string) bool {
	from, to, err := o.days()
	if err != nil {
		return false
	}
	if from == nil && to == nil {
		return true
	}
	d, err := selection.ParseDay(day)
	return err == nil && (from == nil || d >= *from) && (to == nil || d <= *to)
}

// arguments are the flags given, for the record.
func (o rowOptions) arguments() []string {
	var args []string
	for _, a := range []struct{ flag, value string }{
		{"where", o.where}, {"from", o.from}, {"to", o.to}, {"day", o.day}, {"day-column", o.dayColumn},
		{"tags", o.tags.String()}, {"device", strings.Join(o.devices, ",")}, {"region", strings.Join(o.regions, ",")},
	} {
		if a.value != "" {
			args = append(args, "--"+a.flag, a.value)
		}
	}
	return args
}

func (o rowOptions) text() string { return strings.Join(o.arguments(), " ") }

// filter checks the conditions against a table.
func (o rowOptions) filter(t *schema.Table) (rowFilter, error) {
	condition, err := o.condition(t)
	if err != nil {
		return rowFilter{}, usageError{err}
	}
	text := condition.String()
	if text == "" {
		return rowFilter{}, nil
	}
	compiled, err := selection.Compile(condition, selectableColumns(t))
	if err != nil {
		return rowFilter{}, usageError{fmt.Errorf("rows of %s: %w", t, err)}
	}
	partitions, err := accesspath.KeyFilter(t, condition)
	if err != nil {
		return rowFilter{}, err
	}
	return rowFilter{compiled, partitions, text}, nil
}

func (o rowOptions) condition(t *schema.Table) (selection.Condition, error) {
	var conditions []selection.Condition
	var errs []error
	add := func(flag string, c selection.Condition, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("--%s: %w", flag, err))
		}
		conditions = append(conditions, c)
	}
	where, err := selection.ParseWhere(o.where)
	add("where", where, err)
	if from, to, err := o.days(); err != nil {
		errs = append(errs, err)
	} else if from != nil || to != nil {
		column, err := o.dayColumnOf(t)
		if err != nil {
			errs = append(errs, err)
		} else {
			days, err := selection.Days(column, from, to)
			add("from", days, err)
		}
	}
	tags, err := o.tags.list()
	if err != nil {
		errs = append(errs, err)
	}
	for _, list := range []struct {
		flag, column string
		values       []string
	}{{"tags", "tag", tags}, {"device", "device_id", o.devices}, {"region", "region", o.regions}} {
		if len(list.values) == 0 {
			continue
		}
		in, err := selection.In(columnOrAttribute(t, list.column), list.values)
		add(list.flag, in, err)
	}
	return selection.All(conditions...), errors.Join(errs...)
}

func (o rowOptions) dayColumnOf(t *schema.Table) (string, error) {
	if o.dayColumn != "" {
		if _, ok := t.Column(o.dayColumn); !ok {
			return "", &schema.ColumnError{Table: t.String(), Column: o.dayColumn, Reason: schema.ErrNoColumn, Known: t.Names()}
		}
		return selection.Quote(o.dayColumn), nil
	}
	for _, name := range []string{"day_bucket", "capture_time"} {
		if _, ok := t.Column(name); ok {
			return selection.Quote(name), nil
		}
	}
	return "", fmt.Errorf("%s has neither day_bucket nor capture_time: name the column of the days with --day-column", t)
}

// columnOrAttribute is the column of a name, or else the entry of that key in
// the column attributes.
func columnOrAttribute(t *schema.Table, name string) string {
	if _, ok := t.Column(name); !ok {
		if _, ok := t.Column("attributes"); ok {
			return "attributes['" + name + "']"
		}
	}
	return selection.Quote(name)
}

// selectableColumns are the columns that a condition may name.
func selectableColumns(t *schema.Table) []selection.Column {
	var columns []selection.Column
	for _, c := range t.Columns {
		columns = append(columns, selection.Column{Name: c.Name, Type: c.Type})
		for _, f := range []struct {
			name string
			kind cqltype.Kind
		}{{"writetime(" + c.Name + ")", cqltype.Bigint}, {"ttl(" + c.Name + ")", cqltype.Int}} {
			if _, err := t.Select([]string{f.name}); err == nil {
				columns = append(columns, selection.Column{Name: f.name, Type: &cqltype.Type{Kind: f.kind}})
			}
		}
	}
	return columns
}

// rowFilter keeps the wanted rows; the zero filter keeps all.
type rowFilter struct {
	compiled *selection.Filter
	// partitions is what the partition key alone decides; nil if that is nothing.
	partitions *selection.Filter
	text       string
}

// String is the canonical condition: two filters of the same text keep the same rows.
func (f rowFilter) String() string { return f.text }

func (f rowFilter) columns() []string {
	if f.compiled == nil {
		return nil
	}
	return f.compiled.Columns()
}

// Apply implements export.RowFilter.
func (f rowFilter) Apply(rec arrow.Record) (arrow.Record, error) {
	return f.compiled.Apply(memory.DefaultAllocator, rec)
}

// forExport is nil where all rows are wanted.
func (f rowFilter) forExport() export.RowFilter {
	if f.compiled == nil {
		return nil
	}
	return f
}

// consumer gives its parts the wanted rows alone.
func (f rowFilter) consumer(begin scan.ConsumerFunc) scan.Consumer {
	if f.compiled == nil {
		return begin
	}
	return scan.ConsumerFunc(func(ctx context.Context, s tokenrange.Split) (scan.Part, error) {
		part, err := begin(ctx, s)
		if err != nil {
			return nil, err
		}
		return &filteredPart{Part: part, filter: f}, nil
	})
}

type filteredPart struct {
	scan.Part
	filter rowFilter
}

// Write hands the wanted rows on.
func (p *filteredPart) Write(ctx context.Context, rec arrow.Record) error {
	kept, err := p.filter.Apply(rec)
	if err != nil {
		return err
	}
	defer kept.Release()
	if kept.NumRows() == 0 {
		return nil
	}
	return p.Part.Write(ctx, kept)
}

// Files implements scan.Filed.
func (p *filteredPart) Files(add func(path string, bytes int64, digest string)) {
	if filed, ok := p.Part.(scan.Filed); ok {
		filed.Files(add)
	}
}
