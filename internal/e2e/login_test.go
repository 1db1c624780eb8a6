package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"manifest/internal/casstest"
)

// checkLogin checks, on a cluster that demands a login, what those get who may not, and that no password is ever shown.
func (s *site) checkLogin(t *testing.T) {
	const password = "s3cret-Pa55"
	session, err := s.cluster.Session("")
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for _, statement := range []string{
		"CREATE ROLE IF NOT EXISTS e2e_reader WITH PASSWORD = '" + password + "' AND LOGIN = true",
		"CREATE ROLE IF NOT EXISTS e2e_nobody WITH PASSWORD = '" + password + "' AND LOGIN = true",
		"GRANT SELECT ON " + s.full("one_row") + " TO e2e_reader",
	} {
		if err := session.Query(statement).WithContext(t.Context()).Exec(); err != nil {
			t.Fatal(err)
		}
	}
	table := s.flag("one_row")
	hosts := s.shared[:4] // without the superuser
	secret := []string{"MANIFEST_PASSWORD=" + password}
	for _, f := range []fault{
		{name: "no login", args: []string{"export", "--table", table, "--out", "OUT"}, code: exitNoAccess, says: []string{"--user"}},
		{name: "wrong password", args: []string{"export", "--user", casstest.Superuser, "--table", table, "--out", "OUT"},
			env: secret, code: exitNoAccess, says: []string{casstest.Superuser}},
		{name: "unknown role", args: []string{"stats", "--user", "e2e_unknown", "--out", "OUT"}, env: secret, code: exitNoAccess, says: []string{"e2e_unknown"}},
		{name: "role without SELECT", args: []string{"export", "--user", "e2e_nobody", "--table", table, "--out", "OUT"},
			env: secret, code: exitNoAccess, says: []string{"one_row", "SELECT"}},
		{name: "role with SELECT on another table", args: []string{"export", "--user", "e2e_reader", "--table", s.flag("tags"), "--out", "OUT"},
			env: secret, code: exitNoAccess, says: []string{"tags", "SELECT"}},
		{name: "statistics without SELECT", args: []string{"stats", "--user", "e2e_nobody", "--keyspace", s.keyspace, "--query", "tags", "--out", "OUT"},
			env: secret, code: exitNoAccess, says: []string{"tag_image_index", "SELECT"}},
	} {
		t.Run(f.name, func(t *testing.T) { f.check(t, hosts...) })
	}
	t.Run("SELECT on the table is enough", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "password")
		if err := os.WriteFile(file, []byte(password+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		reader := &site{worker: s.worker, keyspace: s.keyspace, shared: append(hosts[:4:4], "--user", "e2e_reader", "--password-file", file)}
		e := exported{table: "one_row", format: "jsonl", dirs: []string{filepath.Join(t.TempDir(), "out")}}
		e.commands = []string{reader.export(t, e, e.dirs[0])}
		reader.compare(t, e)
		err := filepath.WalkDir(e.dirs[0], func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			content, err := os.ReadFile(path)
			if strings.Contains(string(content), password) {
				t.Errorf("the password stands in %s", path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
