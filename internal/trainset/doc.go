// Package trainset makes training manifests: it chooses images by the rows of index tables, joins what other tables know of them, rejects,
// deduplicates, samples and splits them, and writes a dataset.
//
//	index rows ── Gather ──> sorted by the token of the image ── Select ──> candidates: one per image, with its tags
//	                                                                          │
//	image_metadata ────── Gather, candidates only ── in token order ──────── join ──> rejects: no metadata, status
//	image_review_status ─ Gather, candidates only ── in token order ───────┘  │
//	                                                                       accepted ── sampling ──> rejects: duplicates
//	                                                                          │
//	                                                     sorted by split and order ──> data/train-00000-of-00004.parquet ...
//
// Where the first table has all that is needed, its rows are sorted by the sample hash of the image, which is the order of the files:
// those that are accepted can then be decided about one by one, and are not sorted again.
//
// # Words
//
//   - A role is a table's part in this: the tag index, the device index, the metadata, the review status.
//   - The base is the table whose rows name the images: the tag index where tags choose, otherwise the device index.
//   - A candidate is an image that the index rows choose. A joined row is a candidate with the columns of all tables; where two tables have a
//     column of one name, that of the base counts, then that of the metadata.
//   - Gathering puts the rows of each split of a scan into a sorted run, as a part that is committed whole.
//
// # Invariants
//
//   - The data files are a function of the rows of the tables and of the [Spec]: not of splits, workers, sources, access paths, or memory.
//   - Every candidate is in the dataset, in the rejects with its reason, left out by the condition, or left out by the sampling; the counts
//     say how many of each.
//   - Memory is bounded by [Options.Memory], disk by the candidates.
//
// # What it does not do
//
// It reads no tables: its caller scans what [Plan.Reads] lists, and hands the parts to a [Gatherer].
package trainset
