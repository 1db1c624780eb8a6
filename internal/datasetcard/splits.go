package datasetcard

import (
	"path"
	"regexp"
	"slices"

	"manifest/export"
)

// Names of the files.
const (
	CardFile      = "README.md"
	CroissantFile = "croissant.json"
)

// Info is what a manifest does not say.
type Info struct {
	Name    string // of the dataset
	License string // an identifier of SPDX; "" where nobody said
}

// unsplit begins the names of files of a dataset without splits, and wholeSplit
// is the split that readers find them in.
const (
	unsplit    = "part"
	wholeSplit = "train"
)

// shardName is the name of a data file: split, number, count, format.
var shardName = regexp.MustCompile(`^(.+)-[0-9]{5}-of-[0-9]{5}\.([a-z]+)$`)

// split is a named part of the rows.
type split struct {
	name    string
	pattern string // of its files, below the dataset
	rows    int64
	bytes   int64
	files   int
}

// splitsOf sums up the files of each split, in the order of the manifest.
func splitsOf(m export.Manifest) []split {
	var splits []split
	for _, f := range m.Files {
		prefix, ext := unsplit, string(m.Format)
		if parts := shardName.FindStringSubmatch(path.Base(f.Path)); parts != nil {
			prefix, ext = parts[1], parts[2]
		}
		name := prefix
		if prefix == unsplit {
			name = wholeSplit
		}
		i := slices.IndexFunc(splits, func(s split) bool { return s.name == name })
		if i < 0 {
			i = len(splits)
			splits = append(splits, split{name: name, pattern: path.Dir(f.Path) + "/" + prefix + "-*." + ext})
		}
		s := &splits[i]
		s.rows, s.bytes, s.files = s.rows+f.Rows, s.bytes+f.Bytes, s.files+1
	}
	return splits
}
