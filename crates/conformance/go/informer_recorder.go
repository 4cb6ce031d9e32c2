// A transport that writes requests down, and marks objects with the list they came with.
package judge

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"sync"
)

// recorder is in front of real HTTP.
type recorder struct {
	transport *http.Transport
	mu        sync.Mutex
	requests  []string
	number    int
	watches   int
}

func newRecorder() *recorder {
	// No proxy: the server is on this machine. A connection is used once: the transport would
	// repeat a request by itself if one that was kept is gone.
	return &recorder{transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}}
}

func (r *recorder) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	requests := r.requests
	r.requests = nil
	return requests
}

func (r *recorder) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.number
}

func (r *recorder) openWatches() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.watches
}

// RoundTrip passes a request on.
func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	r.mu.Lock()
	r.requests = append(r.requests, requestLine(request.URL))
	r.number++
	number := strconv.Itoa(r.number)
	r.mu.Unlock()
	response, err := r.transport.RoundTrip(request)
	if err != nil || response.StatusCode != http.StatusOK {
		return response, err
	}
	query := request.URL.Query()
	marked := &marking{
		recorder: r, body: response.Body, lines: bufio.NewReader(response.Body), number: number,
		isInitial: query.Get("sendInitialEvents") == "true", isWatch: query.Get("watch") == "true",
	}
	if marked.isWatch {
		r.add(1)
	}
	response.Body = marked
	response.ContentLength = -1
	response.Header.Del("Content-Length")
	return response, nil
}

func (r *recorder) add(watches int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watches += watches
}

// marking is a body whose objects say which request told them.
type marking struct {
	recorder  *recorder
	body      io.ReadCloser
	lines     *bufio.Reader
	number    string
	isWatch   bool
	isInitial bool
	rest      []byte
	err       error
	over      sync.Once
}

func (m *marking) Read(p []byte) (int, error) {
	for len(m.rest) == 0 {
		if m.err != nil {
			m.end()
			return 0, m.err
		}
		// A list is one line, too.
		m.rest, m.err = m.lines.ReadBytes('\n')
		m.rest = m.mark(m.rest)
	}
	n := copy(p, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

// mark marks the objects of a line; what is not understood stays as it is.
func (m *marking) mark(text []byte) []byte {
	if m.isWatch && !m.isInitial {
		return text
	}
	var value map[string]any
	if json.Unmarshal(text, &value) != nil {
		return text
	}
	if m.isWatch {
		if value["type"] == "BOOKMARK" && bytes.Contains(text, []byte("initial-events-end")) {
			m.isInitial = false
			return text
		}
		if value["type"] == "ADDED" {
			m.annotate(value["object"])
		}
	} else if items, is := value["items"].([]any); is {
		for _, item := range items {
			m.annotate(item)
		}
	}
	return append(encode(value), '\n')
}

func (m *marking) annotate(object any) {
	value, _ := object.(map[string]any)
	metadata, is := value["metadata"].(map[string]any)
	if is {
		metadata["annotations"] = map[string]any{toldBy: m.number}
	}
}

func (m *marking) end() {
	m.over.Do(func() {
		if m.isWatch {
			m.recorder.add(-1)
		}
	})
}

func (m *marking) Close() error {
	m.end()
	return m.body.Close()
}
