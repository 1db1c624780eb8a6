package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"manifest/export"
	"manifest/internal/sampling"
	"manifest/internal/selection"
	"manifest/internal/trainset"
)

// trainOptions say what a training manifest is beside the rows that it selects.
type trainOptions struct {
	tagsFile, devicesFile string
	statuses              []string
	dedupe                string
	fraction              string
	limit                 int64
	balance               []string
	maxPer                []string
	split                 string
	groupBy               []string
	salt                  string
	pinFrom               string
	order                 string
	uri                   string
	memory                byteSize
}

// trainFlags are those that make no sense with --table.
var trainFlags = []string{
	"tags-file", "devices-file", "status", "dedupe", "fraction", "limit", "balance", "max-per", "split", "group-by", "salt", "pin-from",
	"order", "memory",
}

func (o *trainOptions) addFlags(cmd *cobra.Command) {
	o.memory = 512 << 20
	f := cmd.Flags()
	f.StringVar(&o.tagsFile, "tags-file", "", "file with a tag on each line; any of them is wanted")
	f.StringVar(&o.devicesFile, "devices-file", "", "file with a device on each line")
	f.StringSliceVar(&o.statuses, "status", nil, "review statuses wanted; none is that of images without a row, any looks at none (default: all but rejected and deleted)")
	f.StringVar(&o.dedupe, "dedupe", "content-hash", "which images are duplicates: content-hash or none")
	f.StringVar(&o.fraction, "fraction", "", "share of the images to keep, such as 0.1 or 10%")
	f.Int64Var(&o.limit, "limit", 0, "most images to keep")
	f.StringSliceVar(&o.balance, "balance", nil, "columns of the strata that --limit draws from equally, such as tag,device")
	f.StringSliceVar(&o.maxPer, "max-per", nil, "most images with one value of a column, such as device=500")
	f.StringVar(&o.split, "split", "", "names and shares of the splits, such as train=0.8,validation=0.1,test=0.1 (default: all is train)")
	f.StringSliceVar(&o.groupBy, "group-by", nil, "columns whose values are kept in one split together, such as device or device,day")
	f.StringVar(&o.salt, "salt", "", "any text: another one gives other samples and splits")
	f.StringVar(&o.pinFrom, "pin-from", "", "older manifest whose images keep their splits")
	f.StringVar(&o.order, "order", "hash", "order of the rows: hash, which mixes them, or time")
	f.StringVar(&o.uri, "uri", "", "template of the column uri (default s3://{object_store}/{object_key}; with --table none)")
	f.Var(&o.memory, "memory", "memory of a training manifest, beyond which it spills to disk")
}

// forbid refuses flags of training manifests beside --table.
func (o trainOptions) forbid(given map[string]bool) error {
	for _, name := range trainFlags {
		if given[name] {
			return fmt.Errorf("--%s is of training manifests, which are made without --table", name)
		}
	}
	return nil
}

// spec puts all that was asked for together.
func (o exportOptions) spec() (trainset.Spec, error) {
	t := o.train
	spec := trainset.Spec{
		Devices: o.rows.devices, Regions: o.rows.regions, NoDedupe: t.dedupe == "none", Limit: t.limit, Balance: t.balance,
		GroupBy: t.groupBy, Salt: t.salt, Columns: o.columns, URI: t.uri, Order: trainset.Order(t.order), Names: o.settings.Names.Columns,
	}
	var errs []error
	fail := func(flag string, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("--%s: %w", flag, err))
		}
	}
	var err error
	if spec.Tags, err = o.rows.tags.expression(); err != nil {
		errs = append(errs, err)
	}
	if spec.From, spec.To, err = o.rows.days(); err != nil {
		errs = append(errs, err)
	}
	spec.Where, err = selection.ParseWhere(o.rows.where)
	fail("where", err)
	if t.tagsFile != "" {
		tags, err := linesOf(t.tagsFile)
		fail("tags-file", err)
		if len(o.rows.tags) > 0 {
			errs = append(errs, errors.New("--tags and --tags-file both say which tags are wanted: give one of them"))
		}
		spec.Tags = selection.AnyTag(tags)
	}
	if t.devicesFile != "" {
		devices, err := linesOf(t.devicesFile)
		fail("devices-file", err)
		spec.Devices = slices.Concat(spec.Devices, devices)
	}
	if slices.Contains(t.statuses, "any") {
		spec.AnyStatus = true
		if len(t.statuses) > 1 {
			errs = append(errs, errors.New("--status any looks at none, and can't stand beside others"))
		}
	} else {
		spec.Statuses = t.statuses
	}
	if t.dedupe != "content-hash" && t.dedupe != "none" {
		errs = append(errs, fmt.Errorf("--dedupe %q is not content-hash or none", t.dedupe))
	}
	if t.fraction != "" {
		spec.Fraction, err = sampling.ParseShare(t.fraction)
		fail("fraction", err)
	}
	if t.split != "" {
		spec.Splits, err = sampling.ParseSplits(t.split)
		fail("split", err)
	}
	spec.Caps, err = capsOf(t.maxPer)
	fail("max-per", err)
	fail("limit", sampling.Options{Limit: t.limit, Balance: len(t.balance) > 0}.Validate())
	if t.pinFrom != "" && len(spec.Splits) == 0 {
		errs = append(errs, errors.New("--pin-from keeps splits: name them with --split"))
	}
	if o.run.scan.ofTokens() {
		errs = append(errs, errors.New("a part of the tokens is a part of a table, not of a training manifest: use it with --table"))
	}
	if o.rows.dayColumn != "" {
		errs = append(errs, errors.New("--day-column is for --table: the days of a training manifest are those of its index tables"))
	}
	if err := errors.Join(errs...); err != nil {
		return spec, usageError{err}
	}
	return spec, nil
}

// capsOf reads column=number.
func capsOf(texts []string) ([]trainset.Cap, error) {
	var caps []trainset.Cap
	for _, text := range texts {
		column, number, ok := strings.Cut(text, "=")
		n, err := strconv.ParseInt(number, 10, 64)
		if !ok || column == "" || err != nil || n < 1 {
			return nil, fmt.Errorf("%q is no column and number such as device=500", text)
		}
		caps = append(caps, trainset.Cap{Column: column, N: n})
	}
	return caps, nil
}

// linesOf reads the lines of a file that are not empty.
func linesOf(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var lines []string
	s := bufio.NewScanner(f)
	for s.Scan() {
		if line := strings.TrimSuffix(s.Text(), "\r"); line != "" {
			lines = append(lines, line)
		}
	}
	if err := s.Err(); err != nil {
		return nil, err
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("%s has no lines", path)
	}
	return lines, nil
}

// record describes the request for manifest.json.
func (t *training) record() *export.Training {
	s, o := t.spec, t.options.train
	r := &export.Training{
		Devices: s.Devices, Regions: s.Regions, Statuses: s.Statuses, Dedupe: o.dedupe, Fraction: s.Fraction.String(), Limit: s.Limit,
		Balance: s.Balance, MaxPer: o.maxPer, GroupBy: s.GroupBy, Salt: s.Salt, Order: o.order, URI: o.uri,
	}
	if s.Tags != nil {
		r.Tags = s.Tags.String()
	}
	if s.From != nil {
		r.From = s.From.String()
	}
	if s.To != nil {
		r.To = s.To.String()
	}
	switch {
	case s.AnyStatus:
		r.Statuses = []string{"any"}
	case len(s.Statuses) == 0:
		r.Statuses = []string{"not rejected", "not deleted"}
	}
	return r
}

// arguments are the flags given, for the record.
func (o trainOptions) arguments() []string {
	var args []string
	for _, a := range []struct{ flag, value, byDefault string }{
		{"tags-file", o.tagsFile, ""}, {"devices-file", o.devicesFile, ""}, {"status", strings.Join(o.statuses, ","), ""},
		{"dedupe", o.dedupe, "content-hash"}, {"fraction", o.fraction, ""}, {"limit", strconv.FormatInt(o.limit, 10), "0"},
		{"balance", strings.Join(o.balance, ","), ""}, {"max-per", strings.Join(o.maxPer, ","), ""}, {"split", o.split, ""},
		{"group-by", strings.Join(o.groupBy, ","), ""}, {"salt", o.salt, ""}, {"pin-from", o.pinFrom, ""}, {"order", o.order, "hash"},
		{"uri", o.uri, ""},
	} {
		if a.value != a.byDefault {
			args = append(args, "--"+a.flag, a.value)
		}
	}
	return args
}
