package export

import "hash"

// sideHash hashes what is written on a goroutine of its own, while it is being
// written elsewhere. The goroutine lives from the second write to end: small files
// have none.
type sideHash struct {
	hash  hash.Hash // the goroutine's, while there is one
	begun bool
	full  chan []byte
	free  chan []byte
	ended chan struct{}
}

// sideBuffers is how many writes the hash may be behind.
const sideBuffers = 4

// write hashes a copy of p, but for the first one.
func (s *sideHash) write(p []byte) {
	if !s.begun {
		s.begun = true
		s.hash.Write(p)
		return
	}
	if s.full == nil {
		s.full, s.free, s.ended = make(chan []byte, sideBuffers), make(chan []byte, sideBuffers), make(chan struct{})
		for range sideBuffers {
			s.free <- nil
		}
		go s.run()
	}
	s.full <- append((<-s.free)[:0], p...)
}

func (s *sideHash) run() {
	defer close(s.ended)
	for p := range s.full {
		s.hash.Write(p)
		s.free <- p
	}
}

// end waits until all is hashed. It may be called again.
func (s *sideHash) end() {
	if s.full != nil {
		close(s.full)
		<-s.ended
		s.full, s.free = nil, nil
	}
}
