// Package s3 is an object store that speaks the protocol of Amazon S3.
//
//	objectstore.Store ── Bucket ── s3client ── HTTPS ── the server
//
// # Invariants
//
//   - The SHA-256 of every body stands in the signed request, so that a server
//     refuses one that has changed on the way. Parts have it as a checksum of the
//     object too, which servers that know checksums keep.
//   - Requests are repeated after faults of the network and of the server, with
//     growing pauses; not after a refusal.
package s3
