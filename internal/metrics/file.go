package metrics

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// TakeOver reads the time of the last success of the same command and output
// from the file of an earlier run. A file that is not there has none.
func (r *Run) TakeOver(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(f)
	if err != nil {
		return fmt.Errorf("%s is not a file of metrics: %w", path, err)
	}
	for _, m := range families["manifest_last_success_timestamp_seconds"].GetMetric() {
		if labelled(m, "command", r.labels[0]) && labelled(m, "output", r.labels[1]) {
			r.lastSuccess.WithLabelValues(r.labels...).Set(m.GetGauge().GetValue())
		}
	}
	return nil
}

func labelled(m *dto.Metric, name, value string) bool {
	for _, l := range m.GetLabel() {
		if l.GetName() == name {
			return l.GetValue() == value
		}
	}
	return false
}

// WriteFile writes all metrics to path, whole: through another name in the same
// directory, which is renamed.
func (r *Run) WriteFile(path string) error {
	if err := prometheus.WriteToTextfile(path, r.registry); err != nil {
		return fmt.Errorf("write metrics: %w", err)
	}
	return nil
}
