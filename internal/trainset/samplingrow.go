package trainset

import (
	"manifest/internal/sampling"
)

// samplingRow makes of accepted rows what decisions depend on.
type samplingRow struct {
	plan *Plan
	row  sampling.Row

	name, group   []byte
	balance, hash []byte
	texts, values [][]byte // of the key at hand
}

// of takes the place of the row before, which is of no use any more. The row has no ID yet.
func (d *samplingRow) of(accepted acceptedRow) (_ sampling.Row, err error) {
	p, r, cells := d.plan, &d.row, accepted.cells
	if d.name, err = p.nameOf(d.name[:0], cells[idCell]); err != nil {
		return *r, err
	}
	r.Name, r.ContentHash, r.HasTime, r.Pinned = d.name, nil, false, accepted.pinned
	if p.hash != nil {
		if d.hash, _, err = p.hash.text(d.hash[:0], cells); err != nil {
			return *r, err
		}
		r.ContentHash = d.hash
	}
	if p.time != nil && cells[p.time.cell] != nil {
		if r.Time, err = millisOf(cells[p.time.cell]); err != nil {
			return *r, err
		}
		r.HasTime = true
	}
	if d.group, err = d.groupKey(d.group[:0], cells); err != nil {
		return *r, err
	}
	r.Group = d.group
	if d.balance, _, err = d.valuesKey(d.balance[:0], p.balance, cells); err != nil {
		return *r, err
	}
	r.Balance = d.balance
	for i := range p.caps {
		if i == len(r.Strata) {
			r.Strata = append(r.Strata, nil)
		}
		if r.Strata[i], _, err = d.valuesKey(r.Strata[i][:0], p.caps[i:i+1], cells); err != nil {
			return *r, err
		}
	}
	return *r, nil
}

// groupKey appends the key of the row's group.
func (d *samplingRow) groupKey(dst []byte, cells [][]byte) ([]byte, error) {
	key, ok, err := d.valuesKey(dst, d.plan.groupBy, cells)
	if err != nil || ok {
		return key, err
	}
	return sampling.SingleKey(dst, d.name), nil
}

// valuesKey appends the key of some values; ok is false where all are NULL.
func (d *samplingRow) valuesKey(dst []byte, from []accessor, cells [][]byte) (_ []byte, ok bool, err error) {
	d.values = d.values[:0]
	for i, a := range from {
		if i == len(d.texts) {
			d.texts = append(d.texts, []byte{}) // an empty text is not nil, which stands for NULL
		}
		var known bool
		if d.texts[i], known, err = a.text(d.texts[i][:0], cells); err != nil {
			return dst, false, err
		}
		var value []byte
		if known {
			value = d.texts[i]
		}
		d.values = append(d.values, value)
	}
	dst, ok = sampling.GroupKey(dst, d.values...)
	return dst, ok, nil
}
