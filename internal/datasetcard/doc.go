// Package datasetcard describes a dataset to the programs and the people that
// find it: a card (README.md, with the head that Hugging Face datasets reads) and
// Croissant metadata (croissant.json, version 1.1).
//
//	manifest.json ──┬─ Card ─────── README.md        which files are which split, how many rows
//	schema ─────────┴─ Croissant ── croissant.json   the same, with checksums, columns and provenance
//
// Both are made of what the manifest says, so that nothing in them can differ
// from it. A split is what the name of a file says: data/train-00000-of-00002.parquet
// is of the split train; those of a dataset without splits are named part-…, and
// are of train too, since readers want one.
//
// Formats: https://huggingface.co/docs/hub/datasets-manual-configuration and
// https://docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html.
//
// It reads no data files and writes none.
package datasetcard
