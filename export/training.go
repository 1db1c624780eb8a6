package export

// Training is what manifest.json says of a training manifest beside what it
// says of all datasets: how the images were chosen, and the proof that no split
// leaks into another.
type Training struct {
	// Tags is the expression over tags, as understood.
	Tags string `json:"tags,omitempty"`
	// Days are the first and the last day asked for.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`

	Devices []string `json:"devices,omitempty"`
	Regions []string `json:"regions,omitempty"`

	// Statuses that are accepted; "any" alone means that nobody looked.
	Statuses []string `json:"statuses"`
	Dedupe   string   `json:"dedupe"` // "content-hash" or "none"
	Fraction string   `json:"fraction,omitempty"`
	Limit    int64    `json:"limit,omitempty"`
	Balance  []string `json:"balance,omitempty"`
	// MaxPer are the caps, as column=number.
	MaxPer  []string `json:"max_per,omitempty"`
	GroupBy []string `json:"group_by,omitempty"`
	Salt    string   `json:"salt"`
	Order   string   `json:"order"`
	URI     string   `json:"uri,omitempty"`
	// PinFrom is the run id of the manifest whose splits were kept.
	PinFrom string `json:"pin_from,omitempty"`

	Splits []SplitFiles `json:"splits"`
	// Rejected are the images in rejects/, by reason; they are no rows of the
	// dataset.
	Rejected []StageCount `json:"rejected"`
	Rejects  []File       `json:"rejects,omitempty"`

	Reads []TableRead   `json:"reads"`
	Proof TrainingProof `json:"proof"`
}

// SplitFiles is what a split holds.
type SplitFiles struct {
	Name  string `json:"name"`
	Share string `json:"share,omitempty"`
	Rows  int64  `json:"rows"`
	Bytes int64  `json:"bytes"`
	Files int    `json:"files"`
}

// TableRead tells how the rows of a table were reached.
type TableRead struct {
	Role  string `json:"role"`
	Table string `json:"table"`
	// Path is "partition-list", "distinct-then-read" or "full-scan", and Why the reason.
	Path string `json:"access_path"`
	Why  string `json:"why"`
	// Partitions that were listed.
	Partitions int    `json:"partitions,omitempty"`
	Rows       int64  `json:"rows_read"`
	Splits     int    `json:"splits"`
	Ledger     string `json:"ledger"` // file of the dataset
}

// TrainingProof is what was counted in the final rows.
type TrainingProof struct {
	Rows                int64 `json:"rows"`
	RepeatedImages      int64 `json:"repeated_images"`
	Groups              int64 `json:"groups"`
	GroupsAcrossSplits  int64 `json:"groups_across_splits"`
	ContentHashes       int64 `json:"content_hashes"`
	HashesAcrossSplits  int64 `json:"content_hashes_across_splits"`
	ContentHashesShared int64 `json:"content_hashes_shared"`
	// HashesKnown tells that content hashes were read: without, none can be counted.
	HashesKnown bool `json:"content_hashes_known"`
}

// DescribeTraining adds to m what the files of a training manifest are, and how
// many images there were at each stage. d is the dataset of one split: all have
// the same columns.
func (d *Dataset) DescribeTraining(m *Manifest, files []File, counts []StageCount) {
	m.Format = d.opts.Format
	m.Columns = describeColumns(d.Schema())
	m.SchemaHash = schemaHash(m.Columns)
	m.Counts, m.Files = counts, files
	for _, f := range files {
		m.Rows += f.Rows
		m.Bytes += f.Bytes
	}
}
