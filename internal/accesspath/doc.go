// Package accesspath decides how the rows that conditions select are reached: by a scan of the whole table, or by its partitions.
//
// The partition key of an index table is a name and a day. Where a request gives both, the partitions that can hold its rows are
// listed here, and their tokens computed: each is a range of one token, and the plan is made of these ([ListDays]). Where it leaves
// them open, as a pattern or a day without end does, the partition keys can be read alone, and those that are wanted become the list
// ([KeyGatherer]). Else, or where most partitions are wanted, the table is scanned ([Choose], [Path.Narrow]).
//
// A list has all partitions that can hold wanted rows, and may have others: whoever reads it still looks at each row. So all paths give
// the same rows. docs/adr/0010 says why partitions are asked for as ranges.
package accesspath
