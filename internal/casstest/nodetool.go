package casstest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const nodeToolClass = "org.apache.cassandra.tools.NodeTool"

// NodeTool runs nodetool against the node and returns what it printed.
func (c *Cluster) NodeTool(ctx context.Context, node int, args ...string) (string, error) {
	n, err := c.local(node)
	if err != nil {
		return "", err
	}
	return c.dist.Run(ctx, n.dir, nodeToolClass, append(c.nodeToolConnect(n), args...)...)
}

// nodeToolConnect are nodetool's first arguments.
func (c *Cluster) nodeToolConnect(n *node) []string {
	return []string{"-h", "127.0.0.1", "-p", fmt.Sprint(c.opts.jmxPort(n.index))}
}

// NodeToolScript writes a program that is nodetool of the node, for others that run it. The program passes over arguments that set
// properties of Java (-Dx=y), which belong before the class.
func (c *Cluster) NodeToolScript(node int, path string) error {
	n, err := c.local(node)
	if err != nil {
		return err
	}
	var command strings.Builder
	for _, word := range append(append([]string{c.dist.java}, c.dist.toolFlags(n.dir, nodeToolClass)...), c.nodeToolConnect(n)...) {
		command.WriteString("'" + strings.ReplaceAll(word, "'", `'\''`) + "' ")
	}
	text := fmt.Sprintf(`#!/bin/bash
arguments=()
for a in "$@"; do [[ $a == -D* ]] || arguments+=("$a"); done
exec %s "${arguments[@]}"
`, command.String())
	return os.WriteFile(path, []byte(text), 0o755)
}

// ConfigFile returns the path of the node's cassandra.yaml.
func (c *Cluster) ConfigFile(node int) (string, error) {
	n, err := c.local(node)
	if err != nil {
		return "", err
	}
	return filepath.Join(n.dir, "cassandra.yaml"), nil
}
