// Command casstestctl runs a Cassandra cluster for a whole `go test ./...`, a benchmark or the demo, so that each package need not start
// one of its own.
//
//	casstestctl run [flags] -- command args...   starts a cluster, runs the command with MANIFEST_TEST_HOSTS set, stops the cluster
//	casstestctl start [flags]                    starts a cluster in the background and prints MANIFEST_TEST_HOSTS=...
//	casstestctl stop [-base-octet N]             stops what start started
//
// run uses the cluster that MANIFEST_TEST_HOSTS names, if it is set already, and exits with the command's exit code.
// The exit code is 2 for wrong usage and 1 for everything else that fails.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"manifest/internal/casstest"
)

// stopLimit bounds the end of a cluster with data to flush on a slow disk.
const stopLimit = 2 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := run(ctx, os.Executable, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "casstestctl:", err)
	}
	os.Exit(code)
}

const usage = "usage: casstestctl run [flags] -- command args... | start [flags] | stop [-base-octet N]"

// errUsage marks an error of the command line.
var errUsage = errors.New(usage)

// run executes one command line and returns the exit code. self gives the path of this program, which start runs again; a test gives that of
// the built program, as its own would be the tests.
func run(ctx context.Context, self func() (string, error), args []string) (int, error) {
	code, err := dispatch(ctx, self, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0, nil
	case errors.Is(err, errUsage):
		return 2, err
	case err != nil:
		return 1, err
	}
	return code, nil
}

func dispatch(ctx context.Context, self func() (string, error), args []string) (int, error) {
	if len(args) == 0 {
		return 0, errUsage
	}
	flags := flag.NewFlagSet("casstestctl "+args[0], flag.ContinueOnError)
	opts := casstest.Options{Log: os.Stderr}
	flags.IntVar(&opts.Nodes, "nodes", 1, "number of nodes")
	flags.IntVar(&opts.BaseOctet, "base-octet", 1, "last number of the first node's address")
	flags.IntVar(&opts.Port, "port", 9042, "CQL port")
	flags.StringVar(&opts.Dir, "dir", "", "data folder, kept for the next start (default: one in the cache, removed at the end)")
	flags.IntVar(&opts.HeapMB, "heap", 0, "Java heap of a node in MiB (default 512)")
	flags.IntVar(&opts.VNodes, "vnodes", 0, "tokens per node (default 16)")
	flags.StringVar(&opts.Version, "version", casstest.DefaultVersion, "Cassandra version")
	flags.StringVar(&opts.Partitioner, "partitioner", "", "partitioner (default Murmur3Partitioner)")
	flags.StringVar(&opts.SSTableFormat, "format", "", "SSTable format, big or bti (default big)")
	flags.StringVar(&opts.Compat, "compat", "", "storage compatibility mode, NONE or CASSANDRA_4 (default NONE)")
	flags.BoolVar(&opts.Auth, "auth", false, "demand a login")
	flags.BoolVar(&opts.Optimizing, "optimizing", false, "run the server as fast as in production; it starts more slowly")
	if err := flags.Parse(args[1:]); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0, err
		}
		return 2, nil // the flag package has said what is wrong
	}
	if opts.Dir != "" {
		dir, err := filepath.Abs(opts.Dir)
		if err != nil {
			return 0, err
		}
		opts.Dir = dir
	}
	if args[0] != "run" && flags.NArg() > 0 {
		return 0, fmt.Errorf("unexpected argument %q\n%w", flags.Arg(0), errUsage)
	}
	if err := opts.Validate(); err != nil {
		return 0, err
	}
	switch args[0] {
	case "run":
		return runCommand(ctx, opts, flags.Args())
	case "start":
		return 0, start(ctx, self, args[1:])
	case "serve":
		return 0, serve(ctx, opts)
	case "stop":
		ctx, cancel := context.WithTimeout(ctx, stopLimit)
		defer cancel()
		return 0, casstest.StopOther(ctx, fmt.Sprintf("127.0.0.%d", opts.BaseOctet))
	}
	return 0, fmt.Errorf("unknown command %q\n%w", args[0], errUsage)
}

func runCommand(ctx context.Context, opts casstest.Options, command []string) (code int, err error) {
	if len(command) == 0 {
		return 0, fmt.Errorf("run: no command\n%w", errUsage)
	}
	hosts := os.Getenv(casstest.HostsVariable)
	if hosts == "" {
		cluster, err := casstest.Start(ctx, opts)
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, cluster.Stop()) }()
		hosts = hostList(cluster)
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), casstest.HostsVariable+"="+hosts)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Exited() {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// start runs this program again, as serve, in a session of its own, and returns when the cluster is ready.
func start(ctx context.Context, self func() (string, error), flags []string) error {
	program, err := self()
	if err != nil {
		return fmt.Errorf("find own program: %w", err)
	}
	messages, err := os.CreateTemp("", "casstestctl-*.log")
	if err != nil {
		return fmt.Errorf("make file for messages: %w", err)
	}
	defer messages.Close()
	defer os.Remove(messages.Name()) // the cluster's own logs are in its folder
	cmd := exec.Command(program, append([]string{"serve"}, flags...)...)
	cmd.Stderr = messages
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	ready, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start in the background: %w", err)
	}
	stopWatch := context.AfterFunc(ctx, func() { cmd.Process.Signal(syscall.SIGTERM) })
	defer stopWatch()
	line, err := bufio.NewReader(ready).ReadString('\n')
	if err != nil {
		waited := cmd.Wait()
		text, _ := os.ReadFile(messages.Name())
		return fmt.Errorf("start in the background: %w\n%s", errors.Join(context.Cause(ctx), waited), text)
	}
	if _, err := io.WriteString(os.Stdout, line); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// serve runs a cluster until it is told to stop, and says on standard output when it is ready.
func serve(ctx context.Context, opts casstest.Options) error {
	cluster, err := casstest.Start(ctx, opts)
	if err != nil {
		return err
	}
	fmt.Printf("%s=%s\n", casstest.HostsVariable, hostList(cluster))
	<-ctx.Done()
	return cluster.Stop()
}

// hostList is the value of MANIFEST_TEST_HOSTS for a cluster.
func hostList(c *casstest.Cluster) string {
	hosts := c.Hosts()
	for i := range hosts {
		hosts[i] = fmt.Sprintf("%s:%d", hosts[i], c.Port())
	}
	return strings.Join(hosts, ",")
}
