package cassandra

import (
	"errors"
	"strings"
	"testing"

	"manifest/tokenrange"
)

// Tokens that are no integers are those of partitioners that can't be read, which are refused by name.
func TestTokensOfOtherPartitioners(t *testing.T) {
	topology := Topology{Partitioner: "org.apache.cassandra.dht.ByteOrderedPartitioner"}
	_, err := topology.node(map[string]any{"tokens": []string{"089514e14a63501e97c804d2927efe6c"}})
	if !errors.Is(err, tokenrange.ErrUnsupportedPartitioner) || !strings.Contains(err.Error(), "ByteOrderedPartitioner") {
		t.Error(err)
	}
	topology.Partitioner = "org.apache.cassandra.dht.Murmur3Partitioner"
	if _, err := topology.node(map[string]any{"tokens": []string{"-1", "ff"}}); err == nil || errors.Is(err, tokenrange.ErrUnsupportedPartitioner) {
		t.Errorf("a damaged token: %v", err)
	}
	n, err := topology.node(map[string]any{"tokens": []string{"-1", "9223372036854775807"}})
	if err != nil || len(n.Tokens) != 2 || n.Tokens[0] != tokenrange.Int64Token(-1) {
		t.Errorf("%+v, %v", n, err)
	}
}
