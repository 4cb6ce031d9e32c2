// The levels processor and informer: a shared informer, an API server in memory, virtual time.
package judge

import (
	"context"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"
)

func init() {
	levels["processor"] = runInformer
	levels["informer"] = runInformer
}

// runInformer runs a scenario in a bubble of its own, so that time is virtual.
func runInformer(t *testing.T, s scenario) (lines []string, err error) {
	synctest.Test(t, func(*testing.T) {
		r, failed := newRun(s)
		if failed != nil {
			err = failed
			return
		}
		defer r.client.shutDown()
		err = r.play()
		lines = r.trace.lines
	})
	return lines, err
}

// run is one scenario at work.
type run struct {
	scenario scenario
	server   *server
	client   *client
	of       selection
	trace    trace
	// What was written last, so that only changes are.
	store, version           string
	isSynced, isStopped      bool
	hasRequests, hasFailures bool
}

func newRun(s scenario) (*run, error) {
	version, err := strconv.ParseUint(s.setting("version", "1"), 10, 64)
	if err != nil {
		return nil, err
	}
	limit, err := strconv.Atoi(s.setting("history", "10000"))
	if err != nil {
		return nil, err
	}
	page, err := strconv.Atoi(s.setting("page", "0"))
	if err != nil {
		return nil, err
	}
	selector, err := labels.Parse(s.setting("labels", ""))
	if err != nil {
		return nil, err
	}
	r := &run{
		scenario: s, server: newServer(version, limit, page), store: "none", version: "-",
		of:          selection{labels: selector},
		hasRequests: s.setting("requests", "yes") != "no",
		hasFailures: s.setting("failures", "no") == "yes",
	}
	if namespace := s.setting("namespace", "all"); namespace != "all" {
		r.of.namespace = namespace
	}
	r.client, err = newClient(s, r.server, "http://server")
	return r, err
}

// play does all steps, each until nothing more happens without time passing.
func (r *run) play() error {
	for steps := r.scenario.steps; len(steps) > 0; {
		n := 1
		if steps[0].verb == "burst" {
			n = burstLength(steps)
		}
		for _, st := range steps[:n] {
			r.trace.step(st)
		}
		answers, err := r.do(steps[:n])
		if err != nil {
			return err
		}
		synctest.Wait()
		r.observe(answers)
		steps = steps[n:]
	}
	return nil
}

// burstLength is how many steps are one: until `end`, or what is not the server's.
func burstLength(steps []step) int {
	for i, st := range steps[1:] {
		if st.verb == "end" {
			return i + 2
		}
		if !serverVerbs[st.verb] {
			return i + 1
		}
	}
	return len(steps)
}

func (r *run) do(steps []step) (answers []string, err error) {
	st := steps[0]
	if serverVerbs[st.verb] {
		return nil, r.server.apply(steps)
	}
	switch st.verb {
	case "burst":
		return nil, r.server.apply(steps[1:])
	case "end":
		return nil, nil
	case "advance":
		d, err := duration(strings.Join(st.args, " "))
		if err != nil {
			return nil, err
		}
		time.Sleep(d)
		return nil, nil
	case "recover":
		return r.recover(), nil
	}
	answers, known, err := r.client.apply(st)
	if err == nil && !known {
		err = fmt.Errorf("no step %q", st)
	}
	return answers, err
}

// recover lets time pass until the client has all there is, and watches.
func (r *run) recover() []string {
	if !r.client.isRunning() {
		return nil
	}
	for waited := time.Duration(0); waited <= recoverMost; waited += recoverStep {
		synctest.Wait()
		if r.client.hasAll(r.server, r.of) {
			return nil
		}
		time.Sleep(recoverStep)
	}
	return []string{"error not-recovered"}
}

// observe writes down what happened in a step.
func (r *run) observe(answers []string) {
	byName := map[string][]string{}
	var names []string
	for _, h := range r.client.all {
		if _, known := byName[h.name]; !known {
			names = append(names, h.name)
		}
		byName[h.name] = append(byName[h.name], h.take()...)
	}
	sort.Strings(names)
	for _, name := range names {
		r.trace.lines = append(r.trace.lines, byName[name]...)
	}
	for _, request := range r.server.takeRequests() {
		if r.hasRequests {
			r.trace.add("request %s", request)
		}
	}
	for _, failure := range r.client.failures.take() {
		if r.hasFailures {
			r.trace.add("%s", failure)
		}
	}
	r.trace.lines = append(r.trace.lines, answers...)
	r.observeState(names)
}

func (r *run) observeState(names []string) {
	c := r.client
	if store := written(c.informer.GetStore().List()); store != r.store {
		r.store = store
		r.trace.add("store %s", store)
	}
	version := c.informer.GetStore().LastStoreSyncResourceVersion()
	if version == "" {
		version = "-"
	}
	if version != r.version {
		r.version = version
		r.trace.add("version %s", version)
	}
	if !r.isSynced && c.informer.HasSynced() {
		r.isSynced = true
		r.trace.add("synced")
	}
	for _, name := range names {
		h, is := c.handlers[name]
		if is && !h.isSynced && h.handle.HasSynced() {
			h.isSynced = true
			r.trace.add("%s synced", name)
		}
	}
	if !r.isStopped && c.hasEnded() {
		r.isStopped = true
		r.trace.add("stopped")
	}
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
