package sampling

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"manifest/internal/tokensort"
)

// unionFind is the model of what is connected.
type unionFind map[string]string

func (u unionFind) root(s string) string {
	for u[s] != "" && u[s] != s {
		s = u[s]
	}
	return s
}

func TestConnectedGroupsGoTogether(t *testing.T) {
	dir := t.TempDir()
	splits, err := ParseSplits("train=0.5,validation=0.25,test=0.25")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		devices := rapid.IntRange(1, 40).Draw(t, "devices")
		hashes := rapid.IntRange(1, 60).Draw(t, "hashes")
		var rows []Row
		u := unionFind{}
		owner := map[string]string{}
		var model []modelRow
		for i := range rapid.IntRange(0, 80).Draw(t, "rows") {
			m := modelRow{id: fmt.Sprintf("id%03d", i), device: fmt.Sprint("d", rapid.IntRange(1, devices).Draw(t, "device")), hash: fmt.Sprint("h", rapid.IntRange(1, hashes).Draw(t, "hash"))}
			if o, ok := owner[m.hash]; ok {
				if a, b := u.root(o), u.root(m.device); a != b {
					u[a] = b
				}
			} else {
				owner[m.hash] = m.device
			}
			model, rows = append(model, m), append(rows, m.row(0))
		}
		got, _ := decide(t, Options{Splits: splits, Connect: true, Dir: dir, Memory: 1}, rows)
		prover, err := NewProver(tokensort.Options{Dir: dir, Memory: 100})
		if err != nil {
			t.Fatal(err)
		}
		defer prover.Close()
		// The unit's id is the smallest of its groups.
		smallest := map[string]int64{}
		for _, m := range model {
			root := u.root(m.device)
			if id, ok := smallest[root]; !ok || got[m.id].Group < id {
				smallest[root] = got[m.id].Group
			}
		}
		for _, m := range model {
			d := got[m.id]
			if want := newSplitter("", splits).of(smallest[u.root(m.device)]); d.Split != want {
				t.Fatalf("%s of %s is in split %d, want %d", m.id, m.device, d.Split, want)
			}
			if err := prover.Add([]byte(m.id), d.Group, []byte(m.hash), splits[d.Split].Name); err != nil {
				t.Fatal(err)
			}
		}
		proof, err := prover.Prove(context.Background())
		if err != nil || !proof.Holds() || proof.Hashes != int64(len(owner)) || proof.Rows != int64(len(rows)) {
			t.Fatalf("%+v %v", proof, err)
		}
	})
}

// An image keeps its split as others come, unless an older duplicate in another group takes its place: pinned, it keeps it then too.
func TestSplitsAreStableAsDataGrows(t *testing.T) {
	dir := t.TempDir()
	splits, _ := ParseSplits("train=0.6,test=0.4")
	other, _ := ParseSplits("train=0.1,test=0.9")
	rapid.Check(t, func(t *rapid.T) {
		model := drawRows(t)
		old := model[:rapid.IntRange(0, len(model)).Draw(t, "old rows")]
		rowsOf := func(model []modelRow, pinned map[string]decided) (rows []Row) {
			for _, m := range model {
				d, ok := pinned[m.id]
				m.pinned = ok && d.Outcome == Kept
				rows = append(rows, m.row(0))
			}
			return rows
		}
		before, _ := decide(t, Options{Splits: splits, Dedupe: true, Dir: dir}, rowsOf(old, nil))
		after, _ := decide(t, Options{Splits: splits, Dedupe: true, Dir: dir}, rowsOf(model, nil))
		for id, d := range before {
			if a := after[id]; d.Outcome == Kept && a.Outcome == Kept && a.Split != d.Split {
				t.Fatalf("%s went from %d to %d", id, d.Split, a.Split)
			}
		}
		// With pins every old image stays where it was, whatever the shares and the salt.
		pins, err := NewPins(other, tokensort.Options{Dir: dir, Memory: 50})
		if err != nil {
			t.Fatal(err)
		}
		defer pins.Close()
		for _, d := range before {
			if d.Outcome == Kept {
				if err := pins.Add(d.Group, splits[d.Split].Name); err != nil {
					t.Fatal(err)
				}
			}
		}
		pinned, _ := decide(t, Options{Splits: other, Salt: "another", Dedupe: true, Pins: pins, Dir: dir}, rowsOf(model, before))
		for id, d := range before {
			if d.Outcome == Kept && (pinned[id].Outcome != Kept || pinned[id].Split != d.Split) {
				t.Fatalf("pinned %s was %+v and is %+v", id, d, pinned[id])
			}
		}
	})
}

func TestUnitsPinnedApartAreLeftOut(t *testing.T) {
	splits, _ := ParseSplits("train=0.5,test=0.5")
	pins, err := NewPins(splits, tokensort.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer pins.Close()
	rows := []modelRow{{id: "1", device: "a", hash: "h"}, {id: "2", device: "b", hash: "h"}, {id: "3", device: "c", hash: "i"}}
	for _, p := range []struct{ device, split string }{{"a", "train"}, {"b", "test"}, {"c", "test"}} {
		key, _ := GroupKey(nil, []byte(p.device))
		if err := pins.Add(GroupID(key), p.split); err != nil {
			t.Fatal(err)
		}
	}
	if err := pins.Add(1, "elsewhere"); !errors.Is(err, ErrOptions) {
		t.Errorf("an unknown split gave %v", err)
	}
	got, counts := decide(t, Options{Splits: splits, Connect: true, Pins: pins}, []Row{rows[0].row(0), rows[1].row(0), rows[2].row(0)})
	if got["1"].Outcome != PinnedApart || got["2"].Outcome != PinnedApart || got["3"].Outcome != Kept || got["3"].Split != 1 || counts.Apart != 2 {
		t.Fatalf("%+v %+v", got, counts)
	}
}

func TestProofFindsWhatIsBroken(t *testing.T) {
	for _, c := range []struct {
		name string
		rows [][4]any
		want Proof
	}{
		{"whole", [][4]any{{"a", 1, "h", "train"}, {"b", 1, "h", "train"}, {"c", 2, "", "test"}},
			Proof{Rows: 3, Groups: 2, Hashes: 1, SharedHashes: 1}},
		{"repeated", [][4]any{{"a", 1, "h", "train"}, {"a", 1, "h", "train"}},
			Proof{Rows: 2, Repeated: 1, Groups: 1, Hashes: 1, SharedHashes: 1, Examples: []string{"image a is there 2 times"}}},
		{"a group across", [][4]any{{"a", -7, "h", "train"}, {"b", -7, "i", "test"}},
			Proof{Rows: 2, Groups: 1, GroupsAcross: 1, Hashes: 2, Examples: []string{"group -7 is in several splits"}}},
		{"a hash across", [][4]any{{"a", 1, "h", "train"}, {"b", 2, "h", "test"}},
			Proof{Rows: 2, Groups: 2, Hashes: 1, HashesAcross: 1, SharedHashes: 1, Examples: []string{"content hash h is in several splits"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := NewProver(tokensort.Options{Dir: t.TempDir(), Memory: 1})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			for _, r := range c.rows {
				if err := p.Add([]byte(r[0].(string)), int64(r[1].(int)), []byte(r[2].(string)), r[3].(string)); err != nil {
					t.Fatal(err)
				}
			}
			got, err := p.Prove(t.Context())
			if err != nil || fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Fatalf("%+v %v, want %+v", got, err, c.want)
			}
			if got.Holds() != (c.name == "whole") {
				t.Errorf("holds: %v", got.Holds())
			}
		})
	}
}
