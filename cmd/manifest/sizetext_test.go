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

func TestLifetimesAreShownInDays(t *testing.T) {
	for seconds, want := range map[int32]string{0: "-", 86_400: "1 d", 315_360_000: "3650 d", 90_000: "25h0m0s", 60: "1m0s"} {
		if got := lifetime(seconds); got != want {
			t.Errorf("%d seconds are shown as %q, want %q", seconds, got, want)
		}
	}
}
