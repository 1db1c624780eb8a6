// Package rowform holds rows of Arrow records as bytes, so that they can be sorted and joined one by one, and makes records of them again.
//
// A row is its cells, one for each column in order. A cell is 0 for NULL, or else the length of its content plus one, as a varint, and the
// content:
//
//	"rust", NULL, 7 (int32)       05 'r' 'u' 's' 't'   00   05 07 00 00 00
//
// The content of a number, a time or a UUID is its bytes as Arrow has them, of text and blobs their bytes, of a boolean one byte. That of a
// list, a map, a struct and a vector is the cells inside: of a map key and value in turn.
//
// Invariants: what was appended comes back equal, NULL, empty and zero as three different things. A cell can be taken out, compared and put
// into another row without knowing its type. Bytes that are no row are an error that wraps [ErrCorrupt], never a panic. Nothing is allocated
// for a row beside the growth of what it is appended to.
package rowform
