package objectstore

import (
	"fmt"
	"path"
	"strings"
)

// Scheme is what the places of object stores begin with.
const Scheme = "s3://"

// Location is the place of a tree.
type Location struct {
	Bucket string
	Prefix string // without slashes at its ends; never empty
}

// IsLocation tells a place in an object store from a directory.
func IsLocation(text string) bool { return strings.HasPrefix(text, Scheme) }

// ParseLocation reads s3://bucket/prefix. A whole bucket is refused, so that
// nothing replaces all that is in one.
func ParseLocation(text string) (Location, error) {
	rest, ok := strings.CutPrefix(text, Scheme)
	if !ok {
		return Location{}, fmt.Errorf("%q does not begin with %s: %w", text, Scheme, ErrLocation)
	}
	bucket, prefix, _ := strings.Cut(rest, "/")
	prefix = strings.TrimSuffix(prefix, "/")
	switch {
	case bucket == "":
		return Location{}, fmt.Errorf("%q names no bucket: %w", text, ErrLocation)
	case prefix == "":
		return Location{}, fmt.Errorf("%q names a whole bucket, and no prefix in it: %w", text, ErrLocation)
	case prefix != strings.TrimPrefix(path.Clean("/"+prefix), "/"), strings.ContainsAny(prefix, "\\\x00"):
		return Location{}, fmt.Errorf("%q has a prefix with empty or dotted parts: %w", text, ErrLocation)
	}
	return Location{Bucket: bucket, Prefix: prefix}, nil
}

func (l Location) String() string { return Scheme + l.Bucket + "/" + l.Prefix }
