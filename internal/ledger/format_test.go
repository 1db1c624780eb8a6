package ledger

import (
	"os"
	"strings"
	"testing"

	"manifest/tokenrange"
)

// The check value that the catalogues of CRCs give for CRC-32C.
func TestChecksum(t *testing.T) {
	if got := checksum([]byte("123456789")); got != "e3069283" {
		t.Errorf("checksum is %s", got)
	}
}

func TestTheDocumentedExampleIsALedger(t *testing.T) {
	page, err := os.ReadFile("../../docs/format/ledger.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(page), "```jsonl\n")
	example, _, ok := strings.Cut(example, "```")
	if !ok {
		t.Fatal("the page has no example")
	}
	c, err := parse([]byte(example))
	if err != nil {
		t.Fatal(err)
	}
	murmur3, err := tokenrange.PartitionerByName(c.record.Header.Partitioner)
	if err != nil {
		t.Fatal(err)
	}
	quarters := murmur3.Ring().Split(4)
	got := c.covered.receipts()
	if c.record.Torn != 0 || len(got) != 2 || got[0].Range != quarters[0] || got[1].Range != quarters[2] {
		t.Errorf("the example says %+v, with %d torn bytes", got, c.record.Torn)
	}
	for _, r := range got {
		if r.Split != r.Range.ID() {
			t.Errorf("split %s is not named after its range", r.Split)
		}
	}
	if c.record.Header.Run != "01HZ8Q5K3M" || c.record.Header.Options[1].Value != "LOCAL_QUORUM" {
		t.Errorf("header is %+v", c.record.Header)
	}

	// One digit of the example changed is no longer a ledger.
	if _, err := parse([]byte(strings.Replace(example, `"rows":120417`, `"rows":120418`, 1))); err == nil {
		t.Error("a changed example was taken in")
	}
}
