package casstest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	storagePort = 7000 // between nodes; the same everywhere, as every node has an address of its own

	// portGrace is how long ports may stay in use after the lock on their address was free: servers whose process was killed end a
	// moment after it.
	portGrace = 10 * time.Second
)

// addressBlocks are the base octets tried in turn where the caller leaves the choice.
var addressBlocks = []int{1, 11, 21, 31, 41, 51, 61, 71, 81, 91, 101, 111, 121, 131, 141, 151, 161, 171, 181, 191, 201, 211, 221, 231, 241}

func addressLockPath(cache, address string) string {
	return filepath.Join(cache, "nodes", address+".lock")
}

func lockName(address string) string { return "the address " + address }

// lockNodes takes the address locks of nodes from to below to, waiting for other processes, and makes sure that their ports are free.
// Locks are always taken in the order of the addresses, so that two processes never wait for each other.
func lockNodes(ctx context.Context, cache string, opts Options, from, to int) (locks []*fileLock, err error) {
	defer func() {
		if err != nil {
			unlockAll(locks)
			locks = nil
		}
	}()
	for node := from; node < to; node++ {
		path := addressLockPath(cache, opts.address(node))
		lock, err := tryLock(path)
		if errors.Is(err, errLocked) && heldByThisProcess(path) {
			return locks, fmt.Errorf("%w: %s, by another cluster of this process", ErrAddressInUse, opts.address(node))
		}
		if errors.Is(err, errLocked) {
			lock, err = waitLock(ctx, path, lockName(opts.address(node)), opts.Log)
		}
		if err != nil {
			return locks, err
		}
		locks = append(locks, lock)
	}
	return locks, waitPortsFree(ctx, opts, from, to)
}

// lockFreeBlock takes the first block of addresses that nobody uses, and returns the options with its base octet.
func lockFreeBlock(ctx context.Context, cache string, opts Options) (Options, []*fileLock, error) {
	var reasons []error
	for _, octet := range addressBlocks {
		opts.BaseOctet = octet
		if octet+opts.Nodes-1 > 254 {
			break
		}
		locks, err := tryLockNodes(cache, opts)
		if err == nil {
			if err = portsFree(ctx, opts, 0, opts.Nodes); err == nil {
				return opts, locks, nil
			}
			unlockAll(locks)
		}
		reasons = append(reasons, err)
	}
	return opts, nil, fmt.Errorf("find free addresses for %d nodes: %w", opts.Nodes, errors.Join(reasons[:min(3, len(reasons))]...))
}

func tryLockNodes(cache string, opts Options) ([]*fileLock, error) {
	var locks []*fileLock
	for node := range opts.Nodes {
		lock, err := tryLock(addressLockPath(cache, opts.address(node)))
		if err != nil {
			unlockAll(locks)
			return nil, fmt.Errorf("%s: %w", opts.address(node), err)
		}
		locks = append(locks, lock)
	}
	return locks, nil
}

func unlockAll(locks []*fileLock) {
	for _, lock := range locks {
		lock.unlock()
	}
}

func heldByThisProcess(path string) bool {
	text, err := os.ReadFile(path)
	return err == nil && strings.HasPrefix(string(text), fmt.Sprintf("process %d ", os.Getpid()))
}

func waitPortsFree(ctx context.Context, opts Options, from, to int) error {
	ctx, cancel := context.WithTimeout(ctx, portGrace)
	defer cancel()
	ticker := time.NewTicker(lockPoll)
	defer ticker.Stop()
	for {
		err := portsFree(ctx, opts, from, to)
		if err == nil || !errors.Is(err, ErrAddressInUse) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-ticker.C:
		}
	}
}

// portsFree reports the first port of the nodes that another server listens on.
func portsFree(ctx context.Context, opts Options, from, to int) error {
	for node := from; node < to; node++ {
		for _, port := range []struct {
			use, host string
			number    int
		}{
			{"CQL", opts.address(node), opts.Port},
			{"storage", opts.address(node), storagePort},
			{"JMX", "127.0.0.1", opts.jmxPort(node)},
		} {
			var config net.ListenConfig
			listener, err := config.Listen(ctx, "tcp", net.JoinHostPort(port.host, strconv.Itoa(port.number)))
			if errors.Is(err, syscall.EADDRINUSE) {
				return fmt.Errorf("%w: another server listens on %s:%d (%s port of node %d)", ErrAddressInUse,
					port.host, port.number, port.use, node)
			}
			if err != nil {
				return fmt.Errorf("listen on the %s port of node %d: %w", port.use, node, err)
			}
			listener.Close()
		}
	}
	return nil
}
