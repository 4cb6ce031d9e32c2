// What can be seen of an informer after each step, in the order of the trace.
package judge

import (
	"context"
	"net/http"
	"sort"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/cache"
)

// observer writes the trace of one informer.
type observer struct {
	client *client
	trace  trace
	// What was asked since the last time.
	takeRequests func() []string
	// What was written last, so that only changes are.
	store, version           string
	isSynced, isStopped      bool
	hasRequests, hasFailures bool
}

func newObserver(s scenario, transport http.RoundTripper, host string) (*observer, error) {
	c, err := newClient(s, transport, host)
	return &observer{
		client: c, store: "none", version: "-",
		hasRequests: s.setting("requests", "yes") != "no",
		hasFailures: s.setting("failures", "no") == "yes",
	}, err
}

// observe writes down what happened in a step.
func (o *observer) observe(answers []string) {
	byName := map[string][]string{}
	var names []string
	for _, h := range o.client.all {
		if _, known := byName[h.name]; !known {
			names = append(names, h.name)
		}
		byName[h.name] = append(byName[h.name], h.take()...)
	}
	sort.Strings(names)
	for _, name := range names {
		o.trace.lines = append(o.trace.lines, byName[name]...)
	}
	for _, request := range o.takeRequests() {
		if o.hasRequests {
			o.trace.add("request %s", request)
		}
	}
	for _, failure := range o.client.failures.take() {
		if o.hasFailures {
			o.trace.add("%s", failure)
		}
	}
	o.trace.lines = append(o.trace.lines, answers...)
	o.observeState(names)
}

func (o *observer) observeState(names []string) {
	c := o.client
	if store := c.stored(); store != o.store {
		o.store = store
		o.trace.add("store %s", store)
	}
	if version := c.version(); version != o.version {
		o.version = version
		o.trace.add("version %s", version)
	}
	if !o.isSynced && c.informer.HasSynced() {
		o.isSynced = true
		o.trace.add("synced")
	}
	for _, name := range names {
		h, is := c.handlers[name]
		if is && !h.isSynced && h.handle.HasSynced() {
			h.isSynced = true
			o.trace.add("%s synced", name)
		}
	}
	if !o.isStopped && c.hasEnded() {
		o.isStopped = true
		o.trace.add("stopped")
	}
}

// stored is what the store holds.
func (c *client) stored() string { return written(c.informer.GetStore().List()) }

// version is the version the store is at.
func (c *client) version() string {
	if version := c.informer.GetStore().LastStoreSyncResourceVersion(); version != "" {
		return version
	}
	return "-"
}

func (c *client) hasEnded() bool {
	if c.done == nil {
		return false
	}
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// failures is what the informer's watch error handler was told.
type failures struct {
	mu    sync.Mutex
	lines []string
}

func (f *failures) write(_ context.Context, _ *cache.Reflector, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lines = append(f.lines, "failure "+nameOf(err))
}

func (f *failures) take() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	lines := f.lines
	f.lines = nil
	return lines
}

// nameOf is the reason of a status, or `other`.
func nameOf(err error) string {
	if reason := string(apierrors.ReasonForError(err)); reason != "" {
		return reason
	}
	return "other"
}
