package cassandra

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gocql/gocql"
)

type nodesKey struct{}

// WithNodes names the nodes, by host id, that a statement run with the
// returned context may go to, in order of preference.
func WithNodes(ctx context.Context, ids ...string) context.Context {
	return context.WithValue(ctx, nodesKey{}, ids)
}

// replicaPolicy steers each statement to the nodes that its context names. The
// driver has no such call of its own, but it shows the statement, and with it
// the context, to its host selection policy.
//
// A statement that names nodes goes to the first of them that is up, and fails
// rather than go elsewhere. Others take turns over the local datacentre.
type replicaPolicy struct {
	turn atomic.Uint32
	// anyNode takes no notice of the wanted nodes: behind a single endpoint
	// nobody knows which node answers, nor its id.
	anyNode bool

	mu      sync.RWMutex
	localDC string
	byID    map[string]*gocql.HostInfo
	ids     []string // sorted, so that turns do not depend on map order
}

func newReplicaPolicy(localDC string) *replicaPolicy {
	return &replicaPolicy{localDC: localDC, byID: map[string]*gocql.HostInfo{}}
}

var _ gocql.HostSelectionPolicy = (*replicaPolicy)(nil)

// Pick implements gocql.HostSelectionPolicy.
func (p *replicaPolicy) Pick(q gocql.ExecutableQuery) gocql.NextHost {
	var wanted []string
	if withContext, ok := q.(interface{ Context() context.Context }); ok && q != nil && !p.anyNode {
		wanted, _ = withContext.Context().Value(nodesKey{}).([]string)
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	if wanted == nil {
		wanted = p.takeTurns()
	}
	hosts := make([]*gocql.HostInfo, 0, len(wanted))
	for _, id := range wanted {
		if h := p.byID[id]; h != nil {
			hosts = append(hosts, h)
		}
	}
	return func() gocql.SelectedHost {
		if len(hosts) == 0 {
			return nil
		}
		h := hosts[0]
		hosts = hosts[1:]
		return (*pickedHost)(h)
	}
}

// takeTurns gives the nodes of the local datacentre, each call beginning with
// another; the caller holds the lock.
func (p *replicaPolicy) takeTurns() []string {
	local := make([]string, 0, len(p.ids))
	for _, id := range p.ids {
		if p.localDC == "" || p.byID[id].DataCenter() == p.localDC {
			local = append(local, id)
		}
	}
	if len(local) == 0 {
		return p.ids
	}
	first := int(p.turn.Add(1)) % len(local)
	return slices.Concat(local[first:], local[:first])
}

// pickedHost is a node as the driver wants it. What became of the statement is
// not of interest: package scan decides about retries.
type pickedHost gocql.HostInfo

func (h *pickedHost) Info() *gocql.HostInfo { return (*gocql.HostInfo)(h) }
func (h *pickedHost) Mark(error)            {}

// AddHost implements gocql.HostStateNotifier.
func (p *replicaPolicy) AddHost(h *gocql.HostInfo) {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := h.HostID()
	if _, known := p.byID[id]; !known {
		p.ids = append(p.ids, id)
		slices.Sort(p.ids)
	}
	p.byID[id] = h
}

// RemoveHost implements gocql.HostStateNotifier.
func (p *replicaPolicy) RemoveHost(h *gocql.HostInfo) {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := h.HostID()
	delete(p.byID, id)
	p.ids = slices.DeleteFunc(p.ids, func(known string) bool { return known == id })
}

// HostUp implements gocql.HostStateNotifier.
func (p *replicaPolicy) HostUp(h *gocql.HostInfo) { p.AddHost(h) }

// HostDown implements gocql.HostStateNotifier: the driver skips nodes that are
// down by itself, and the node may return.
func (p *replicaPolicy) HostDown(*gocql.HostInfo) {}

// IsLocal implements gocql.HostSelectionPolicy.
func (p *replicaPolicy) IsLocal(h *gocql.HostInfo) bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.localDC == "" || h.DataCenter() == p.localDC
}

func (p *replicaPolicy) setLocalDC(dc string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.localDC = dc
}

// KeyspaceChanged, SetPartitioner and Init implement gocql.HostSelectionPolicy;
// the plan knows what they would tell.
func (p *replicaPolicy) KeyspaceChanged(gocql.KeyspaceUpdateEvent) {}
func (p *replicaPolicy) SetPartitioner(string)                     {}
func (p *replicaPolicy) Init(*gocql.Session)                       {}
