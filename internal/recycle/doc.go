// Package recycle hands the memory of released Arrow records out again, for the
// sources of a scan: each fills records of about the same size one after the
// other, and fresh memory for each costs more than decoding the values does.
package recycle
