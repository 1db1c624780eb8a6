package export

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
)

// Names of the files of a dataset that are not data.
const (
	ManifestFile  = "manifest.json"
	ChecksumsFile = "SHA256SUMS"
	SuccessFile   = "_SUCCESS"
)

// FormatVersion is the version of manifest.json that this package writes. It
// changes when a reader of the old one would be misled.
const FormatVersion = 1

// Manifest is what manifest.json says about a dataset: where it came from, what
// it holds, and how complete it is. The caller fills in what it knows; Publish
// adds FormatVersion, and checks the rest against the files.
//
// Nothing in it may be secret.
type Manifest struct {
	FormatVersion int       `json:"format_version"`
	Kind          string    `json:"kind"` // "table" or "training"
	RunID         string    `json:"run_id"`
	ToolVersion   string    `json:"tool_version"`
	CreatedAt     time.Time `json:"created_at"`

	Source   Source   `json:"source"`
	Query    Query    `json:"query"`
	Window   Window   `json:"window"`
	Coverage Coverage `json:"coverage"`

	// Counts tells how many rows there were at each stage, in order.
	Counts []StageCount `json:"counts"`
	// Unfit counts, by column, values that were clamped or became null because
	// their type in the files can't hold them.
	Unfit map[string]int64 `json:"unfit,omitempty"`

	Format     Format   `json:"format"`
	Columns    []Column `json:"columns"`
	SchemaHash string   `json:"schema_sha256"`
	Rows       int64    `json:"rows"`
	Bytes      int64    `json:"bytes"`
	Files      []File   `json:"files"`

	// Reads tells how the rows of a table were reached; a training manifest has
	// its own.
	Reads []TableRead `json:"reads,omitempty"`

	// Training is of a training manifest alone.
	Training *Training `json:"training,omitempty"`
}

// Source tells where the rows came from.
type Source struct {
	Kind     string   `json:"kind"` // "cql" or "snapshot"
	Cluster  string   `json:"cluster,omitempty"`
	Keyspace string   `json:"keyspace"`
	Table    string   `json:"table"`
	Paths    []string `json:"paths,omitempty"` // of a snapshot
	// Replicas tells what of a snapshot's SSTables was read: "owned", the ranges that
	// their nodes replicate; "all"; "mixed", where some of the nodes are unknown.
	// ReplicasWhy says why it is not "owned".
	Replicas    string   `json:"replicas,omitempty"`
	ReplicasWhy []string `json:"replicas_why,omitempty"`
	Consistency string   `json:"consistency,omitempty"`
	// TableHash is a hash of the table's definition, to see that it changed.
	TableHash string `json:"table_sha256,omitempty"`
}

// Query tells what was asked for.
type Query struct {
	Text    string   `json:"text"` // the command or statement, without secrets
	Columns []string `json:"columns,omitempty"`
	Where   string   `json:"where,omitempty"` // of the filter, as understood
}

// Window is the time during which rows were read: rows written in it may or may
// not be there.
type Window struct {
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
}

// Coverage tells which part of the ring was read.
type Coverage struct {
	Partitioner string `json:"partitioner,omitempty"`
	Complete    bool   `json:"complete"` // every asked token was read
	Splits      int    `json:"splits"`
	Start       string `json:"token_start,omitempty"` // where only a part of the ring was asked for
	End         string `json:"token_end,omitempty"`
	// LeftOut are the faults of files that were left out because they are damaged,
	// so that what is in them, or all of it, is missing.
	LeftOut []string `json:"left_out,omitempty"`
}

// StageCount is the number of rows that came out of a stage.
type StageCount struct {
	Stage string `json:"stage"`
	Rows  int64  `json:"rows"`
}

// Column describes a column of the files.
type Column struct {
	Name     string `json:"name"`
	CQL      string `json:"cql,omitempty"`
	Type     string `json:"type"` // of Arrow
	Nullable bool   `json:"nullable"`
}

// Describe adds to m what a dataset and its result say: format, columns, counts
// and files.
func (d *Dataset) Describe(m *Manifest, res Result) {
	m.Format = d.opts.Format
	m.Columns = describeColumns(d.Schema())
	m.SchemaHash = schemaHash(m.Columns)
	m.Counts = append(m.Counts, StageCount{"read", res.Read})
	if d.opts.Filter != nil {
		m.Counts = append(m.Counts, StageCount{"selected", res.Rows})
	}
	m.Counts = append(m.Counts, StageCount{"written", res.Rows})
	m.Unfit = res.Unfit
	m.Files = res.Files
	m.Rows = res.Rows
	for _, f := range res.Files {
		m.Bytes += f.Bytes
	}
}

func describeColumns(schema *arrow.Schema) []Column {
	var columns []Column
	for _, f := range schema.Fields() {
		cql, _ := f.Metadata.GetValue("cql")
		columns = append(columns, Column{Name: f.Name, CQL: cql, Type: f.Type.String(), Nullable: f.Nullable})
	}
	return columns
}

// schemaHash hashes names, types and nullability of columns, in order.
func schemaHash(columns []Column) string {
	var b strings.Builder
	for _, c := range columns {
		fmt.Fprintf(&b, "%q %q %q %v\n", c.Name, c.CQL, c.Type, c.Nullable)
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:])
}
