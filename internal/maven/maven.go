// Package maven brings Java programs for tests and benchmarks: the jars that a pom.xml names, and those that they need.
package maven

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// CopyJars has Maven copy the jars that a program of pom needs at run time into a folder. properties, as NAME=VALUE, fill in what pom leaves
// open. After an error some jars may be there.
func CopyJars(ctx context.Context, pom []byte, dir string, properties ...string) error {
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		return fmt.Errorf("find Maven, which brings jars once: %w", err)
	}
	home, err := os.MkdirTemp("", "maven")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	file := filepath.Join(home, "pom.xml")
	if err := os.WriteFile(file, pom, 0o644); err != nil {
		return err
	}
	args := []string{"--batch-mode", "--quiet", "--file", file, "dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory=" + dir}
	for _, p := range properties {
		args = append(args, "-D"+p)
	}
	if out, err := exec.CommandContext(ctx, mvn, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("run mvn: %w\n%s", err, out[max(0, len(out)-4000):])
	}
	return nil
}
