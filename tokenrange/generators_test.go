package tokenrange_test

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"manifest/tokenrange"
)

// token returns the token of a small number.
func token(v int64) tokenrange.Token { return tokenrange.Int64Token(v) }

// span returns the range (start, end].
func span(start, end int64) tokenrange.Range {
	return tokenrange.Range{Start: token(start), End: token(end)}
}

// mustParse returns the token of a decimal number.
func mustParse(t testing.TB, s string) tokenrange.Token {
	t.Helper()
	parsed, err := tokenrange.ParseToken(s)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// bigValue returns the numbers that a Token can hold, and some beyond.
func bigValue() *rapid.Generator[*big.Int] {
	return rapid.Custom(func(t *rapid.T) *big.Int {
		v := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 17).Draw(t, "magnitude"))
		if rapid.Bool().Draw(t, "negative") {
			v.Neg(v)
		}
		return v.Add(v, big.NewInt(rapid.SampledFrom([]int64{0, 0, 1, -1, math.MinInt64, math.MaxInt64}).Draw(t, "offset")))
	})
}

// tokenOn returns tokens of a partitioner's ring, often close to each other and to its ends.
func tokenOn(p tokenrange.Partitioner) *rapid.Generator[tokenrange.Token] {
	low, high := p.Ring().Start.Big(), p.Ring().End.Big()
	return rapid.Custom(func(t *rapid.T) tokenrange.Token {
		v := new(big.Int)
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			v.SetInt64(int64(rapid.IntRange(-40, 40).Draw(t, "small")))
		case 1:
			v.Add(low, big.NewInt(int64(rapid.IntRange(0, 40).Draw(t, "after start"))))
		case 2:
			v.Sub(high, big.NewInt(int64(rapid.IntRange(0, 40).Draw(t, "before end"))))
		default:
			v.SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 16).Draw(t, "bytes"))
			v.Mod(v, new(big.Int).Sub(high, low)).Add(v, low)
		}
		if v.Cmp(low) < 0 {
			v.Set(low)
		}
		tok, err := tokenrange.ParseToken(v.String())
		if err != nil {
			t.Fatal(err)
		}
		return tok
	})
}

// partitioner returns those that hash.
func partitioner() *rapid.Generator[tokenrange.Partitioner] {
	return rapid.SampledFrom([]tokenrange.Partitioner{tokenrange.Murmur3, tokenrange.Random})
}

// nodes returns clusters of up to a number of nodes, in up to three datacentres of up to four
// racks, with distinct tokens; some nodes have none.
func nodes(p tokenrange.Partitioner, most int) *rapid.Generator[[]tokenrange.Node] {
	return rapid.Custom(func(t *rapid.T) []tokenrange.Node {
		used := make(map[tokenrange.Token]bool)
		vnodes := rapid.IntRange(1, 6).Draw(t, "vnodes")
		cluster := make([]tokenrange.Node, rapid.IntRange(0, most).Draw(t, "nodes"))
		for i := range cluster {
			cluster[i] = tokenrange.Node{
				ID:         fmt.Sprintf("node%02d", i),
				Address:    fmt.Sprintf("10.0.0.%d", i),
				Datacenter: rapid.SampledFrom([]string{"dc1", "dc2", "dc3"}).Draw(t, "datacentre"),
				Rack:       rapid.SampledFrom([]string{"r1", "r2", "r3", "r4"}).Draw(t, "rack"),
			}
			for range rapid.IntRange(0, vnodes).Draw(t, "tokens") {
				if tok := tokenOn(p).Draw(t, "token"); !used[tok] {
					used[tok] = true
					cluster[i].Tokens = append(cluster[i].Tokens, tok)
				}
			}
		}
		return cluster
	})
}

// replication returns the replication maps of keyspaces.
func replication() *rapid.Generator[map[string]string] {
	factor := rapid.SampledFrom([]string{"0", "1", "2", "3", "3/1", "5", "2/2"})
	return rapid.Custom(func(t *rapid.T) map[string]string {
		switch rapid.SampledFrom([]string{"simple", "network", "local", "everywhere"}).Draw(t, "strategy") {
		case "simple":
			return map[string]string{"class": "org.apache.cassandra.locator.SimpleStrategy", "replication_factor": factor.Draw(t, "factor")}
		case "network":
			m := map[string]string{"class": "org.apache.cassandra.locator.NetworkTopologyStrategy", "absent": "3"}
			for _, dc := range []string{"dc1", "dc2", "dc3"} {
				if rapid.Bool().Draw(t, "has "+dc) {
					m[dc] = factor.Draw(t, dc)
				}
			}
			return m
		case "local":
			return map[string]string{"class": "org.apache.cassandra.locator.LocalStrategy"}
		}
		return map[string]string{"class": "org.apache.cassandra.locator.EverywhereStrategy"}
	})
}

// estimates returns what nodes may say of a table: of ranges that overlap, of none, nonsense.
func estimates(p tokenrange.Partitioner) *rapid.Generator[[]tokenrange.Estimate] {
	number := rapid.OneOf(rapid.Int64Range(0, 1000), rapid.SampledFrom([]int64{-1, 0, 1 << 20, 1 << 49, math.MinInt64, math.MaxInt64}))
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) tokenrange.Estimate {
		return tokenrange.Estimate{
			Range:      tokenrange.Range{Start: tokenOn(p).Draw(t, "start"), End: tokenOn(p).Draw(t, "end")},
			Partitions: number.Draw(t, "partitions"),
			MeanBytes:  number.Draw(t, "mean bytes"),
		}
	}), 0, 12)
}
