package sstable

import "errors"

var (
	// ErrSchema means that an SSTable does not belong to the schema it is read
	// with: it has a column that the table neither has nor had, or has it with
	// another type.
	ErrSchema = errors.New("the SSTable does not fit the schema")
	// ErrPartitioner means that SSTables of different partitioners were to be
	// read together.
	ErrPartitioner = errors.New("SSTables of different partitioners")
)
