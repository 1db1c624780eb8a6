// Package primitive reads the values that all files of an SSTable are made of:
// fixed and variable-length integers, lengths with bytes behind them, deletion
// times.
//
// Everything is big-endian unless said otherwise. [Reader] serves the small
// files, which are read once; the loops over rows use [Uvint] on their own
// bytes. Nothing here allocates, except for errors.
package primitive
