package metrics

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Handler answers a Prometheus that scrapes.
func (r *Run) Handler() http.Handler {
	return promhttp.HandlerFor(r.registry, promhttp.HandlerOpts{Registry: r.registry})
}

// Server shows the metrics of a run at an address until it is closed.
type Server struct {
	listener net.Listener
	http     *http.Server
	ended    chan error
}

// Serve listens at address (host:port; port 0 takes a free one) and answers
// GET /metrics from a goroutine of its own, until Close.
func (r *Run) Serve(ctx context.Context, address string) (*Server, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for metrics: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", r.Handler())
	s := &Server{listener: listener, http: &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}, ended: make(chan error, 1)}
	go func() { s.ended <- s.http.Serve(listener) }()
	return s, nil
}

// Address is where the server listens, with the port that it took.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Close ends the server, and waits a moment for answers under way.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if ended := <-s.ended; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return err
}
