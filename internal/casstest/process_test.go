package casstest

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestLockNamesItsHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "nodes", "127.0.0.9.lock")
	lock, err := tryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tryLock(path); !errors.Is(err, errLocked) {
		t.Errorf("second lock: %v, want %v", err, errLocked)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	var said strings.Builder
	_, err = waitLock(ctx, path, "the address 127.0.0.9", &said)
	for _, text := range []string{err.Error(), said.String()} {
		if !strings.Contains(text, "the address 127.0.0.9, held by process ") {
			t.Errorf("%q does not say what is waited for", text)
		}
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("wait: %v, want the context's error", err)
	}
	lock.unlock()
	again, err := waitLock(t.Context(), path, "", io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	again.unlock()
}

func TestPortOfAnotherServerIsNamed(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.251:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	opts := Options{BaseOctet: 250, Nodes: 2, Port: listener.Addr().(*net.TCPAddr).Port}.withDefaults()
	if err := portsFree(t.Context(), opts, 0, 1); err != nil {
		t.Errorf("first node: %v", err)
	}
	err = portsFree(t.Context(), opts, 0, 2)
	if !errors.Is(err, ErrAddressInUse) || !strings.Contains(err.Error(), "another server listens on "+listener.Addr().String()+" (CQL port of node 1)") {
		t.Errorf("second node: %v", err)
	}
}

func TestSecondClusterOfThisProcessIsRefused(t *testing.T) {
	cache := t.TempDir()
	opts := Options{BaseOctet: 240, Nodes: 2, Log: io.Discard}.withDefaults()
	locks, err := lockNodes(t.Context(), cache, opts, 0, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer unlockAll(locks)
	opts.BaseOctet, opts.Nodes = 241, 1
	if _, err := lockNodes(t.Context(), cache, opts, 0, 1); !errors.Is(err, ErrAddressInUse) || !strings.Contains(err.Error(), "127.0.0.241") {
		t.Errorf("got %v, want %v naming the address", err, ErrAddressInUse)
	}
}

func TestLogEvents(t *testing.T) {
	path := filepath.Join(t.TempDir(), "node.log")
	write := func(text string) {
		t.Helper()
		file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := file.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	// Lines as 5.0.6 prints them.
	write("INFO  [GossipStage:1] 2026-11-30 17:24:14,430 Gossiper.java:1458 - InetAddress /127.0.0.9:7000 is now UP\n")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	events := &logEvents{path: path, start: info.Size(), offset: info.Size()}
	check := func(what string, peer string, up, serving bool) {
		t.Helper()
		if err := events.read(); err != nil {
			t.Fatal(err)
		}
		if events.sees(peer) != up || events.isServing() != serving {
			t.Errorf("%s: up %t serving %t, want %t and %t", what, events.sees(peer), events.isServing(), up, serving)
		}
	}
	check("an earlier run's line", "127.0.0.9", false, false)
	write("INFO  [GossipStage:1] 2026-11-30 17:24:14,430 Gossiper.java:1458 - InetAddress /127.0.0.2:7000 is no")
	check("half a line", "127.0.0.2", false, false)
	write("w UP\n")
	check("the other half", "127.0.0.2", true, false)
	check("an address that begins the same", "127.0.0.20", false, false)
	write("INFO  [main] 2026-11-30 17:35:31,670 PipelineConfigurator.java:148 - Starting listening for CQL clients on /127.0.0.2:9042 (unencrypted)...\n" +
		"INFO  [GossipStage:1] 2026-11-30 17:35:32,894 Gossiper.java:1474 - InetAddress /127.0.0.2:7000 is now DOWN\n")
	check("down", "127.0.0.2", false, true)
	write("INFO  [GossipStage:1] 2026-11-30 17:35:32,894 Gossiper.java:1474 - InetAddress /127.0.0.2:7000 is now UP\n")
	check("up again", "127.0.0.2", true, true)
	events.forget("127.0.0.2")
	check("forgotten", "127.0.0.2", false, true)
	if tail := events.tail(1); !strings.HasSuffix(tail, "/127.0.0.2:7000 is now UP") {
		t.Errorf("tail: %q", tail)
	}
}

// fakeInstallation points the package at a cache and a Java of the test's own. The script sees what java would.
func fakeInstallation(t *testing.T, script string) {
	t.Helper()
	root := t.TempDir()
	for path, text := range map[string]string{
		filepath.Join(root, "cache", "cassandra-"+DefaultVersion, "cassandra-all-"+DefaultVersion+".jar"): "",
		filepath.Join(root, "java", "bin", "java"):                                                        "#!/bin/sh\n" + script,
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("MANIFEST_CACHE", filepath.Join(root, "cache"))
	t.Setenv("JAVA_HOME", filepath.Join(root, "java"))
}

const java17 = `if [ "$1" = -version ]; then echo 'openjdk version "17.0.15" 2025-04-15' >&2; exit 0; fi
`

func TestDyingServerFailsAtOnceWithItsLog(t *testing.T) {
	fakeInstallation(t, java17+"echo one; echo 'Exception: the disk is on fire' >&2; exit 3\n")
	_, err := Start(t.Context(), Options{BaseOctet: 251})
	if !errors.Is(err, ErrNodeExited) {
		t.Fatalf("got %v, want %v", err, ErrNodeExited)
	}
	if want := "server exited: node 0 (127.0.0.251): exit status 3; end of its log:\none\nException: the disk is on fire"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	left, err := filepath.Glob(filepath.Join(os.Getenv("MANIFEST_CACHE"), "data", "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestStartEndsWithItsContext(t *testing.T) {
	fakeInstallation(t, java17+"echo starting; exec sleep 600\n")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := Start(ctx, Options{BaseOctet: 252})
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "node 0 (127.0.0.252): does not serve CQL yet") {
		t.Errorf("got %v, want what was waited for", err)
	}
}

func TestJavaOfAnotherVersionIsRefused(t *testing.T) {
	fakeInstallation(t, `echo 'openjdk version "21.0.1" 2023-10-17' >&2`)
	_, err := Install(t.Context(), "", io.Discard)
	if err == nil || !strings.Contains(err.Error(), "is Java 21, but Cassandra runs on Java 17 or 11") {
		t.Errorf("got %v", err)
	}
	t.Setenv("JAVA_HOME", "")
	t.Setenv("PATH", t.TempDir())
	if _, err := Install(t.Context(), "", io.Discard); err == nil || !strings.Contains(err.Error(), "find Java 17") {
		t.Errorf("without Java: %v", err)
	}
}

func TestMissingMavenIsSaid(t *testing.T) {
	fakeInstallation(t, java17)
	t.Setenv("PATH", t.TempDir())
	if _, err := Install(t.Context(), "5.0.1", io.Discard); err == nil || !strings.Contains(err.Error(), "bring Cassandra 5.0.1: find Maven") {
		t.Errorf("got %v", err)
	}
}

func TestFailedDownloadLeavesNothing(t *testing.T) {
	fakeInstallation(t, java17)
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "mvn"), []byte("#!/bin/sh\necho no network; exit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	if _, err := Install(t.Context(), "5.0.1", io.Discard); err == nil || !strings.Contains(err.Error(), "no network") {
		t.Errorf("got %v, want what mvn said", err)
	}
	if left, _ := filepath.Glob(filepath.Join(os.Getenv("MANIFEST_CACHE"), "cassandra-5.0.1*")); len(left) != 1 || !strings.HasSuffix(left[0], ".lock") {
		t.Errorf("left behind: %v", left)
	}
}
