// Package objectstore puts directories below a prefix of an object store, so
// that readers see them whole, or not at all.
//
// # Words
//
//   - A store holds objects by key, such as a bucket of S3. It has no
//     directories and can't rename.
//   - A tree is the objects whose keys begin with a prefix; a name is what comes
//     after it.
//   - An upload is an object in the making, in parts. The store has its bytes,
//     but no reader sees it until it is completed, which is one small request.
//   - The journal (.commit.json) says what is going to be completed, removed and
//     written, with the ids of the uploads.
//
// # How a directory becomes a tree
//
//	stage    every part of every file is uploaded and compared   invisible
//	journal  is written                                          the decision
//	apply    marks of what was there are removed                 no _SUCCESS
//	         uploads are completed                               data appears
//	         what is replaced is removed
//	         the last files are written, one after the other     manifest.json, _SUCCESS
//	         the journal is removed
//
// # Invariants
//
//   - Until the journal is written nothing has changed for readers, however many
//     bytes have been sent. What was sent stays as uploads, which another attempt
//     takes up: parts that the store has with the right sums are not sent again.
//   - A journal is carried out to the end: by the process that wrote it or, if
//     that ended, by the next one that has to do with the tree (Recover). Where
//     that can't be, because uploads are gone, what it made is removed.
//   - Each part is sent with its SHA-256, which the store compares with what
//     came; and what it says that it has is compared with what was sent.
//
// # What it does not do
//
// It knows no protocol: package s3 does. It locks nothing: one process at a time
// may publish to a tree.
package objectstore
