package casstest

import "errors"

var (
	// ErrNotOwned reports an operation on a server process, its files or its JMX port, on a cluster that this process did not start
	// (process operations) or that does not run on this machine under this package (files and nodetool).
	ErrNotOwned = errors.New("cluster is not run by this process")

	// ErrAddressInUse reports that the address or the port of a node belongs to another cluster or another server.
	ErrAddressInUse = errors.New("address in use")

	// ErrNotRunning reports that no cluster that may be stopped runs at an address.
	ErrNotRunning = errors.New("no such cluster runs")

	// ErrNodeExited reports that a server ended while it was waited for.
	ErrNodeExited = errors.New("server exited")
)
