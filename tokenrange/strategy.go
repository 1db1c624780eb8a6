package tokenrange

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// strategyKind tells the strategies apart.
type strategyKind uint8

const (
	noStrategy strategyKind = iota
	simpleStrategy
	networkTopologyStrategy
	localStrategy
	everywhereStrategy
)

// Strategy is a keyspace's rule for which nodes hold a range. The zero Strategy knows of no
// replicas: a plan under it is complete and reads through any node.
type Strategy struct {
	kind   strategyKind
	factor ReplicationFactor            // SimpleStrategy's, and NetworkTopologyStrategy's of datacentres not named
	byDC   map[string]ReplicationFactor // NetworkTopologyStrategy's
}

// ReplicationFactor is a number of replicas, "3", of which some may be transient, "3/1": these
// hold a row only until it is repaired, so that they can't be relied on to read it.
type ReplicationFactor struct {
	All       int // replicas, transient ones included
	Transient int
}

// SimpleStrategy places replicas on the next nodes around the ring, whatever their datacentre.
func SimpleStrategy(factor ReplicationFactor) Strategy {
	return Strategy{kind: simpleStrategy, factor: factor}
}

// NetworkTopologyStrategy places a number of replicas in each datacentre, on different racks
// where it can. The map is copied. Datacentres that are not named, or with 0, hold nothing.
func NetworkTopologyStrategy(byDatacenter map[string]ReplicationFactor) Strategy {
	return Strategy{kind: networkTopologyStrategy, byDC: maps.Clone(byDatacenter)}
}

// LocalStrategy is that of the system's own keyspaces, of which each node has its own and shares
// nothing. One node is therefore the replica of every range, so that what is read is of one
// node: the first by id, of the local datacentre where it has any.
func LocalStrategy() Strategy { return Strategy{kind: localStrategy} }

// EverywhereStrategy places a replica on every node that owns tokens.
func EverywhereStrategy() Strategy { return Strategy{kind: everywhereStrategy} }

// ParseStrategy reads the replication column of system_schema.keyspaces, such as
// {"class": "org.apache.cassandra.locator.NetworkTopologyStrategy", "dc1": "3"}; the class may
// lack its package, and a replication_factor beside datacentres is that of those not named. It
// errs with [ErrUnsupportedStrategy] on another class, and with [ErrMalformed], naming all of
// them, on replication factors that are not of the form "3" or "3/1".
func ParseStrategy(replication map[string]string) (Strategy, error) {
	class := replication["class"]
	switch strings.TrimPrefix(class, "org.apache.cassandra.locator.") {
	case "SimpleStrategy":
		factor, err := parseReplicationFactor(replication["replication_factor"])
		if err != nil {
			return Strategy{}, fmt.Errorf("parse replication of SimpleStrategy: %w", err)
		}
		return SimpleStrategy(factor), nil
	case "NetworkTopologyStrategy":
		return parseNetworkTopology(replication)
	case "LocalStrategy":
		return LocalStrategy(), nil
	case "EverywhereStrategy":
		return EverywhereStrategy(), nil
	}
	return Strategy{}, fmt.Errorf("%w %q", ErrUnsupportedStrategy, class)
}

func parseNetworkTopology(replication map[string]string) (Strategy, error) {
	s := Strategy{kind: networkTopologyStrategy, byDC: make(map[string]ReplicationFactor)}
	var faults []error
	for _, key := range slices.Sorted(maps.Keys(replication)) {
		if key == "class" {
			continue
		}
		factor, err := parseReplicationFactor(replication[key])
		if err != nil {
			faults = append(faults, fmt.Errorf("datacentre %q: %w", key, err))
		}
		if key == "replication_factor" {
			s.factor = factor
			continue
		}
		s.byDC[key] = factor
	}
	if len(faults) > 0 {
		return Strategy{}, fmt.Errorf("parse replication of NetworkTopologyStrategy: %w", errors.Join(faults...))
	}
	return s, nil
}

func parseReplicationFactor(s string) (ReplicationFactor, error) {
	all, transient, hasTransient := strings.Cut(s, "/")
	var f ReplicationFactor
	var err error
	if f.All, err = strconv.Atoi(all); err == nil && hasTransient {
		f.Transient, err = strconv.Atoi(transient)
	}
	if err != nil || f.All < 0 || f.Transient < 0 || f.Transient > f.All {
		return ReplicationFactor{}, fmt.Errorf("replication factor %q: %w", s, ErrMalformed)
	}
	return f, nil
}

// in returns the replication factor of a datacentre under NetworkTopologyStrategy.
func (s Strategy) in(datacenter string) ReplicationFactor {
	if f, ok := s.byDC[datacenter]; ok {
		return f
	}
	return s.factor
}
