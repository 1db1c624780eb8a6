package sampling

import (
	"bytes"
	"errors"
	"testing"

	"manifest/internal/tokensort"
)

// Bytes of decisions and items that nobody wrote are an error, and never a panic; others come back as they were.
func FuzzParse(f *testing.F) {
	f.Add(Decision{Outcome: Duplicate, Of: []byte("x"), Group: -1, SampleHash: 5, Weight: 1.5, Duplicates: 3}.Append(nil))
	f.Add(item{id: []byte("k"), name: []byte("n"), strata: [][]byte{{}, []byte("s")}}.append(nil))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		if d, err := ParseDecision(data); err == nil {
			if again, err := ParseDecision(d.Append(nil)); err != nil || !bytes.Equal(again.Append(nil), d.Append(nil)) {
				t.Fatalf("%x became %+v: %v", data, again, err)
			}
		} else if !errors.Is(err, tokensort.ErrCorrupt) {
			t.Fatal(err)
		}
		var it, again item
		if err := it.parse(data); err == nil {
			if err := again.parse(it.append(nil)); err != nil || !bytes.Equal(again.append(nil), it.append(nil)) {
				t.Fatalf("%x became %+v: %v", data, again, err)
			}
		} else if !errors.Is(err, tokensort.ErrCorrupt) {
			t.Fatal(err)
		}
	})
}
