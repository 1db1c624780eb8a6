package schema

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"

	"manifest/internal/cqltype"
)

func keyColumn(t testing.TB, name, cql string) Column {
	t.Helper()
	typ, err := cqltype.Parse(cql, nil)
	if err != nil {
		t.Fatal(err)
	}
	return Column{Name: name, Kind: PartitionKey, Type: typ}
}

func TestKeysAsText(t *testing.T) {
	columns := []Column{keyColumn(t, "device_id", "text"), keyColumn(t, "day_bucket", "date")}
	day := binary.BigEndian.AppendUint32(nil, 1<<31+20455) // days since 1970-01-01, by the protocol's offset
	if got, want := KeyText(columns, [][]byte{[]byte("cam '7' ☃"), day}), "device_id='cam ''7'' ☃', day_bucket=2026-01-02"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, c := range []struct{ cql, value, want string }{
		{"int", "fffffff6", "-10"},
		{"bigint", "8000000000000000", "-9223372036854775808"},
		{"boolean", "01", "true"},
		{"blob", "cafe", "0xcafe"},
		{"timeuuid", "f81d4fae7dec11d0a76500a0c91e6bf6", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"},
		{"timestamp", "0000018df53c1a00", "2024-02-29 14:19:33.248Z"},
		{"inet", "c0000207", "192.0.2.7"},
		{"varint", "80", "-128"},
		{"int", "ff", "0xff"}, // not an int: shown as it is
	} {
		value, err := hex.DecodeString(c.value)
		if err != nil {
			t.Fatal(err)
		}
		if got := literal(keyColumn(t, "k", c.cql).Type, value); got != c.want {
			t.Errorf("%s %s: got %s, want %s", c.cql, c.value, got, c.want)
		}
	}
	if got := literal(columns[0].Type, []byte(strings.Repeat("☃", 1000))); len(got) > literalLimit+5 || !strings.HasSuffix(got, "☃…'") {
		t.Errorf("a long key is %s", got)
	}
}
