package main

import "testing"

func TestSizesAreShownInTheirUnit(t *testing.T) {
	for bytes, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 19_560: "19.1 KiB", 1 << 20: "1.0 MiB", 91_160_000: "86.9 MiB", 5 << 30: "5.0 GiB", 1 << 52: "4096.0 TiB",
	} {
		if got := sizeText(bytes); got != want {
			t.Errorf("%d bytes are shown as %q, want %q", bytes, got, want)
		}
	}
}
