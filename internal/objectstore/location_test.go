package objectstore

import (
	"errors"
	"testing"
)

func TestParseLocation(t *testing.T) {
	for text, want := range map[string]Location{
		"s3://b/p":        {"b", "p"},
		"s3://b/p/":       {"b", "p"},
		"s3://b/a/b c/ä":  {"b", "a/b c/ä"},
		"s3://b/dt=1/x.y": {"b", "dt=1/x.y"},
	} {
		got, err := ParseLocation(text)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "b/p", "s3:/b/p", "s3://", "s3://b", "s3://b/", "s3:///p", "s3://b//p", "s3://b/p//q", "s3://b/../p", "s3://b/p/..", "s3://b/./p", `s3://b/p\q`, "S3://b/p"} {
		if got, err := ParseLocation(text); !errors.Is(err, ErrLocation) {
			t.Errorf("%q: %+v, %v, want it refused", text, got, err)
		}
	}
}
