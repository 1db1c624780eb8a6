package oracle

import (
	"bufio"
	"cmp"
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"manifest/internal/casstest"
)

//go:embed Oracle.java
var program []byte

// engine is a version of Cassandra with its settings.
type engine struct {
	distribution string
	settings     string
	partitioner  string // "" is Murmur3Partitioner
	// program changes Oracle.java to what an older version calls its methods.
	program *strings.Replacer
}

const settings50 = "column_index_size: 1KiB\nstorage_compatibility_mode: "

// engines are those that can be started. Most are of Cassandra 5.0 and named after
// the version of the SSTables that they write; the others write nb.
var engines = map[string]engine{
	"nb":     {settings: settings50 + "CASSANDRA_4"},
	"oa":     {settings: settings50 + "NONE"},
	"da":     {settings: settings50 + "NONE\nsstable: {selected_format: bti}"},
	"random": {settings: settings50 + "CASSANDRA_4", partitioner: "RandomPartitioner"},
	"4.1": {
		distribution: "4.1.9", settings: "column_index_size: 1KiB",
		program: strings.NewReplacer(
			"Long.MIN_VALUE, now)", "Long.MIN_VALUE, (int) now)",
			"Descriptor.fromFileWithComponent(new File(dataFile), false).left", "Descriptor.fromFilename(new File(dataFile))",
			"openNoValidation(null, d, ", "openNoValidation(d, ",
		),
	},
}

// opened are the parts of Java's own modules that the engine reaches into.
var opened = []string{
	"exports=java.base/sun.nio.ch", "exports=java.base/jdk.internal.ref", "exports=java.base/jdk.internal.misc",
	"opens=java.base/sun.nio.ch", "opens=java.base/java.io", "opens=java.base/java.nio", "opens=java.base/java.lang",
	"opens=java.base/jdk.internal.ref", "opens=java.base/jdk.internal.reflect", "opens=java.base/java.util",
	"opens=java.base/java.util.concurrent", "opens=java.base/java.util.concurrent.atomic", "opens=java.base/java.math",
	"opens=java.base/java.net", "opens=java.base/java.lang.reflect",
}

// Oracle is a running engine. It belongs to one goroutine.
type Oracle struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	log string // file
}

// Start starts an engine that writes SSTables of a version, nb, oa or da; or with
// "4.1" the engine of that version of Cassandra, with "random" one whose tokens are
// those of the RandomPartitioner, both of which write nb. It keeps its files in
// dir, which is empty. It takes some seconds; the first time of all,
// Maven brings the server's jars.
func Start(ctx context.Context, version, dir string) (*Oracle, error) {
	e, ok := engines[version]
	if !ok {
		return nil, fmt.Errorf("start oracle: no version %q", version)
	}
	if err := writeFiles(dir, e); err != nil {
		return nil, fmt.Errorf("start oracle: %w", err)
	}
	cmd, err := java(ctx, e.distribution, dir, "768m", filepath.Join(dir, "Oracle.java"))
	if err != nil {
		return nil, fmt.Errorf("start oracle: %w", err)
	}
	o := &Oracle{cmd: cmd, log: filepath.Join(dir, "log")}
	return o, o.start()
}

// java gives the command that runs a program, of a source file with arguments,
// with the server's classes. It keeps its files in home.
func java(ctx context.Context, distribution, home, heap string, program ...string) (*exec.Cmd, error) {
	dist, err := casstest.Install(ctx, distribution, os.Stderr)
	if err != nil {
		return nil, err
	}
	java := "java"
	if dir := os.Getenv("JAVA_HOME"); dir != "" {
		java = filepath.Join(dir, "bin", "java")
	}
	args := []string{"-Xmx" + heap, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData"}
	for _, o := range opened {
		args = append(args, "--add-"+o+"=ALL-UNNAMED")
	}
	for _, p := range []string{
		"cassandra.config=file://" + filepath.Join(home, "cassandra.yaml"), "cassandra.storagedir=" + home,
		"logback.configurationFile=" + filepath.Join(home, "logback.xml"), "java.io.tmpdir=" + home, "user.home=" + home,
		"cassandra.skip_sync=true",
	} {
		args = append(args, "-D"+p)
	}
	// 4.1 measures its objects by this agent; 5.0 does without.
	if agents, err := filepath.Glob(filepath.Join(dist.Dir, "jamm-*.jar")); err == nil && len(agents) == 1 && distribution != "" {
		args = append(args, "-javaagent:"+agents[0])
	}
	args = append(args, "-cp", filepath.Join(dist.Dir, "*"))
	return exec.CommandContext(ctx, java, append(args, program...)...), nil
}

func writeFiles(dir string, e engine) error {
	yaml := fmt.Sprintf(`cluster_name: oracle
num_tokens: 1
initial_token: "0"
partitioner: org.apache.cassandra.dht.%[7]s
endpoint_snitch: SimpleSnitch
commitlog_sync: periodic
commitlog_sync_period: 10000ms
commitlog_segment_size: 4MiB
materialized_views_enabled: true
seed_provider: [{class_name: org.apache.cassandra.locator.SimpleSeedProvider, parameters: [{seeds: "127.0.0.1"}]}]
data_file_directories: [%[1]q]
commitlog_directory: %[2]q
saved_caches_directory: %[3]q
hints_directory: %[4]q
cdc_raw_directory: %[5]q
%[6]s
`, filepath.Join(dir, "data"), filepath.Join(dir, "commitlog"), filepath.Join(dir, "caches"), filepath.Join(dir, "hints"),
		filepath.Join(dir, "cdc"), e.settings, cmp.Or(e.partitioner, "Murmur3Partitioner"))
	const logback = `<configuration><appender name="err" class="ch.qos.logback.core.ConsoleAppender"><target>System.err</target>` +
		`<encoder><pattern>%-5level %F:%L - %msg%n</pattern></encoder></appender><root level="WARN"><appender-ref ref="err"/></root></configuration>`
	source := string(program)
	if e.program != nil {
		source = e.program.Replace(source)
	}
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "cassandra.yaml"), []byte(yaml), 0o600),
		os.WriteFile(filepath.Join(dir, "logback.xml"), []byte(logback), 0o600),
		os.WriteFile(filepath.Join(dir, "Oracle.java"), []byte(source), 0o600),
	)
}

// start runs the process and waits until the engine is ready.
func (o *Oracle) start() error {
	log, err := os.Create(o.log)
	if err != nil {
		return err
	}
	defer log.Close()
	o.cmd.Stderr = log
	if o.in, err = o.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := o.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	o.out = bufio.NewReaderSize(out, 1<<20)
	if err := o.cmd.Start(); err != nil {
		return fmt.Errorf("start oracle: %w", err)
	}
	if _, err := o.answer(); err != nil {
		o.Close()
		return fmt.Errorf("start oracle: %w", err)
	}
	return nil
}

// Close ends the process.
func (o *Oracle) Close() error {
	o.in.Close()
	return o.cmd.Wait()
}

// Exec executes a statement at a time in seconds since 1970.
func (o *Oracle) Exec(now int64, cql string) error {
	_, err := o.ask("CQL", cql, strconv.FormatInt(now, 10))
	return err
}

// Rows is the answer of a query: serialized values, nil for null.
type Rows struct {
	Names  []string
	Values [][][]byte
}

// Select executes a query at a time in seconds since 1970.
func (o *Oracle) Select(now int64, cql string) (Rows, error) {
	lines, err := o.ask("CQL", cql, strconv.FormatInt(now, 10))
	if err != nil {
		return Rows{}, err
	}
	if len(lines) == 0 {
		return Rows{}, fmt.Errorf("%s: no rows in the answer", cql)
	}
	var rows Rows
	names, err := values(lines[0])
	if err != nil {
		return Rows{}, err
	}
	for _, n := range names {
		rows.Names = append(rows.Names, string(n))
	}
	for _, line := range lines[1:] {
		row, err := values(line)
		if err != nil {
			return Rows{}, err
		}
		rows.Values = append(rows.Values, row)
	}
	return rows, nil
}

func values(line string) ([][]byte, error) {
	var out [][]byte
	for _, word := range strings.Fields(line) {
		if word == "null" {
			out = append(out, nil)
			continue
		}
		v, err := hex.DecodeString(strings.TrimPrefix(word, "0x"))
		if err != nil {
			return nil, fmt.Errorf("read answer %q: %w", line, err)
		}
		out = append(out, v)
	}
	return out, nil
}

// Flush writes the table's memtable as an SSTable, if it holds anything.
func (o *Oracle) Flush(keyspace, table string) error {
	_, err := o.ask("FLUSH", keyspace, table)
	return err
}

// Compact makes one SSTable of all.
func (o *Oracle) Compact(keyspace, table string) error {
	_, err := o.ask("COMPACT", keyspace, table)
	return err
}

// Snapshot links the table's SSTables into a folder, without flushing before,
// and returns its name.
func (o *Oracle) Snapshot(keyspace, table, tag string) (string, error) {
	lines, err := o.ask("SNAPSHOT", keyspace, table, tag)
	if err != nil {
		return "", err
	}
	if len(lines) != 1 {
		return "", fmt.Errorf("snapshot %s.%s: %d folders", keyspace, table, len(lines))
	}
	return lines[0], nil
}

// Dump tells all that an SSTable holds, in lines:
//
//	partition KEY TOKEN [deleted AT LOCAL]
//	static [live AT TTL EXPIRES] [deleted AT LOCAL]
//	row CLUSTERING... [live AT TTL EXPIRES] [deleted AT LOCAL] [shadowable]
//	complex COLUMN deleted AT LOCAL
//	cell COLUMN AT TTL LOCAL PATH VALUE
//	marker KIND CLUSTERING... deleted AT LOCAL [deleted AT LOCAL]
//
// Values and names are in hexadecimal or null; a time that there is not is "-".
func (o *Oracle) Dump(dataFile string) ([]string, error) { return o.ask("DUMP", dataFile) }

// ask sends a request and returns the lines of its answer.
func (o *Oracle) ask(words ...string) ([]string, error) {
	encoded := make([]string, len(words))
	for i, w := range words {
		encoded[i] = base64.StdEncoding.EncodeToString([]byte(w))
	}
	if _, err := io.WriteString(o.in, strings.Join(encoded, " ")+"\n"); err != nil {
		return nil, o.died(err)
	}
	lines, err := o.answer()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(words, " "), err)
	}
	return lines, nil
}

func (o *Oracle) answer() ([]string, error) {
	head, err := o.out.ReadString('\n')
	if err != nil {
		return nil, o.died(err)
	}
	verb, rest, _ := strings.Cut(strings.TrimSpace(head), " ")
	if verb == "ERR" {
		text, err := base64.StdEncoding.DecodeString(rest)
		return nil, errors.Join(errors.New(string(text)), err)
	}
	n, err := strconv.Atoi(rest)
	if verb != "OK" || err != nil {
		return nil, fmt.Errorf("answer %q of the oracle", head)
	}
	lines := make([]string, n)
	for i := range lines {
		line, err := o.out.ReadString('\n')
		if err != nil {
			return nil, o.died(err)
		}
		lines[i] = strings.TrimRight(line, "\n")
	}
	return lines, nil
}

// died adds the end of the engine's log to an error.
func (o *Oracle) died(err error) error {
	log, _ := os.ReadFile(o.log)
	return fmt.Errorf("the oracle died: %w\n%s", err, log[max(0, len(log)-4000):])
}
