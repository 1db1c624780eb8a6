package cassandra

import (
	"errors"
	"testing"
)

func TestGuard(t *testing.T) {
	allowed := []string{
		`SELECT "image_id","width" FROM "ks"."t" WHERE token("image_id") > ? AND token("image_id") <= ?`,
		`SELECT DISTINCT "tag","day" FROM "ks"."t" WHERE token("tag","day") > ? AND token("tag","day") <= ?`,
		`SELECT "count","sum(x)","group by" FROM "allow filtering"."json"`,
		`SELECT writetime("width"), ttl("width") FROM "ks"."t"`,
		`SELECT a FROM t WHERE b = 'allow filtering; count(*)'`,
		`SELECT "discount" FROM "accounts"`,
	}
	for _, s := range allowed {
		if err := guard(s); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
	refused := []string{
		`SELECT COUNT(*) FROM t`,
		`SELECT count (1) FROM t`,
		`select Sum(width) from t`,
		`SELECT device, max(width) FROM t GROUP BY device`,
		`SELECT a FROM t GROUP  BY a`,
		`SELECT a FROM t WHERE b = 1 ALLOW FILTERING`,
		"SELECT a FROM t WHERE b = 1 allow\n\tfiltering",
		`SELECT a FROM t; DROP TABLE t`,
		`SELECT JSON a FROM t`,
		`SELECT a FROM t -- ALLOW FILTERING`,
		`SELECT a /* */ FROM t`,
		`SELECT a FROM t WHERE b = 'open`,
		`SELECT "a FROM t`,
		`INSERT INTO t (a) VALUES (1)`,
		`DELETE FROM t WHERE a = 1`,
		`TRUNCATE t`,
		``,
	}
	for _, s := range refused {
		if err := guard(s); !errors.Is(err, ErrStatement) {
			t.Errorf("%q: got %v, want %v", s, err, ErrStatement)
		}
	}
}
