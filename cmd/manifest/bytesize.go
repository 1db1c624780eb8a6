package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// byteSize is a flag of a number of bytes: 512MiB, 1.5GiB, 64MB or 1048576.
type byteSize int64

var byteUnits = []struct {
	suffix string
	bytes  float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}, {"", 1},
}

// Set implements pflag.Value.
func (b *byteSize) Set(s string) error {
	for _, u := range byteUnits {
		number, ok := strings.CutSuffix(strings.ToLower(strings.TrimSpace(s)), strings.ToLower(u.suffix))
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || n < 0 || n*u.bytes > math.MaxInt64/2 || math.IsNaN(n) {
			break
		}
		*b = byteSize(n * u.bytes)
		return nil
	}
	return fmt.Errorf("%q is not a size like 512MiB", s)
}

// String implements pflag.Value.
func (b *byteSize) String() string {
	switch {
	case *b == 0:
		return ""
	case *b%(1<<20) == 0:
		return fmt.Sprintf("%dMiB", *b>>20)
	default:
		return fmt.Sprintf("%dB", *b)
	}
}

// Type implements pflag.Value.
func (*byteSize) Type() string { return "size" }
