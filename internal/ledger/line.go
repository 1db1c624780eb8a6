package ledger

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"time"

	"manifest/scan"
	"manifest/tokenrange"
)

// The kinds of line, which are the names of their payloads.
const (
	kindHeader  = "header"
	kindReceipt = "receipt"
	kindResumed = "resumed"
	// kindWithdrawn takes receipts back.
	kindWithdrawn = "withdrawn"
	kindResult    = "result"
)

// A line begins with the checksum of all that follows the comma, up to the
// line's end, so that it can be checked before anything of it is understood.
const (
	checksumStart = `{"crc32c":"`
	checksumEnd   = `",`
	checksumLen   = 8
	bodyStart     = len(checksumStart) + checksumLen + len(checksumEnd)
)

// castagnoli is the polynomial of CRC-32C (RFC 3720, section 12.1), which
// finds every error in up to 32 bits in a row.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// line is what a line says. One of the payloads is there, or none: a later
// version may add kinds that this one passes over.
type line struct {
	Seq       uint64          `json:"seq"`
	Durable   uint64          `json:"durable"`
	Header    *Header         `json:"header"`
	Receipt   *scan.Receipt   `json:"receipt"`
	Resumed   *Resumption     `json:"resumed"`
	Withdrawn *Withdrawal     `json:"withdrawn"`
	Result    json.RawMessage `json:"result"`
}

// Resumption says that a run was taken up again.
type Resumption struct {
	// At is when, in UTC.
	At time.Time `json:"at"`
	// Tool is the version of the program that went on.
	Tool string `json:"tool"`
	// Torn counts the bytes that were cut off the ledger's end.
	Torn int64 `json:"torn,omitempty"`
}

// Withdrawal says that a receipt counts no more, because what it names is not
// there as it was committed.
type Withdrawal struct {
	// At is when that was found, in UTC.
	At time.Time `json:"at"`
	// Split is the split's id, and Range what it covers.
	Split string           `json:"split"`
	Range tokenrange.Range `json:"range"`
	// Reason is what was found.
	Reason string `json:"reason"`
}

// appendLine appends the line with number seq to dst. durable is the number of
// lines that are durable by now; payload is JSON.
func appendLine(dst []byte, seq, durable uint64, kind string, payload []byte) []byte {
	start := len(dst)
	dst = append(dst, checksumStart+"00000000"+checksumEnd...)
	dst = fmt.Appendf(dst, `"seq":%d,"durable":%d,"%s":`, seq, durable, kind)
	dst = append(dst, payload...)
	dst = append(dst, '}')
	copy(dst[start+len(checksumStart):], checksum(dst[start+bodyStart:]))
	return append(dst, '\n')
}

// checksum gives the CRC-32C of body in lower-case hexadecimal.
func checksum(body []byte) string {
	return fmt.Sprintf("%08x", crc32.Checksum(body, castagnoli))
}

// intact tells whether text, a line without its end, has the checksum that it says.
func intact(text []byte) bool {
	return len(text) >= bodyStart && string(text[:bodyStart]) == checksumStart+checksum(text[bodyStart:])+checksumEnd
}
