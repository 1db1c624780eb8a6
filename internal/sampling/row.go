package sampling

import (
	"encoding/binary"
	"fmt"
	"math"

	"manifest/internal/tokensort"
)

// Row is what decisions about an image depend on. Its bytes are copied when it is added.
type Row struct {
	// ID orders the decisions, and is another for every row.
	ID []byte
	// Name is the image's id as text, of which its sample hash is made.
	Name []byte
	// ContentHash of the image; empty if it is not known, which is no duplicate of anything.
	ContentHash []byte
	// Time is when the image was taken, in milliseconds since 1970; rows without are the youngest.
	Time    int64
	HasTime bool
	// Group is the key of its group: see GroupKey.
	Group []byte
	// Balance is its stratum of Options.Balance, Strata those of Options.Caps.
	Balance []byte
	Strata  [][]byte
	// Pinned tells that it is in the older manifest. It is then kept rather than an older duplicate.
	Pinned bool
}

// item is a row on its way through the stages.
type item struct {
	id, name   []byte
	hash       int64 // sample hash
	group      int64
	weight     float64
	duplicates uint32 // other rows of its content hash
	balance    []byte
	strata     [][]byte
}

// newItem takes what the stages need; the bytes are the row's.
func newItem(salt string, r Row) item {
	return item{
		id: r.ID, name: r.Name, hash: SampleHash(salt, r.Name), group: GroupID(r.Group), weight: 1,
		balance: r.Balance, strata: r.Strata,
	}
}

func appendBytes(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

func (it item) append(dst []byte) []byte {
	dst = appendBytes(dst, it.id)
	dst = appendBytes(dst, it.name)
	dst = binary.BigEndian.AppendUint64(dst, uint64(it.hash))
	dst = binary.BigEndian.AppendUint64(dst, uint64(it.group))
	dst = binary.BigEndian.AppendUint64(dst, math.Float64bits(it.weight))
	dst = binary.BigEndian.AppendUint32(dst, it.duplicates)
	dst = appendBytes(dst, it.balance)
	dst = binary.AppendUvarint(dst, uint64(len(it.strata)))
	for _, s := range it.strata {
		dst = appendBytes(dst, s)
	}
	return dst
}

// decoder takes values from the beginning of bytes.
type decoder struct {
	src []byte
	bad bool
}

func (d *decoder) number() uint64 {
	v, n := binary.Uvarint(d.src)
	if n <= 0 {
		d.bad, d.src = true, nil
		return 0
	}
	d.src = d.src[n:]
	return v
}

func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.src)) {
		d.bad, d.src = true, nil
		return nil
	}
	b := d.src[:n]
	d.src = d.src[n:]
	return b
}

func (d *decoder) bytes() []byte { return d.take(d.number()) }

func (d *decoder) uint64() uint64 {
	if b := d.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

func (d *decoder) uint32() uint32 {
	if b := d.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (d *decoder) err() error {
	if d.bad || len(d.src) > 0 {
		return fmt.Errorf("%w: a row of the sampling", tokensort.ErrCorrupt)
	}
	return nil
}

// parse reads what append wrote; the item shares the bytes of src.
func (it *item) parse(src []byte) error {
	d := decoder{src: src}
	it.id, it.name = d.bytes(), d.bytes()
	it.hash, it.group = int64(d.uint64()), int64(d.uint64())
	it.weight, it.duplicates = math.Float64frombits(d.uint64()), d.uint32()
	it.balance = d.bytes()
	n := d.number()
	it.strata = it.strata[:0]
	for range min(n, uint64(len(d.src))) {
		it.strata = append(it.strata, d.bytes())
	}
	return d.err()
}

// appendHash appends the sample hash so that bytes have the order of numbers.
func appendHash(dst []byte, hash int64) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(hash))
}
