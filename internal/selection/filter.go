package selection

import (
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"manifest/internal/cqltype"
)

// Column is a column that conditions can name.
type Column struct {
	Name string // exact, without quotes
	Type *cqltype.Type
}

// Filter keeps the wanted rows of records. It may be used by any number of goroutines at once.
type Filter struct {
	root        predicate // nil keeps all
	program     *program
	evaluations sync.Pool
}

// Compile checks a condition against the columns of a table. The error is an *[Error].
func Compile(c Condition, columns []Column) (*Filter, error) {
	f := &Filter{program: &program{}}
	var all conjunction
	for _, part := range c.parts {
		p, err := (&compiler{part.text, columns, f.program}).compile(part.root)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	if len(all) > 0 {
		f.root = all
	}
	return f, nil
}

// Columns returns the columns that records need to have, among them writetime(name) and ttl(name) if the condition names those. They may
// have others too.
func (f *Filter) Columns() []string {
	names := make([]string, len(f.program.columns))
	for i, c := range f.program.columns {
		names[i] = c.Name
	}
	return names
}

// Mask appends to dst, for each row of rec, whether it is wanted: whether the condition is true of it, neither false nor unknown. The
// error names a column that rec lacks or has in another type.
func (f *Filter) Mask(dst []bool, rec arrow.Record) ([]bool, error) {
	err := f.evaluate(rec, func(truths []truth) {
		for _, t := range truths {
			dst = append(dst, t == isTrue)
		}
	})
	return dst, err
}

// Apply returns a record of the wanted rows in their order, with the schema of rec. If all are wanted it is rec itself. The caller
// releases it in any case. Memory comes from mem. The error names a column that rec lacks, or has in a type that it should not have.
func (f *Filter) Apply(mem memory.Allocator, rec arrow.Record) (arrow.Record, error) {
	if f.root == nil {
		rec.Retain()
		return rec, nil
	}
	var kept arrow.Record
	var takeErr error
	err := f.evaluate(rec, func(truths []truth) {
		kept, takeErr = take(mem, rec, spansOf(truths))
	})
	if err == nil {
		err = takeErr
	}
	return kept, err
}

// evaluate calls use with the truth of each row, which is valid during the call.
func (f *Filter) evaluate(rec arrow.Record, use func([]truth)) error {
	e, ok := f.evaluations.Get().(*evaluation)
	if !ok {
		e = newEvaluation(f.program)
	}
	defer f.evaluations.Put(e)
	if err := e.bind(rec); err != nil {
		return err
	}
	defer e.unbind()
	truths := e.truths(int(rec.NumRows()))
	defer e.giveBack(truths)
	if f.root == nil {
		fill(truths, isTrue)
	} else {
		f.root.eval(e, truths)
	}
	use(truths)
	return nil
}
