// Package recycle hands the memory of released Arrow records out again, for
// whoever fills records of about the same size one after the other, as the
// sources of a scan and the encoders of training manifests do: fresh memory for
// each costs more than decoding the values does.
package recycle
