// Package sidecar makes files beside a dataset out of its rows: the ids as DataComp
// keeps them (index/uids.npy), and the images as COCO lists them (coco/SPLIT.json).
//
//	data/*.parquet ── read back ──┬─ ids ──── sorted ─────> index/uids.npy
//	                              └─ images ─ as they come > coco/train.json ...
//
// They are made of the finished data files, so that they hold what these hold,
// whichever process wrote which part. Memory is bounded: ids are sorted on disk,
// images are written as they are read.
//
// Formats: the .npy format 1.0 (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html)
// with the type of DataComp's subset files, and https://cocodataset.org/#format-data.
package sidecar
