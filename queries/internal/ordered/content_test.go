package ordered

import (
	"bytes"
	"cmp"
	"math/big"
	"slices"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

// compareTimeUUID is TimeUUIDType.compareCustom: time first, then the other bytes as signed numbers.
func compareTimeUUID(a, b []byte) int {
	ua, ub := uuid.UUID(a), uuid.UUID(b)
	if c := cmp.Compare(ua.Time(), ub.Time()); c != 0 {
		return c
	}
	signed := func(x, y byte) int { return cmp.Compare(int8(x), int8(y)) }
	for i := 8; i < 16; i++ {
		if c := signed(a[i], b[i]); c != 0 {
			return c
		}
	}
	return 0
}

func TestTimeUUIDOrderAndBack(t *testing.T) {
	octets := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 0x7f, 0x80, 0xff}), 16, 16)
	rapid.Check(t, func(t *rapid.T) {
		a, b := octets.Draw(t, "a"), octets.Draw(t, "b")
		for _, u := range [][]byte{a, b} {
			u[6] = u[6]&0x0f | 0x10
			u[8] = u[8]&0x3f | 0x80
		}
		x, y := AppendTimeUUID(nil, a), AppendTimeUUID(nil, b)
		if got, want := bytes.Compare(x, y), compareTimeUUID(a, b); got != want {
			t.Fatalf("order of %x and %x: %d, want %d", a, b, got, want)
		}
		if back, err := TimeUUID(nil, x); err != nil || !bytes.Equal(back, a) {
			t.Fatalf("%x came back as %x, error %v", a, back, err)
		}
	})
}

func TestInetOrderAndBack(t *testing.T) {
	ascending := []string{"::1", "9.255.0.1", "10.0.0.9", "10.0.0.10", "2001:db8::1", "192.0.2.1"}
	var last []byte
	for _, text := range ascending {
		o, err := AppendInet(nil, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Compare(last, o) >= 0 {
			t.Errorf("%s is not above the one before", text)
		}
		last = o
		if back, err := Inet(nil, o); err != nil || string(back) != text {
			t.Errorf("%s came back as %s, error %v", text, back, err)
		}
	}
	mapped, err := AppendInet(nil, []byte("::ffff:192.0.2.1"))
	if back, _ := Inet(nil, mapped); err != nil || string(back) != "::ffff:192.0.2.1" {
		t.Errorf("an IPv4 address in 16 bytes came back as %s, error %v", back, err)
	}
	for _, text := range []string{"", "10.0.0", "host", "fe80::1%eth0"} {
		if _, err := AppendInet(nil, []byte(text)); err == nil {
			t.Errorf("%q is an address", text)
		}
	}
}

func TestDecimalText(t *testing.T) {
	// The texts are what BigDecimal.toString gives; the results are the numbers in plain notation, worked out by hand.
	for text, want := range map[string]string{
		"0": "0", "0.00": "0", "0E+7": "0", "-0.0": "0", "1": "1", "-1": "-1", "1.50": "1.5", "100": "100", "1E+2": "100", "-12.3400": "-12.34",
		"0.007": "0.007", "7E-3": "0.007", "1.5E-7": "0.00000015", "10.01": "10.01", "123456789012345678901234567890": "123456789012345678901234567890",
		"1E+40": "1" + zeros(40), "1E+41": "1E+41", "12E+41": "1.2E+42", "1E-41": "0." + zeros(40) + "1", "1E-42": "1E-42", "-125E-60": "-1.25E-58",
	} {
		d, err := ParseDecimal([]byte(text), nil)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		back, err := DecimalOf(d.AppendContent(nil), nil)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if got := string(back.AppendText(nil)); got != want {
			t.Errorf("%s came back as %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{"", "-", ".", "1.2.3", "1E", "1E+", "E5", "12a", "1E99999999999", " 1", "NaN"} {
		if d, err := ParseDecimal([]byte(text), nil); err == nil {
			t.Errorf("%q is the number %s", text, d.AppendText(nil))
		}
	}
}

func zeros(n int) string { return string(bytes.Repeat([]byte("0"), n)) }

func TestDecimalOrderAndBack(t *testing.T) {
	number := rapid.StringMatching(`-?[0-9]{1,4}(\.[0-9]{1,4})?(E-?[0-9])?`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		x, y := content(t, a), content(t, b)
		want := rational(t, a).Cmp(rational(t, b))
		if got := bytes.Compare(x, y); got != want {
			t.Fatalf("order of %s and %s: %d, want %d", a, b, got, want)
		}
		d, err := DecimalOf(x, nil)
		if err != nil || rational(t, string(d.AppendText(nil))).Cmp(rational(t, a)) != 0 {
			t.Fatalf("%s came back as %s, error %v", a, d.AppendText(nil), err)
		}
	})
}

func content(t *rapid.T, text string) []byte {
	d, err := ParseDecimal([]byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return d.AppendContent(nil)
}

func rational(t *rapid.T, text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%s is no number", text)
	}
	return r
}

func TestIntegerText(t *testing.T) {
	for _, text := range []string{"0", "7", "-1200", "1" + zeros(60)} {
		d, err := ParseDecimal([]byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := d.AppendInteger(nil); err != nil || string(got) != text {
			t.Errorf("%s came back as %s, error %v", text, got, err)
		}
	}
	fraction, _ := ParseDecimal([]byte("1.5"), nil)
	if got, err := fraction.AppendInteger(nil); err == nil {
		t.Errorf("1.5 is the integer %s", got)
	}
}

// FuzzDecimalContent reads arbitrary bytes as content: an error, or a number whose content they are.
func FuzzDecimalContent(f *testing.F) {
	for _, text := range []string{"0", "1.5", "-12E+30"} {
		d, _ := ParseDecimal([]byte(text), nil)
		f.Add(d.AppendContent(nil))
	}
	f.Fuzz(func(t *testing.T, o []byte) {
		d, err := DecimalOf(slices.Clone(o), nil)
		if err != nil {
			return
		}
		if again := d.AppendContent(nil); !bytes.Equal(again, o) {
			t.Errorf("%x read as %s, which is %x", o, d.AppendText(nil), again)
		}
	})
}
