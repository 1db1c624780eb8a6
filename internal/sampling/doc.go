// Package sampling decides which images of a selection go into a training set, and into which split.
//
//	rows ─ dedupe ─ fraction ─ max-per ─ ... ─ balance, limit ─ split ─> decisions, in the order of the rows' ids
//	         └ duplicate of                                       ▲
//	                               groups that share a hash ──────┤
//	                               an older manifest's splits ────┘
//
// # Words
//
//   - The sample hash of an image is a number from 0 to 2^63-1 made of its id and the salt. All sampling keeps the smallest sample hashes,
//     so a smaller sample lies inside of a larger one.
//   - A group is the images that have equal values in the columns of --group-by; its id is a hash of these. A split is made of whole groups.
//   - A unit is what a split is chosen for: a group, or, where images of the same content stay in, all groups that such images connect.
//   - A stratum is the images with equal values in the columns of --balance, or of one cap.
//   - Duplicates are images of the same content hash; the oldest is kept.
//
// docs/format/sampling.md has the exact hashes and arithmetic, with test vectors.
//
// # Invariants
//
//   - Decisions are a function of the rows as a set and of the options: not of their order, of memory, of time or of any state.
//   - No unit is in two splits. Without Dedupe no content hash is either, as units join the groups that share one.
//   - When rows are added, an image keeps its split, unless an older duplicate of it arrives in another group, or without Dedupe two units
//     become one. Options.Pins keep those too.
//   - Memory is bounded by Options.Memory; beyond it everything is on disk, sorted a fixed number of times.
//
// # What it does not do
//
// It knows nothing of columns and files: rows come with their hashes, groups and strata as bytes.
package sampling
