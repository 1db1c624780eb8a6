package recycle

import (
	"testing"

	"pgregory.net/rapid"
)

func TestRecycledBuffersAreZeroAndNobodyElses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := New()
		var live [][]byte // each filled with its own number
		fill := func(b []byte, from int, mark byte) {
			for i := range b {
				if i >= from && b[i] != 0 {
					t.Fatalf("byte %d of %d is %d, not zero", i, len(b), b[i])
				}
				b[i] = mark
			}
		}
		for step := range rapid.IntRange(1, 60).Draw(t, "steps") {
			mark := byte(step + 1)
			switch rapid.IntRange(0, 2).Draw(t, "what") {
			case 0:
				b := r.Allocate(rapid.IntRange(0, 5000).Draw(t, "size"))
				fill(b, 0, mark)
				live = append(live, b)
			case 1:
				if len(live) > 0 {
					i := rapid.IntRange(0, len(live)-1).Draw(t, "which")
					old := len(live[i])
					live[i] = r.Reallocate(rapid.IntRange(0, 5000).Draw(t, "size"), live[i])
					fill(live[i], min(old, len(live[i])), mark)
				}
			case 2:
				if len(live) > 0 {
					i := rapid.IntRange(0, len(live)-1).Draw(t, "which")
					r.Free(live[i])
					live = append(live[:i], live[i+1:]...)
				}
			}
			for _, b := range live {
				for i := range b {
					if b[i] != b[0] {
						t.Fatal("two buffers share memory")
					}
				}
			}
		}
	})
}
