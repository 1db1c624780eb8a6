package tokenrange

import "errors"

// The errors of this package that a caller may want to tell apart with errors.Is.
// Each is returned wrapped in a message that names the token, range, node or class.
// The one error with data is [TilingError].
var (
	// ErrUnsupportedPartitioner means that the tokens of the named partitioner can't be
	// computed here. Its tables can still be read through ranges given by the user, see
	// [ExplicitPartitioner].
	ErrUnsupportedPartitioner = errors.New("unsupported partitioner")

	// ErrUnsupportedStrategy means that the replicas of the named replication strategy are
	// not known here. The zero [Strategy] plans such a keyspace, without replicas.
	ErrUnsupportedStrategy = errors.New("unsupported replication strategy")

	// ErrMalformed means that a text is not a token, a range, a replication factor or a plan.
	ErrMalformed = errors.New("malformed")

	// ErrOutOfRing means that a token or range lies outside the partitioner's ring.
	ErrOutOfRing = errors.New("outside the ring")

	// ErrEmptyRange means that the part of the ring that was asked for holds no token.
	ErrEmptyRange = errors.New("range holds no token")

	// ErrDuplicateToken means that two nodes claim one token, so the ring is not one.
	ErrDuplicateToken = errors.New("token owned twice")

	// ErrDuplicateNode means that a node has no id or shares it with another.
	ErrDuplicateNode = errors.New("node without an id of its own")

	// ErrUnknownDatacenter means that no node is in the local datacentre that was named.
	ErrUnknownDatacenter = errors.New("unknown datacentre")

	// ErrPlanVersion means that the JSON form of a plan is of a version unknown here.
	ErrPlanVersion = errors.New("unknown plan version")
)
