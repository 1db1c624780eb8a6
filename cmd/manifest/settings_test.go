package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// applied parses a command line of export and fills in the other settings.
func applied(t *testing.T, file string, args ...string) (*cobra.Command, *settings, error) {
	t.Helper()
	if file != "" {
		path := filepath.Join(t.TempDir(), "manifest.yaml")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--config", path)
	}
	root := newRootCommand()
	cmd, _, err := root.Find([]string{"export"})
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	s := &settings{path: cmd.Flag("config").Value.String()}
	return cmd, s, s.apply(cmd)
}

func TestAFlagWinsOverAVariableAndAVariableOverTheFile(t *testing.T) {
	t.Setenv("MANIFEST_LOCAL_DC", "from-env")
	t.Setenv("MANIFEST_KEYSPACE", "from-env")
	cmd, _, err := applied(t, "local-dc: from-file\nkeyspace: from-file\nhosts: [a, b]\nworkers: 3\ntls: true\n", "--keyspace", "from-flag")
	if err != nil {
		t.Fatal(err)
	}
	for flag, want := range map[string]string{"keyspace": "from-flag", "local-dc": "from-env", "hosts": "[a,b]", "workers": "3", "tls": "true", "port": "9042"} {
		if got := cmd.Flag(flag).Value.String(); got != want {
			t.Errorf("--%s is %q, want %q", flag, got, want)
		}
	}
}

func TestFaultsOfTheFileAreNamed(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"unknown key":      {"hots: a\n", `unknown setting "hots"; is "hosts" meant?`},
		"wrong type":       {"workers: many\n", `invalid argument "many" for "--workers"`},
		"unknown table":    {"table-names: {image_meta: x}\n", `unknown name "image_meta"; is "image_metadata" meant?`},
		"unknown column":   {"column-names: {image_metadata.widht: w}\n", `is "image_metadata.width" meant?`},
		"no YAML":          {"hosts: [a\n", "manifest.yaml"},
		"of other command": {"memory: 1GiB\nquery: tags\n", ""},
	} {
		_, _, err := applied(t, c.file)
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || exitCode(err) != exitUsage {
			t.Errorf("%s: got %v (exit %d), want %q", name, err, exitCode(err), c.want)
		}
	}
	_, _, err := applied(t, "", "--config", filepath.Join(t.TempDir(), "none.yaml"))
	if exitCode(err) != exitUsage {
		t.Errorf("no file: got %v", err)
	}
}

func TestMappedNamesAreRead(t *testing.T) {
	_, s, err := applied(t, "table-names: {image_metadata: pictures}\ncolumn-names:\n  image_metadata.width: \"size.w\"\n")
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Names.imageTables(); got[0] != "pictures" || got[2] != "tag_image_index" {
		t.Errorf("tables are %v", got)
	}
	if got := s.Names.mapping().Metadata.Width; got != "size.w" {
		t.Errorf("width is read from %q", got)
	}
}

func TestPasswordComesFromFileOrEnvironment(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte("from file\r\nsecond line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("MANIFEST_PASSWORD", "from env")
	for _, c := range []struct {
		o    connectionOptions
		want string
	}{
		{connectionOptions{user: "u", passwordFile: path}, "from file"},
		{connectionOptions{user: "u"}, "from env"},
		{connectionOptions{}, ""}, // nobody to log in as
	} {
		if got, err := c.o.password(); err != nil || got != c.want {
			t.Errorf("%+v: got %q, %v, want %q", c.o, got, err, c.want)
		}
	}
}

func TestByteSizes(t *testing.T) {
	for text, want := range map[string]int64{"512MiB": 512 << 20, "1.5 GiB": 3 << 29, "64MB": 64e6, "1048576": 1 << 20, "10kib": 10 << 10, "7B": 7, "0": 0} {
		var b byteSize
		if err := b.Set(text); err != nil || int64(b) != want {
			t.Errorf("%q: got %d, %v, want %d", text, b, err, want)
		}
	}
	for _, text := range []string{"", "many", "-1MiB", "1XB", "NaN", "1e30GiB", "MiB"} {
		var b byteSize
		if err := b.Set(text); err == nil {
			t.Errorf("%q is taken for %d", text, b)
		}
	}
}
