package s3test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
)

// Proxy passes requests on to a server. Before each it asks its test what is to
// become of it.
type Proxy struct {
	URL string

	mutex  sync.Mutex
	decide func(r *http.Request) Fate
}

// Fate of a request.
type Fate int

// What becomes of requests.
const (
	Pass      Fate = iota // goes to the server, and its answer comes back
	Cut                   // the connection breaks in the middle of the body
	LoseReply             // the server does it, but its answer is lost
	Busy                  // 503, as a server that wants less
	Refuse                // 400, which nobody repeats
)

// Set says what becomes of requests from now on.
func (p *Proxy) Set(decide func(r *http.Request) Fate) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.decide = decide
}

func (p *Proxy) fate(r *http.Request) Fate {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.decide == nil {
		return Pass
	}
	return p.decide(r)
}

// NewProxy stands before a server until the test ends, and is where
// AWS_ENDPOINT_URL points.
func NewProxy(t testing.TB, s *Server) *Proxy {
	t.Helper()
	target, err := url.Parse(s.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{}
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host // it is signed
	}, ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.URL = "http://" + listener.Addr().String()
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch p.fate(r) {
		case Cut:
			_, _ = io.CopyN(io.Discard, r.Body, r.ContentLength/2)
			panic(http.ErrAbortHandler)
		case LoseReply:
			forward.ServeHTTP(lost{}, r)
			panic(http.ErrAbortHandler)
		case Busy:
			w.WriteHeader(http.StatusServiceUnavailable)
		case Refuse:
			w.WriteHeader(http.StatusBadRequest)
		default:
			forward.ServeHTTP(w, r)
		}
	})}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	t.Cleanup(func() {
		_ = server.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	t.Setenv("AWS_ENDPOINT_URL", p.URL)
	return p
}

// lost is an answer that nobody gets.
type lost struct{}

func (lost) Header() http.Header         { return http.Header{} }
func (lost) Write(p []byte) (int, error) { return len(p), nil }
func (lost) WriteHeader(int)             {}
