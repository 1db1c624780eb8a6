// Package imagegen makes image metadata that looks like a camera fleet's: the rows of the four tables which the tests, the benchmarks and
// the demo load into a server.
//
// # Words
//
//   - Set: all images that follow from Options. The same options give the same rows, on every machine and in every run.
//
//   - Image: number i of the set. Everything about it follows from the seed and i alone, so rows are made while they are iterated over and
//     nothing is kept.
//
//   - Content: what the picture shows, by number. Two images with the same content are duplicates: same content_hash, same size.
//
//   - Drift: rows that a table should have and has not, or that disagree, as happens where an application writes to four tables one by one.
//
//     image i ---------------------------------------------.
//     |               |                  |              |
//     image_metadata  device_daily_images  tag_image_index  image_review_status
//     rows per image       1                1              0 to 4 (tags)     0 or 1
//     missing by drift   0.5 %            0.7 %             0.7 %              -
//
// # What is in it
//
// Devices and tags are skewed: the first of n gets 1/sqrt(n) of the images. Names hold other scripts, emoji, right-to-left text, quotes,
// slashes, "../", commas, tabs and line breaks, names that differ only in case or in Unicode normalization, and an empty tag. Images lie on
// days that are UTC days; a few on the first and the last millisecond of one. About 5 % repeat the content of an earlier image. Columns
// that are not keys are NULL or empty in about one row of a hundred each, and numbers are sometimes zero. 30 % of the images have no review
// row. In 0.3 % of the index rows object_store says where the image was before it moved.
//
// # Invariants
//
//   - image_id is unique in a set, and a valid version 1 UUID.
//   - A row holds no memory of the set: the caller may keep and change it.
//   - Iterating has no side effects; a Set is safe for concurrent use.
//
// # What it does not do
//
// It knows no driver and writes nowhere; package casstest loads it. The pictures themselves do not exist.
package imagegen
