// Package s3 reads SSTables from a bucket of an S3-compatible storage.
//
//	s3://BUCKET/PREFIX            a tree of folders: what is between slashes
//
// A [Bucket] lists a folder when it is asked for, and reads parts of objects by
// ranges: of Data.db what a window asks for, of the small files, such as indexes,
// which are read by a few bytes here and there, whole blocks that it keeps for a
// while.
//
//	object   |  block 0  |  block 1  |  block 2  |
//	               ^ 8 bytes wanted here: the block is read, and kept
//
// An object that is replaced while it is read is an error: each range is asked of
// the version that was opened.
//
// Credentials are those that S3 clients usually find: AWS_ACCESS_KEY_ID and
// AWS_SECRET_ACCESS_KEY, the shared file, the role of the machine. Nothing is ever
// written.
package s3
