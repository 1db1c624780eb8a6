package queries

import (
	"context"
	"fmt"

	"manifest/queries/internal/accumulate"
	"manifest/queries/internal/vector"
)

// Buckets of image-sizes. Those of megapixels are the usual sizes of sensors, those of aspect lie between the usual shapes, so that 3:4,
// 4:3, 3:2 and 16:9 are each in the middle of one.
var (
	megapixelBounds = []float64{0, 0.3, 1, 2, 3, 5, 8, 12, 16, 24, 32, 48, 64, 108, 200}
	aspectBounds    = []float64{0, 0.45, 0.53, 0.61, 0.71, 0.85, 0.95, 1.05, 1.15, 1.29, 1.4, 1.55, 1.7, 1.85, 2.1, 3}
)

const (
	sizesTable         = 0 // of the tables of image-sizes
	sizeQuantilesTable = 1
)

// Groupings of image-sizes: one by day alone, then one by day and value of each dimension.
const (
	sizesOfDay = iota
	sizesMegapixels
	sizesAspect
	sizesWidth
	sizesHeight
)

var dimensions = [...]string{sizesMegapixels: "megapixels", sizesAspect: "aspect", sizesWidth: "width", sizesHeight: "height"}

func imageSizes(r *resolver, name string, o NamedOptions) (*Query, error) {
	m := o.Mapping.Metadata
	day, err := r.day(m.CaptureTime)
	if err != nil {
		return nil, err
	}
	width, err := r.integer(m.Width)
	if err != nil {
		return nil, err
	}
	height, err := r.integer(m.Height)
	if err != nil {
		return nil, err
	}
	megapixels, aspect := r.program.Megapixels(width, height), r.program.Aspect(width, height)

	// The groupings of a day come in the order of their marks. The first has the numbers of values, so that when the counts of widths
	// and heights follow, by value, the ranks of their quantiles are known (see sizeQuantiles).
	ofDay := grouping{table: sizeQuantilesTable}
	ofDay.addKey("day", day)
	for _, slot := range []vector.Slot{megapixels, aspect, width, height} {
		ofDay.addState(accumulate.Aggregate{Func: "count", Kind: r.program.Kind(slot)}, slot)
	}
	ofDay.addState(accumulate.Aggregate{Func: "quantiles", Kind: vector.Float64}, megapixels)
	ofDay.addState(accumulate.Aggregate{Func: "quantiles", Kind: vector.Float64}, aspect)

	groupings := []grouping{
		ofDay,
		sizeGrouping(sizesMegapixels, day, r.program.Bucket(megapixels, megapixelBounds), bucketBounds(megapixelBounds)),
		sizeGrouping(sizesAspect, day, r.program.Bucket(aspect, aspectBounds), bucketBounds(aspectBounds)),
		sizeGrouping(sizesWidth, day, width, valueBounds),
		sizeGrouping(sizesHeight, day, height, valueBounds),
	}
	sizes, err := newResultTable(name, true, groupings[sizesWidth].fields)
	if err != nil {
		return nil, err
	}
	quantiles, err := newResultTable("image-size-quantiles", true, sizeQuantileFields)
	if err != nil {
		return nil, err
	}
	options := fmt.Sprintf("by %s, width %s, height %s, megapixels %v, aspect %v", m.CaptureTime, m.Width, m.Height, megapixelBounds, aspectBounds)
	q := newQuery(name, r, options, []ResultTable{sizes, quantiles}, groupings)
	q.counted = []vector.Slot{day, width, height}
	q.result = func(_ *Aggregation, w *resultWriter) (result, error) { return &sizeQuantiles{resultWriter: w}, nil }
	return q, nil
}

// sizeGrouping counts the images of a day by a value, whose bounds are given by a function.
func sizeGrouping(dimension int, day, value vector.Slot, bounds func(v vector.Value) (lo, hi vector.Value)) grouping {
	g := grouping{table: sizesTable, rows: 1}
	g.addKey("day", day)
	g.addKey(dimensions[dimension], value)
	g.addState(accumulate.Aggregate{Func: "count", Rows: true}, noSlot)
	g.fields = []field{
		keyField("day", vector.Date, 0),
		constantField("dimension", dimensions[dimension]),
		{"lo", vector.Float64, true, func(r *row) (vector.Value, error) {
			lo, _ := bounds(r.keys[1])
			return lo, nil
		}},
		{"hi", vector.Float64, true, func(r *row) (vector.Value, error) {
			_, hi := bounds(r.keys[1])
			return hi, nil
		}},
		resultField("images", vector.Int64, 0, 0),
	}
	return g
}

func constantField(name, text string) field {
	v := vector.Value{Bytes: []byte(text)}
	return field{name, vector.Text, false, func(*row) (vector.Value, error) { return v, nil }}
}

// bucketBounds returns the bounds of the buckets that vector.Program.Bucket numbers, in both of the number fields of a value.
func bucketBounds(bounds []float64) func(v vector.Value) (lo, hi vector.Value) {
	at := func(i int64) vector.Value {
		if i < 0 || i >= int64(len(bounds)) {
			return vector.Value{Null: true}
		}
		return vector.Value{Float: bounds[i], Int: int64(bounds[i])}
	}
	return func(v vector.Value) (lo, hi vector.Value) {
		if v.Null {
			return v, v
		}
		return at(v.Int - 1), at(v.Int)
	}
}

// valueBounds are those of a whole number that has a row of its own.
func valueBounds(v vector.Value) (lo, hi vector.Value) {
	return vector.Value{Null: v.Null, Float: float64(v.Int)}, vector.Value{Null: v.Null, Float: float64(v.Int) + 1}
}

// sizeQuantileFields are the columns of image-size-quantiles, over rows that sizeQuantiles makes.
var sizeQuantileFields = []field{
	keyField("day", vector.Date, 0),
	notNull(keyField("dimension", vector.Text, 1)),
	notNull(keyField("p", vector.Float64, 2)),
	notNull(keyField("value", vector.Float64, 3)),
	notNull(keyField("images", vector.Int64, 4)),
}

func notNull(f field) field {
	f.nullable = false
	return f
}

// sizeQuantiles is the result of image-sizes: the quantiles of megapixels and aspect from the states of the day, then those of width and
// height, which it finds while the counts of the values go by in ascending order.
type sizeQuantiles struct {
	*resultWriter
	counts    [len(dimensions)]int64 // values of the day
	dimension int                    // whose counts go by, sizesOfDay if none do
	passed    int64                  // images counted so far
	values    []float64              // of the quantiles whose rank was passed
	quantile  row
}

func (s *sizeQuantiles) add(ctx context.Context, key, state []byte) error {
	_, mark, err := s.query.groupingOf(key)
	if err != nil {
		return err
	}
	if mark != s.dimension {
		if err := s.endDimension(); err != nil {
			return err
		}
	}
	if err := s.resultWriter.add(ctx, key, state); err != nil {
		return err
	}
	switch mark {
	case sizesOfDay:
		return s.beginDay()
	case sizesWidth, sizesHeight:
		s.dimension = mark
		return s.pass()
	}
	return nil
}

// beginDay takes the numbers of values of a day, and writes the quantiles that are in its state.
func (s *sizeQuantiles) beginDay() error {
	states := s.row.states
	for i := range dimensions[sizesMegapixels:] {
		n, err := states[i].Result(0, 0)
		if err != nil {
			return err
		}
		s.counts[sizesMegapixels+i] = n.Int
	}
	for i, dimension := range []int{sizesMegapixels, sizesAspect} {
		s.dimension = dimension
		for p := range accumulate.DefaultQuantiles {
			v, err := states[len(dimensions)-1+i].Result(0, p)
			if err != nil {
				return err
			}
			if !v.Null {
				s.values = append(s.values, v.Float)
			}
		}
		if err := s.endDimension(); err != nil {
			return err
		}
	}
	return nil
}

// pass counts the images of a value. The rank of quantile p among n values is p · (n-1), as in a DDSketch, and its value is the first
// one up to which there are more images than that.
func (s *sizeQuantiles) pass() error {
	value := s.row.keys[1]
	if value.Null {
		return nil
	}
	n, err := s.row.states[0].Result(0, 0)
	if err != nil {
		return err
	}
	s.passed += n.Int
	for _, p := range accumulate.DefaultQuantiles[len(s.values):] {
		if float64(s.passed) <= p*float64(s.counts[s.dimension]-1) {
			break
		}
		s.values = append(s.values, float64(value.Int))
	}
	return nil
}

// endDimension writes the quantiles of the dimension whose counts have gone by.
func (s *sizeQuantiles) endDimension() error {
	r := &s.quantile
	r.keys = append(r.keys[:0], s.dayValue(), vector.Value{Bytes: []byte(dimensions[s.dimension])}, vector.Value{}, vector.Value{},
		vector.Value{Int: s.counts[s.dimension]})
	for i, v := range s.values {
		r.keys[2].Float, r.keys[3].Float = accumulate.DefaultQuantiles[i], v
		if err := s.appendRow(sizeQuantilesTable, sizeQuantileFields, r); err != nil {
			return err
		}
	}
	s.dimension, s.passed, s.values = sizesOfDay, 0, s.values[:0]
	return nil
}

func (s *sizeQuantiles) end(ctx context.Context) error {
	if err := s.endDimension(); err != nil {
		return err
	}
	return s.resultWriter.end(ctx)
}
