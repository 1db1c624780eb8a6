package tokenrange_test

import (
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"manifest/tokenrange"
)

// TestPlanJSON pins the form of a plan file, which later versions have to read.
func TestPlanJSON(t *testing.T) {
	golden, err := os.ReadFile("testdata/plan-v1.json")
	if err != nil {
		t.Fatal(err)
	}
	ring := mustRing(t, node("a", "dc/r1", -1<<62), node("b", "dc/r2", 0), node("c", "dc/r3", 1<<62))
	plan := mustPlan(t, ring, network(t, "dc:2"), []tokenrange.Estimate{{Range: ring.Range(), Partitions: 1 << 20, MeanBytes: 1000}},
		tokenrange.PlanOptions{Start: new(token(-1 << 62)), End: new(token(1 << 62)), Splits: 4, Seed: 1 << 63})
	got, err := json.MarshalIndent(plan, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if string(got)+"\n" != string(golden) {
		t.Errorf("plan is\n%s\nwant\n%s", got, golden)
	}
	var back tokenrange.Plan
	if err := json.Unmarshal(golden, &back); err != nil || !reflect.DeepEqual(back, plan) {
		t.Errorf("read back %+v, %v, want %+v", back, err, plan)
	}
}

func TestPlanJSONIsChecked(t *testing.T) {
	golden, err := os.ReadFile("testdata/plan-v1.json")
	if err != nil {
		t.Fatal(err)
	}
	first := `"id": "4000000000000000-6000000000000000"`
	tests := []struct {
		name     string
		old, new string
		err      error
		fault    tokenrange.TilingFault
	}{
		{"another version", `"version": 1`, `"version": 2`, tokenrange.ErrPlanVersion, ""},
		{"no version", `"version": 1`, `"edition": 1`, tokenrange.ErrPlanVersion, ""},
		{"no partitioner", `"partitioner": "`, `"partition": "`, tokenrange.ErrMalformed, ""},
		{"a token that is none", `"start": "-4611686018427387904"`, `"start": "zero"`, tokenrange.ErrMalformed, ""},
		{"the tokens of another partitioner", `"end": "4611686018427387904"`, `"end": "170141183460469231731687303715884105728"`, tokenrange.ErrOutOfRing, ""},
		{"an id of another range", first, `"id": "4000000000000000-6000000000000001"`, tokenrange.ErrMalformed, ""},
		{"a negative estimate", `"bytes": 131072000`, `"bytes": -1`, tokenrange.ErrMalformed, ""},
		{"more asked than split", `"asked": [`, `"asked": [{"start": "9000000000000000000", "end": "9000000000000000001"},`, nil, tokenrange.Gap},
		{"less asked than split", `"end": "4611686018427387904"`, `"end": "4611686018427387900"`, nil, tokenrange.Outside},
		{"an empty part asked", `"asked": [`, `"asked": [{"start": "300", "end": "300"},`, tokenrange.ErrEmptyRange, ""},
	}
	for _, test := range tests {
		damaged := strings.Replace(string(golden), test.old, test.new, 1)
		if damaged == string(golden) {
			t.Fatalf("%s: %q is not in the plan", test.name, test.old)
		}
		plan := tokenrange.Plan{Seed: 77}
		err := json.Unmarshal([]byte(damaged), &plan)
		var tiling *tokenrange.TilingError
		switch {
		case err == nil:
			t.Errorf("%s: no error", test.name)
		case test.fault != "" && (!errors.As(err, &tiling) || tiling.Fault != test.fault):
			t.Errorf("%s: error %v, want a %s", test.name, err, test.fault)
		case test.fault == "" && !errors.Is(err, test.err):
			t.Errorf("%s: error %v, want %v", test.name, err, test.err)
		case !reflect.DeepEqual(plan, tokenrange.Plan{Seed: 77}):
			t.Errorf("%s: the plan was changed to %+v", test.name, plan)
		}
	}

	// A split taken out, or there twice.
	var file map[string]any
	if err := json.Unmarshal(golden, &file); err != nil {
		t.Fatal(err)
	}
	splits := file["splits"].([]any)
	for fault, changed := range map[tokenrange.TilingFault][]any{tokenrange.Gap: splits[1:], tokenrange.Overlap: append(splits, splits[0])} {
		file["splits"] = changed
		data, err := json.Marshal(file)
		if err != nil {
			t.Fatal(err)
		}
		var tiling *tokenrange.TilingError
		if err := json.Unmarshal(data, new(tokenrange.Plan)); !errors.As(err, &tiling) || tiling.Fault != fault {
			t.Errorf("error %v, want a %s", err, fault)
		}
	}
}

func TestPlanOfNothingLeft(t *testing.T) {
	plan := mustPlan(t, mustRing(t, cluster(2, 2)...), network(t, "dc:1"), nil, tokenrange.PlanOptions{})
	left := plan.Remaining(tokenrange.NewIntervalSet(tokenrange.Murmur3.Ring()))
	data, err := json.Marshal(left)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), `"asked":[],"splits":[]`) {
		t.Errorf("plan of nothing is %s", data)
	}
	var back tokenrange.Plan
	if err := json.Unmarshal(data, &back); err != nil || !reflect.DeepEqual(back, left) {
		t.Errorf("read back %+v, %v", back, err)
	}
	if left = plan.Remaining(tokenrange.IntervalSet{}); !reflect.DeepEqual(left, plan) {
		t.Errorf("nothing done leaves %+v of %+v", left, plan)
	}
}

func FuzzPlanJSON(f *testing.F) {
	golden, err := os.ReadFile("testdata/plan-v1.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(golden)
	f.Add([]byte(`{"version":1,"partitioner":"x","asked":[{"start":"0","end":"1"}],"splits":[]}`))
	f.Add([]byte(`{"version":1,"partitioner":"RandomPartitioner","asked":[],"splits":[]}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var plan tokenrange.Plan
		if json.Unmarshal(data, &plan) != nil {
			return
		}
		if err := plan.Check(); err != nil {
			t.Fatalf("a plan that does not tile was read: %v", err)
		}
		again, err := json.Marshal(plan)
		if err != nil {
			t.Fatal(err)
		}
		var back tokenrange.Plan
		if err := json.Unmarshal(again, &back); err != nil {
			t.Fatalf("read %s again: %v", again, err)
		}
	})
}
