// An API server in memory, for one resource: requests come in through http.RoundTripper, steps
// of a scenario through apply. All it waits for are channels and timers, so that it lives in a
// synctest bubble.
package judge

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/labels"
)

// More requests than this without any time passing, and the next answer takes a second: there
// are loops of client-go's that never wait.
const patience = 60

type server struct {
	mu       sync.Mutex
	history  *history
	faults   []*fault
	page     int
	watches  map[*feed]bool
	news     chan struct{}
	closings int
	requests []string
	number   int
	instant  time.Time
	hurried  int
}

func newServer(version uint64, limit, page int) *server {
	return &server{
		history: newHistory(version, limit),
		page:    page,
		watches: map[*feed]bool{},
		news:    make(chan struct{}),
	}
}

// tell wakes every watch. The lock is held.
func (s *server) tell() {
	close(s.news)
	s.news = make(chan struct{})
}

// takeRequests is what was asked since the last time.
func (s *server) takeRequests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests := s.requests
	s.requests = nil
	return requests
}

// openWatches is how many watches nobody has closed.
func (s *server) openWatches() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.watches)
}

// begin writes a request down and says what it meets.
func (s *server) begin(u *url.URL) (faults []*fault, number int, isHurried bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	query := u.Query()
	s.requests = append(s.requests, requestLine(u))
	s.number++
	if now := time.Now(); !now.Equal(s.instant) {
		s.instant, s.hurried = now, 0
	}
	s.hurried++
	a := asked{
		watch:  query.Get("watch") == "true",
		page:   query.Get("continue") != "",
		stream: query.Get("sendInitialEvents") == "true",
	}
	return s.takeFaults(a), s.number, s.hurried > patience
}

// requestLine is a request as traces have it.
func requestLine(u *url.URL) string {
	var pairs []string
	for name, values := range u.Query() {
		for _, value := range values {
			if name == "timeoutSeconds" || name == "continue" {
				value = "*"
			}
			pairs = append(pairs, name+"="+value)
		}
	}
	sort.Strings(pairs)
	return strings.TrimSuffix(u.Path+"?"+strings.Join(pairs, "&"), "?")
}

// RoundTrip answers a request.
func (s *server) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx := request.Context()
	faults, number, isHurried := s.begin(request.URL)
	if isHurried {
		if err := pause(ctx, time.Second); err != nil {
			return nil, err
		}
	}
	for _, f := range faults {
		switch f.what {
		case "delay":
			if err := pause(ctx, f.delay); err != nil {
				return nil, err
			}
		case "refuse":
			refused := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
			return nil, refused
		case "reset":
			return nil, io.EOF
		case "status":
			return f.status.response(request), nil
		}
	}
	selected, refusal := selectionOf(request.URL)
	if refusal != nil {
		return refusal.response(request), nil
	}
	if request.URL.Query().Get("watch") == "true" {
		return s.watch(request, selected, faults, number), nil
	}
	return s.list(request, selected, faults, number), nil
}

func pause(ctx context.Context, time_ time.Duration) error {
	timer := time.NewTimer(time_)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func selectionOf(u *url.URL) (selection, *rejection) {
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	s := selection{labels: labels.Everything()}
	switch {
	case len(parts) == 3 && parts[2] == "configmaps":
	case len(parts) == 5 && parts[2] == "namespaces" && parts[4] == "configmaps":
		s.namespace = parts[3]
	default:
		return s, rejectionOf(404)
	}
	parsed, err := labels.Parse(u.Query().Get("labelSelector"))
	if err != nil {
		return s, rejectionOf(400)
	}
	s.labels = parsed
	return s, nil
}

func respond(request *http.Request, code int, content io.ReadCloser) *http.Response {
	return &http.Response{
		Status:        strconv.Itoa(code) + " " + http.StatusText(code),
		StatusCode:    code,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        http.Header{"Content-Type": {"application/json"}},
		Body:          content,
		ContentLength: -1,
		Request:       request,
	}
}

func body(content []byte) io.ReadCloser { return io.NopCloser(bytes.NewReader(content)) }

// silence is a body that never comes.
type silence struct{ ctx context.Context }

func (s silence) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

func (silence) Close() error { return nil }
