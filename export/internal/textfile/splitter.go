package textfile

// Splitter finds the ends of rows in the rows of a text file, given piece by
// piece. In CSV a line end within quotes does not end a row; as quotes in a
// cell are doubled, that is where an odd number of quotes came before.
type Splitter struct {
	Format Format
	quoted bool
}

// Next goes through data up to the first end of a row at or after data[:min],
// or to the end of data, and gives how far it went, how many rows ended in that,
// and whether it stopped for such an end. It goes on from there at the next call.
func (s *Splitter) Next(data []byte, min int64) (n int, rows int64, end bool) {
	for i, c := range data {
		switch {
		case c == '"' && s.Format == CSV:
			s.quoted = !s.quoted
		case c == '\n' && !s.quoted:
			rows++
			if int64(i)+1 >= min {
				return i + 1, rows, true
			}
		}
	}
	return len(data), rows, false
}
