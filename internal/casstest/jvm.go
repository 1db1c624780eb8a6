package casstest

import (
	"fmt"
	"path/filepath"
	"strings"
)

// quickJava are the flags of a Java process that should be up soon rather than run fast for hours. The quick compiler alone (C1) halves
// the time until a node answers; a serial collector spares the threads that a small heap does not need.
var quickJava = []string{"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-XX:-UsePerfData"}

// javaModuleFlags open the parts of Java's own modules that the server reaches into; without them it refuses to start on Java 11 and 17.
func javaModuleFlags() []string {
	exports := []string{
		"java.base/jdk.internal.misc", "java.base/jdk.internal.ref", "java.base/sun.nio.ch",
		"java.management.rmi/com.sun.jmx.remote.internal.rmi",
		"java.rmi/sun.rmi.registry", "java.rmi/sun.rmi.server", "java.rmi/sun.rmi.transport.tcp",
		"java.sql/java.sql", "jdk.attach/sun.tools.attach", "jdk.unsupported/sun.misc",
	}
	opens := []string{
		"java.base/java.io", "java.base/java.lang", "java.base/java.lang.module", "java.base/java.lang.reflect", "java.base/java.math",
		"java.base/java.net", "java.base/java.nio", "java.base/java.util", "java.base/java.util.concurrent",
		"java.base/java.util.concurrent.atomic", "java.base/jdk.internal.loader", "java.base/jdk.internal.math",
		"java.base/jdk.internal.module", "java.base/jdk.internal.ref", "java.base/jdk.internal.reflect",
		"java.base/jdk.internal.util.jar", "java.base/sun.nio.ch", "jdk.management/com.sun.management.internal",
	}
	var flags []string
	for _, pkg := range exports {
		flags = append(flags, "--add-exports="+pkg+"=ALL-UNNAMED")
	}
	for _, pkg := range opens {
		flags = append(flags, "--add-opens="+pkg+"=ALL-UNNAMED")
	}
	return flags
}

// serverFlags returns the arguments of java that run a node from its folder.
func serverFlags(dist *Distribution, opts Options, node int, dir string) ([]string, error) {
	heap := fmt.Sprintf("%dm", opts.HeapMB)
	flags := append(javaModuleFlags(), "-Xms"+heap, "-Xmx"+heap, "-XX:+ExitOnOutOfMemoryError")
	if opts.Optimizing {
		flags = append(flags, "-XX:+UseG1GC", "-XX:-UsePerfData")
	} else {
		flags = append(flags, quickJava...)
	}
	if strings.HasPrefix(opts.Version, "4.") {
		// 4.1 measures its objects through this agent; 5.0 does without.
		agents, err := filepath.Glob(filepath.Join(dist.Dir, "jamm-*.jar"))
		if err != nil || len(agents) != 1 {
			return nil, fmt.Errorf("find the jamm agent in %s: found %d", dist.Dir, len(agents))
		}
		flags = append(flags, "-javaagent:"+agents[0])
	}
	properties := []string{
		"cassandra.config=file://" + filepath.Join(dir, "cassandra.yaml"),
		"cassandra-rackdc.properties=file://" + filepath.Join(dir, "rackdc.properties"),
		"logback.configurationFile=file://" + filepath.Join(dir, "logback.xml"),
		"cassandra.storagedir=" + filepath.Join(dir, "data"),
		"cassandra.logdir=" + dir,
		fmt.Sprintf("cassandra.jmx.local.port=%d", opts.jmxPort(node)),
		"cassandra-foreground=yes",
		"jdk.attach.allowAttachSelf=true",
		"java.net.preferIPv4Stack=true",
		"java.io.tmpdir=" + filepath.Join(dir, "tmp"), // native libraries unpack themselves here
		"jna.tmpdir=" + filepath.Join(dir, "tmp"),
		"user.home=" + dir,
		// Waits that protect a production cluster from hasty decisions only cost time on one machine.
		"cassandra.skip_wait_for_gossip_to_settle=0",
		"cassandra.superuser_setup_delay_ms=0",
		"cassandra.shutdown_announce_in_ms=0",
		"cassandra.ring_delay_ms=4000",
		"cassandra.consistent.rangemovement=false",
		"cassandra.skip_sync=true", // nothing here has to survive a power cut
	}
	for _, property := range properties {
		flags = append(flags, "-D"+property)
	}
	return append(flags, "-cp", filepath.Join(dist.Dir, "*"), "org.apache.cassandra.service.CassandraDaemon"), nil
}
