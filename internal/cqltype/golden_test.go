package cqltype

import (
	"bufio"
	"encoding/hex"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// readGolden reads a table that testdata/Golden.java wrote with Cassandra's own classes.
func readGolden(t tester, name string, columns int) [][]string {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rows [][]string
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		row := strings.Split(lines.Text(), "\t")
		if len(row) != columns {
			t.Fatalf("%s line %d: %d columns, want %d", name, len(rows)+1, len(row), columns)
		}
		rows = append(rows, row)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// All values of a type go into one column, with a NULL before each.
func TestAppendValuesOfCassandra(t *testing.T) {
	type values struct {
		raw  [][]byte
		want []any
	}
	byType, names := map[string]*values{}, []string{}
	for _, row := range readGolden(t, "values.tsv", 3) {
		v := byType[row[0]]
		if v == nil {
			v = &values{}
			byType[row[0]] = v
			names = append(names, row[0])
		}
		raw, err := hex.DecodeString(row[1])
		if err != nil {
			t.Fatal(err)
		}
		v.raw = append(v.raw, nil, raw)
		v.want = append(v.want, nil, parseValue(t, row[2]))
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			v, typ := byType[name], mustParse(t, name)
			col := newColumn(t, typ)
			for _, raw := range v.raw {
				if err := col.Append(raw); err != nil {
					t.Errorf("%x: %v", raw, err)
				}
			}
			arr := col.finish(t)
			if arr.Len() != len(v.want) {
				t.Fatalf("%d elements, want %d", arr.Len(), len(v.want))
			}
			for i, want := range v.want {
				if diff := cmp.Diff(want, valueAt(typ, arr, i)); diff != "" {
					t.Errorf("%x: (-want +got)\n%s", v.raw[i], diff)
				}
			}
		})
	}
}

func TestTypesOfCassandra(t *testing.T) {
	for _, row := range readGolden(t, "types.tsv", 4) {
		text, canonical, class := row[0], row[1], row[2]
		fixedLen, err := strconv.Atoi(row[3])
		if err != nil {
			t.Fatal(err)
		}
		typ := mustParse(t, text)
		if got := typ.String(); got != canonical {
			t.Errorf("%s: String is %s, want %s", text, got, canonical)
		}
		marshal, reversed, err := ParseMarshal(class)
		if err != nil {
			t.Error(err)
			continue
		}
		if diff := cmp.Diff(typ, marshal); diff != "" || reversed {
			t.Errorf("%s from its class string, reversed %t: (-text +class)\n%s", text, reversed, diff)
		}
		n, ok := typ.FixedLen()
		if want := fixedLen >= 0; ok != want || ok && n != fixedLen {
			t.Errorf("%s: FixedLen is %d, %t, want %d", text, n, ok, fixedLen)
		}
	}
}
