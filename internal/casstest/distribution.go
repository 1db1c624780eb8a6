package casstest

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"manifest/internal/maven"
)

//go:embed pom.xml
var pom []byte

// toolFiles are the configuration of the command-line tools, beside the jars: logs are kept out of what a tool prints, and settings are
// the least with which those that read SSTables start.
var toolFiles = map[string]string{
	"tools-logback.xml": `<configuration><root level="OFF"/></configuration>` + "\n",
	"tools.yaml": `# For tools that read files; no server runs with it.
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
endpoint_snitch: SimpleSnitch
commitlog_sync: periodic
commitlog_sync_period: 10000ms
seed_provider: [{class_name: org.apache.cassandra.locator.SimpleSeedProvider, parameters: [{seeds: "127.0.0.1"}]}]
`,
}

// Distribution is one version of the server on disk, with the Java that runs it. It is immutable and safe for concurrent use.
type Distribution struct {
	Version string
	Dir     string // the folder of jars
	java    string
}

// CacheDir returns the folder where distributions, address locks and default data folders are: MANIFEST_CACHE where it is set.
func CacheDir() (string, error) {
	if dir := os.Getenv("MANIFEST_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find cache folder: %w", err)
	}
	return filepath.Join(dir, "manifest"), nil
}

// Install returns the distribution of a version ("" means DefaultVersion), and has Maven bring its jars if the cache does not hold them.
// Processes that ask at the same time wait for the first one; a broken-off download leaves nothing that a later one takes for whole.
func Install(ctx context.Context, version string, log io.Writer) (*Distribution, error) {
	version = orDefault(version, DefaultVersion)
	java, err := findJava(ctx)
	if err != nil {
		return nil, err
	}
	cache, err := CacheDir()
	if err != nil {
		return nil, err
	}
	dist := &Distribution{Version: version, Dir: filepath.Join(cache, "cassandra-"+version), java: java}
	if dist.present() {
		return dist, nil
	}
	lock, err := waitLock(ctx, dist.Dir+".lock", "the download of Cassandra "+version, log)
	if err != nil {
		return nil, err
	}
	defer lock.unlock()
	if dist.present() {
		return dist, nil
	}
	fmt.Fprintf(log, "casstest: bringing Cassandra %s by Maven into %s (once, about 70 MB)\n", version, dist.Dir)
	if err := dist.fetch(ctx); err != nil {
		return nil, fmt.Errorf("bring Cassandra %s: %w", version, err)
	}
	return dist, nil
}

func (d *Distribution) present() bool {
	_, err := os.Stat(d.serverJar(d.Dir))
	return err == nil
}

func (d *Distribution) serverJar(dir string) string {
	return filepath.Join(dir, "cassandra-all-"+d.Version+".jar")
}

// fetch runs under the download lock.
func (d *Distribution) fetch(ctx context.Context) error {
	partial := d.Dir + ".partial"
	if err := errors.Join(os.RemoveAll(partial), os.RemoveAll(d.Dir), os.MkdirAll(partial, 0o755)); err != nil {
		return err
	}
	defer os.RemoveAll(partial)
	jars := filepath.Join(partial, "jars")
	if err := maven.CopyJars(ctx, pom, jars, "cassandra.version="+d.Version); err != nil {
		return err
	}
	if _, err := os.Stat(d.serverJar(jars)); err != nil {
		return fmt.Errorf("mvn brought no server jar: %w", err)
	}
	for name, text := range toolFiles {
		if err := os.WriteFile(filepath.Join(jars, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return os.Rename(jars, d.Dir)
}

var javaVersion = regexp.MustCompile(`version "(\d+)`)

// findJava returns the java of JAVA_HOME, or else of PATH, if it is a version that Cassandra runs on.
func findJava(ctx context.Context) (string, error) {
	java := filepath.Join(os.Getenv("JAVA_HOME"), "bin", "java")
	if os.Getenv("JAVA_HOME") == "" {
		found, err := exec.LookPath("java")
		if err != nil {
			return "", fmt.Errorf("find Java 17: %w", err)
		}
		java = found
	}
	output, err := exec.CommandContext(ctx, java, "-version").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("run %s -version: %w\n%s", java, err, output)
	}
	match := javaVersion.FindSubmatch(output)
	if match == nil {
		return "", fmt.Errorf("%s -version says nothing of its version: %s", java, output)
	}
	if major, _ := strconv.Atoi(string(match[1])); major != 11 && major != 17 {
		return "", fmt.Errorf("%s is Java %d, but Cassandra runs on Java 17 or 11; JAVA_HOME can name another", java, major)
	}
	return java, nil
}

// Run runs one of the distribution's command-line classes, such as org.apache.cassandra.tools.SSTableExport (sstabledump), and returns
// what it printed on standard output. home is the folder where the tool may leave files. A non-zero exit is an error with its messages.
func (d *Distribution) Run(ctx context.Context, home, class string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, d.java, append(d.toolFlags(home, class), args...)...)
	cmd.Dir = home
	cmd.SysProcAttr = childAttributes()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("run %s %s: %w\n%s", class, strings.Join(args, " "), err,
			lastLines(stdout.String()+stderr.String(), 20))
	}
	return stdout.String(), nil
}

// toolFlags are Java's arguments for a command-line class, up to its own.
func (d *Distribution) toolFlags(home, class string) []string {
	flags := append(javaModuleFlags(), quickJava...)
	return append(flags, "-Xmx256m", "-Duser.home="+home, "-Djava.io.tmpdir="+home,
		"-Dlogback.configurationFile=file://"+filepath.Join(d.Dir, "tools-logback.xml"),
		"-Dcassandra.config=file://"+filepath.Join(d.Dir, "tools.yaml"), "-Dcassandra.storagedir="+home, "-cp", filepath.Join(d.Dir, "*"), class)
}

// lastLines returns at most n lines from the end of text.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
