package tokenrange_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"manifest/tokenrange"
)

func TestParseToken(t *testing.T) {
	tests := []struct {
		text string
		want string // "" where an error is expected
		err  error
	}{
		{text: "0", want: "0"},
		{text: "-0", want: "0"},
		{text: "+7", want: "7"},
		{text: "007", want: "7"},
		{text: "-9223372036854775808", want: "-9223372036854775808"},
		{text: "9223372036854775807", want: "9223372036854775807"},
		{text: "9223372036854775808", want: "9223372036854775808"},
		{text: "170141183460469231731687303715884105728", want: "170141183460469231731687303715884105728"}, // 2^127
		{text: "340282366920938463454151235394913435647", want: "340282366920938463454151235394913435647"}, // 2^128-2^63-1
		{text: "340282366920938463454151235394913435648", err: tokenrange.ErrOutOfRing},
		{text: "340282366920938463463374607431768211456", err: tokenrange.ErrOutOfRing}, // 2^128
		{text: "3402823669209384634633746074317682114560", err: tokenrange.ErrOutOfRing},
		{text: "-9223372036854775809", err: tokenrange.ErrOutOfRing},
		{text: "-170141183460469231731687303715884105728", err: tokenrange.ErrOutOfRing},
		{text: "", err: tokenrange.ErrMalformed},
		{text: "-", err: tokenrange.ErrMalformed},
		{text: "--1", err: tokenrange.ErrMalformed},
		{text: " 1", err: tokenrange.ErrMalformed},
		{text: "1 ", err: tokenrange.ErrMalformed},
		{text: "1e3", err: tokenrange.ErrMalformed},
		{text: "0x10", err: tokenrange.ErrMalformed},
		{text: "1_000", err: tokenrange.ErrMalformed},
		{text: "١", err: tokenrange.ErrMalformed}, // a digit, but of Arabic
	}
	for _, test := range tests {
		got, err := tokenrange.ParseToken(test.text)
		if !errors.Is(err, test.err) {
			t.Errorf("ParseToken(%q): error %v, want %v", test.text, err, test.err)
		} else if err == nil && got.String() != test.want {
			t.Errorf("ParseToken(%q) = %s, want %s", test.text, got, test.want)
		}
	}
}

func TestTokenIsItsNumber(t *testing.T) {
	lowest := big.NewInt(math.MinInt64)
	highest := new(big.Int).Lsh(big.NewInt(1), 128)
	highest.Add(highest, lowest).Sub(highest, big.NewInt(1))
	rapid.Check(t, func(t *rapid.T) {
		a, b := bigValue().Draw(t, "a"), bigValue().Draw(t, "b")
		parsed := make([]tokenrange.Token, 0, 2)
		for _, v := range []*big.Int{a, b} {
			tok, err := tokenrange.ParseToken(v.String())
			if fits := v.Cmp(lowest) >= 0 && v.Cmp(highest) <= 0; fits != (err == nil) {
				t.Fatalf("ParseToken(%s): error %v", v, err)
			} else if !fits {
				return
			}
			if tok.String() != v.String() || tok.Big().Cmp(v) != 0 {
				t.Fatalf("ParseToken(%s) = %s, as a number %s", v, tok, tok.Big())
			}
			if n, ok := tok.Int64(); ok != v.IsInt64() || (ok && n != v.Int64()) {
				t.Fatalf("Int64 of %s = %d, %t", v, n, ok)
			}
			parsed = append(parsed, tok)
		}
		if got, want := parsed[0].Compare(parsed[1]), a.Cmp(b); got != want {
			t.Fatalf("Compare(%s, %s) = %d, want %d", a, b, got, want)
		}
		if got, want := parsed[0].Less(parsed[1]), a.Cmp(b) < 0; got != want {
			t.Fatalf("Less(%s, %s) = %t", a, b, got)
		}
		if (parsed[0] == parsed[1]) != (a.Cmp(b) == 0) {
			t.Fatalf("%s == %s is wrong", a, b)
		}
	})
}

func TestTokenAsJSONIsADecimalString(t *testing.T) {
	data, err := json.Marshal(map[string]any{"token": token(math.MaxInt64)})
	if want := `{"token":"9223372036854775807"}`; err != nil || string(data) != want {
		t.Fatalf("Marshal = %s, %v, want %s", data, err, want)
	}
	var back struct{ Token tokenrange.Token }
	if err := json.Unmarshal(data, &back); err != nil || back.Token != token(math.MaxInt64) {
		t.Errorf("Unmarshal(%s) = %v, %v", data, back, err)
	}
	for _, bad := range []string{`{"token":"ten"}`, `{"token":""}`, `{"token":10}`} {
		if err := json.Unmarshal([]byte(bad), &back); err == nil {
			t.Errorf("Unmarshal(%s) gave no error", bad)
		}
	}
}

func TestZeroTokenIsTheMinimumOfMurmur3(t *testing.T) {
	if got := (tokenrange.Token{}).String(); got != "-9223372036854775808" {
		t.Errorf("zero token is %s", got)
	}
}

func FuzzParseToken(f *testing.F) {
	for _, seed := range []string{"0", "-1", "+5", "170141183460469231731687303715884105728", "9e9", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := tokenrange.ParseToken(text)
		if err != nil {
			if !errors.Is(err, tokenrange.ErrMalformed) && !errors.Is(err, tokenrange.ErrOutOfRing) {
				t.Fatalf("ParseToken(%q): unexpected kind of error %v", text, err)
			}
			return
		}
		want, ok := new(big.Int).SetString(text, 10)
		if !ok || got.Big().Cmp(want) != 0 {
			t.Fatalf("ParseToken(%q) = %s, want %s", text, got, want)
		}
	})
}
