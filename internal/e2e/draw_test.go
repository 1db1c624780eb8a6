package e2e

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// seedVariable names the environment variable that repeats the random settings of an earlier run.
const seedVariable = "MANIFEST_TEST_SEED"

// draws are random settings that a seed repeats.
type draws struct{ *rand.Rand }

// newDraws begins draws with a new seed, or the one that the environment names, and says which.
func newDraws(t testing.TB) draws {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv(seedVariable); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s: %v", seedVariable, err)
		}
	}
	t.Logf("settings are drawn at random; %s=%d repeats them", seedVariable, seed)
	return draws{rand.New(rand.NewPCG(seed, 0))}
}

// between draws from low to high, both included, small numbers and large ones equally often.
func (d draws) between(low, high int) int {
	if d.IntN(2) == 0 {
		return low + d.IntN(min(8, high-low+1))
	}
	return low + d.IntN(high-low+1)
}

func pick[T any](d draws, from ...T) T { return from[d.IntN(len(from))] }

// reading draws how a table of so many rows is read: flags that must not change what is read. It takes no more than some hundred pages.
func (d draws) reading(rows int) []string {
	return []string{
		"--splits", strconv.Itoa(d.between(1, 200)),
		"--workers", strconv.Itoa(d.between(1, 16)),
		"--page-size", strconv.Itoa(d.between(min(1+rows/200, 2500), 5000)),
		"--seed", strconv.FormatUint(d.Uint64(), 10),
	}
}
