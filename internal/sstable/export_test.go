package sstable

// OneByOne has no partitions read in runs, to compare with what runs give.
func OneByOne(o Options) Options {
	o.oneByOne = true
	return o
}
