package queries

import (
	"fmt"

	"manifest/queries/internal/accumulate"
	"manifest/queries/internal/vector"
)

const (
	minuteMillis = 60_000
	hourMillis   = 60 * minuteMillis
	dayMillis    = 24 * hourMillis
)

// delayBounds are those of the buckets of delays, in milliseconds.
var delayBounds = []float64{
	0, 1000, 10_000, minuteMillis, 5 * minuteMillis, 15 * minuteMillis, hourMillis, 6 * hourMillis, dayMillis, 7 * dayMillis, 30 * dayMillis,
}

func uploads(r *resolver, name string, o NamedOptions) (*Query, error) {
	m := o.Mapping.Metadata
	captured, err := r.timestamp(m.CaptureTime)
	if err != nil {
		return nil, err
	}
	uploaded, err := r.timestamp(m.UploadTime)
	if err != nil {
		return nil, err
	}
	captureDay, err := r.day(m.CaptureTime)
	if err != nil {
		return nil, err
	}
	delay := r.program.Difference(uploaded, captured)

	counts := grouping{table: 0, rows: 1}
	counts.addKey("day", captureDay)
	counts.addKey("delay", r.program.Bucket(delay, delayBounds))
	counts.addState(accumulate.Aggregate{Func: "count", Rows: true}, noSlot)
	bounds := bucketBounds(delayBounds)
	counts.fields = []field{
		keyField("day", vector.Date, 0),
		{"kind", vector.Text, false, func(r *row) (vector.Value, error) {
			switch delay := r.keys[1]; {
			case delay.Null:
				return vector.Value{Bytes: []byte("missing")}, nil
			case delay.Int == 0:
				return vector.Value{Bytes: []byte("negative")}, nil
			}
			return vector.Value{Bytes: []byte("delay")}, nil
		}},
		{"lo_ms", vector.Int64, true, func(r *row) (vector.Value, error) {
			lo, _ := bounds(r.keys[1])
			return lo, nil
		}},
		{"hi_ms", vector.Int64, true, func(r *row) (vector.Value, error) {
			_, hi := bounds(r.keys[1])
			return hi, nil
		}},
		resultField("images", vector.Int64, 0, 0),
	}

	quantiles := grouping{table: 1, rows: len(accumulate.DefaultQuantiles)}
	quantiles.addKey("day", captureDay)
	quantiles.addState(accumulate.Aggregate{Func: "count", Kind: vector.Int64}, delay)
	quantiles.addState(accumulate.Aggregate{Func: "quantiles", Kind: vector.Int64}, delay)
	quantiles.when = func(r *row) bool {
		n, _ := r.states[0].Result(0, 0) // A count has no error.
		return n.Int > 0
	}
	quantiles.fields = []field{
		keyField("day", vector.Date, 0),
		{"p", vector.Float64, false, func(r *row) (vector.Value, error) {
			return vector.Value{Float: accumulate.DefaultQuantiles[r.number]}, nil
		}},
		{"delay_ms", vector.Float64, false, func(r *row) (vector.Value, error) { return r.states[1].Result(0, r.number) }},
		resultField("images", vector.Int64, 0, 0),
	}

	histogram, err := newResultTable(name, true, counts.fields)
	if err != nil {
		return nil, err
	}
	percentiles, err := newResultTable("upload-quantiles", true, quantiles.fields)
	if err != nil {
		return nil, err
	}
	options := fmt.Sprintf("by %s to %s, delays %v", m.CaptureTime, m.UploadTime, delayBounds)
	return newQuery(name, r, options, []ResultTable{histogram, percentiles}, []grouping{counts, quantiles}), nil
}

// timestamp adds a timestamp.
func (r *resolver) timestamp(text string) (vector.Slot, error) {
	slot, err := r.text(text)
	if err != nil {
		return 0, err
	}
	if kind := r.program.Kind(slot); kind != vector.Timestamp {
		return 0, fmt.Errorf("%s of type %s is no timestamp: %w", text, kind, ErrType)
	}
	return slot, nil
}
