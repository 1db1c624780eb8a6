package selection

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"strconv"

	"github.com/google/uuid"

	"manifest/internal/cqltype"
)

// constant is a literal as a value of a type, in the type's form.
type constant struct {
	number bound   // intForm
	float  float64 // floatForm
	text   string  // stringForm: as the records hold it
}

// constantOf turns a literal into a value of a type that belongs to a family. The error is one line: what the literal is instead, if the
// type cannot be compared with it.
func constantOf(t *cqltype.Type, l literal) (constant, error) {
	f := familyOf(t)
	switch {
	case l.kind == numberLiteral && (f == integers || f == floats || f == numbers || f == timestamps):
		return numberOf(t, l)
	case l.kind == booleanLiteral && f == booleans && l.text == "true":
		return constant{number: bound{at: 1}}, nil
	case l.kind == booleanLiteral && f == booleans:
		return constant{}, nil
	case l.kind == blobLiteral && f == blobs:
		b, err := hex.DecodeString(l.text[len("0x"):])
		return constant{text: string(b)}, err
	case l.kind == textLiteral && f == texts:
		return constant{text: l.text}, nil
	case l.kind == textLiteral || l.kind == uuidLiteral && (f == uuids || f == timeuuids):
		return parsedText(t, l)
	}
	return constant{}, mismatch(l, string(l.kind))
}

func mismatch(l literal, kind string) error { return fmt.Errorf("%s is %s", shorten(l.String()), kind) }

// shorten cuts what an error need not show in full, as the expression is below it.
func shorten(s string) string {
	const most = 40
	for i := range s {
		if i > most {
			return s[:i] + "…"
		}
	}
	return s
}

// numberOf keeps numbers exact. Only for a float the literal is rounded, to the column's own type as in CQL, so that 0.1 equals what was
// written as 0.1.
func numberOf(t *cqltype.Type, l literal) (constant, error) {
	n, finite := parseNumber(l.text)
	switch familyOf(t) {
	case floats:
		bits := 64
		if t.Kind == cqltype.Float {
			bits = 32
		}
		f, err := strconv.ParseFloat(l.text, bits)
		if err != nil {
			return constant{}, fmt.Errorf("%s lies outside of it", shorten(l.text))
		}
		return constant{float: f}, nil
	case numbers:
		if finite {
			return constant{text: l.text}, nil
		}
	default:
		if finite {
			return constant{number: n.bound()}, nil
		}
	}
	return constant{}, fmt.Errorf("%s is of float or double alone", l.text)
}

// parsedText reads a text in which a value of another type is written.
func parsedText(t *cqltype.Type, l literal) (constant, error) {
	switch familyOf(t) {
	case dates:
		if day, ok := parseDate(l.text); ok {
			return constant{number: bound{at: day}}, nil
		}
		return constant{}, mismatch(l, "not a day, YYYY-MM-DD")
	case timestamps:
		if b, ok := parseTimestamp(l.text); ok {
			return constant{number: b}, nil
		}
		return constant{}, mismatch(l, "not a time, such as 2025-06-01 or 2025-06-01T12:00:00Z")
	case timesOfDay:
		if nanos, ok := parseClock(l.text); ok {
			return constant{number: bound{at: nanos}}, nil
		}
		return constant{}, mismatch(l, "not a time of day, HH:MM:SS")
	case addresses:
		if addr, err := netip.ParseAddr(l.text); err == nil && addr.Zone() == "" {
			return constant{text: addr.String()}, nil
		}
		return constant{}, mismatch(l, "not an address")
	case uuids, timeuuids:
		return uuidOf(t, l)
	}
	return constant{}, mismatch(l, string(l.kind))
}

func uuidOf(t *cqltype.Type, l literal) (constant, error) {
	u, err := uuid.Parse(l.text)
	switch {
	case err != nil || len(l.text) != uuidLen:
		return constant{}, mismatch(l, "not a uuid")
	case t.Kind == cqltype.Timeuuid && u.Version() != 1:
		return constant{}, mismatch(l, fmt.Sprintf("a uuid of version %d", u.Version()))
	}
	return constant{text: string(u[:])}, nil
}
