// Package throttle keeps a scan from harming the cluster it reads: it is asked
// before every page request, and told afterwards what the page brought.
//
// # Words
//
//   - A request is one page asked of one node, the coordinator. It is in flight
//     from Acquire until its release.
//   - A rate limits the rows or the bytes per second of the whole run.
//   - The limit of a node is how many requests may be in flight to it. It is
//     at most a fixed number, and below that it adapts.
//   - The quiet latency of a node is what a row took when little was asked of it.
//
// # The way of a request
//
//	Acquire ──> node's queue ──> rows/s, bytes/s ──> paused? ──> request ──> release
//	            first come,      claims what a       waits for    |            |
//	            first served     page usually        Resume       |            |
//	                ^            brings                           v            |
//	                |                 ^                        the node        |
//	                |                 └── settles the difference ──────────────┤
//	                └── limit of the node <── latency, overload ───────────────┘
//
// # How the limit of a node adapts
//
// It begins at one request in flight, and what a row takes then is the quiet
// latency. Window by window the median of what a row took lately is compared
// with it:
//
//   - Up to [Options].Tolerance times the quiet latency, the limit grows if it
//     was used up: as the start below says at first, and after the first
//     backing off only by one in [recovery].
//   - Above that it shrinks in proportion, at most to half.
//   - A node that refuses work, or does not answer in time, has its limit
//     halved at once, but once a second only: the requests that were already
//     under way say nothing new.
//
// A window takes about half a second. In the start, which ends when the limit
// is too high or has been found bearable at its highest, the limit doubles as in
// TCP's slow start, and a window takes a tenth of a second, or two rounds of
// pages: 8 requests in flight are reached within half a second, where a page
// takes 20 ms. From there it grows by one per window, up to what was too high.
// Three things keep the start from harming a node:
//
//   - A limit doubles only after a window in which it was used up, whose pages
//     were all begun at that limit. What is in flight is therefore never more
//     than twice what was seen to be borne, and for one such window only: then
//     the limit goes back to that.
//   - What is used up for an instant only is raised by one in half a second.
//   - The quiet latency is that of eight pages of one size at one request in
//     flight: not of the very first, nor of small ones with which a source begins.
//
// All limits together can grow to no more than the callers there are.
//
// The quiet latency follows a faster node within a few windows. It follows a
// slower one only while the limit is 1, and slowly ([forget]): otherwise the
// scan would get used to the very load it causes. At 1 there is no lower load
// to compare with, and other rows may just take longer than those at first.
//
// # Invariants
//
//   - A node's limit is never below 1 nor above [Options].MaxInFlightPerNode,
//     and what is in flight is never above the limit at the moment of its start.
//   - When a request starts, all that was settled and claimed before it has
//     fitted at the rate into the time since the run began, and one second. A
//     page that brings more than was claimed delays those behind it.
//   - A caller whose context ends leaves its queue at once and leaves nothing
//     claimed.
//   - Whoever asks first for a node is served first.
//
// # What it does not do
//
// It starts no goroutine, makes no request, and decides nothing about retries.
package throttle
