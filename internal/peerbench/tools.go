package main

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"manifest/internal/casstest"
	"manifest/internal/maven"
	"manifest/internal/pyenv"
)

//go:embed spark-connector.xml
var connectorPOM []byte

//go:embed dsbulk.xml
var dsbulkPOM []byte

//go:embed spark_job.py
var sparkJob []byte

//go:embed cqlite_export.py
var cqliteExport []byte

// tools are the programs that the binary is measured beside.
type tools struct {
	java                      string
	python, spark, cqlite     string // interpreters that have DuckDB, pyspark, CQLite
	connector, dsbulk         string // folders of jars
	sparkScript, cqliteScript string // files
}

// bringTools brings what the cache does not hold yet. Scripts are written into dir.
func bringTools(ctx context.Context, dir string) (t tools, err error) {
	t = tools{java: "java", sparkScript: filepath.Join(dir, "spark_job.py"), cqliteScript: filepath.Join(dir, "cqlite_export.py")}
	if home := os.Getenv("JAVA_HOME"); home != "" {
		t.java = filepath.Join(home, "bin", "java")
	}
	errs := make([]error, 5)
	t.python, errs[0] = pyenv.Interpreter(ctx, os.Stderr)
	t.spark, errs[1] = pyenv.SparkInterpreter(ctx, os.Stderr)
	t.cqlite, errs[2] = pyenv.CQLiteInterpreter(ctx, os.Stderr)
	t.connector, errs[3] = jars(ctx, "spark-connector", connectorPOM)
	t.dsbulk, errs[4] = jars(ctx, "dsbulk", dsbulkPOM)
	return t, errors.Join(append(errs,
		os.MkdirAll(dir, 0o755),
		os.WriteFile(t.sparkScript, sparkJob, 0o644),
		os.WriteFile(t.cqliteScript, cqliteExport, 0o644),
	)...)
}

// jars brings the jars that a pom.xml names into a folder of the cache, once, and returns it.
func jars(ctx context.Context, name string, pom []byte) (string, error) {
	cache, err := casstest.CacheDir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(pom)
	dir := filepath.Join(cache, fmt.Sprintf("%s-%x", name, sum[:6]))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	fmt.Fprintf(os.Stderr, "bringing the jars of %s by Maven into %s, once\n", name, dir)
	partial := dir + ".partial"
	if err := os.RemoveAll(partial); err != nil {
		return "", err
	}
	if err := maven.CopyJars(ctx, pom, partial); err != nil {
		return "", fmt.Errorf("bring %s: %w", name, err)
	}
	return dir, os.Rename(partial, dir)
}

// jarList lists the jars of a folder, for Spark.
func jarList(dir string) string {
	found, _ := filepath.Glob(filepath.Join(dir, "*.jar")) // the pattern is well formed
	return strings.Join(found, ",")
}
