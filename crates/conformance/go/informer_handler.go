// The handlers: what each was told, in the order of the trace.
package judge

import (
	"fmt"
	"sort"
	"strings"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// told is one callback.
type told struct {
	line string
	// What it was about.
	key string
	// What it was told together with: a relist, a replay, a resync, or nothing.
	run      string
	panicked string
}

// handler writes down what it is told.
type handler struct {
	name     string
	panics   string
	gate     chan struct{}
	isOpen   bool
	handle   cache.ResourceEventHandlerRegistration
	isSynced bool

	mu   sync.Mutex
	told []told
}

func newHandler(s step) *handler {
	h := &handler{name: s.args[0], gate: make(chan struct{})}
	h.panics, _ = s.option("panic")
	if !s.has("blocked") {
		h.unblock()
	}
	return h
}

func (h *handler) unblock() {
	if !h.isOpen {
		h.isOpen = true
		close(h.gate)
	}
}

func (h *handler) OnAdd(o any, isInitial bool) {
	text := h.name + " add " + display(o)
	run := runOf(o)
	if isInitial {
		text += " initial"
		run = "initial"
	}
	h.tell(text, o, run)
}

func (h *handler) OnUpdate(old, o any) {
	run := runOf(o)
	if old == o {
		run = "resync"
	}
	h.tell(fmt.Sprintf("%s update %s -> %s", h.name, display(old), display(o)), o, run)
}

func (h *handler) OnDelete(o any) {
	if gone, is := o.(cache.DeletedFinalStateUnknown); is {
		h.tell(h.name+" gone "+display(gone.Obj), gone.Obj, "gone")
		return
	}
	h.tell(h.name+" delete "+display(o), o, "")
}

func (h *handler) tell(text string, o any, run string) {
	t := told{line: text, key: keyOf(o), run: run}
	doesPanic := h.panics != "" && h.panics == shortKey(o)
	if doesPanic {
		t.panicked = h.name + " panic " + display(o)
	}
	h.mu.Lock()
	h.told = append(h.told, t)
	h.mu.Unlock()
	<-h.gate
	if doesPanic {
		panic(t.panicked)
	}
}

// take is what it was told since the last time, runs sorted.
func (h *handler) take() []string {
	h.mu.Lock()
	all := h.told
	h.told = nil
	h.mu.Unlock()
	var lines []string
	for len(all) > 0 {
		n := runLength(all)
		run := all[:n]
		all = all[n:]
		sort.SliceStable(run, func(i, j int) bool { return run[i].key < run[j].key })
		for _, t := range run {
			lines = append(lines, t.line)
			if t.panicked != "" {
				lines = append(lines, t.panicked)
			}
		}
	}
	return lines
}

// count is how much it was told and nobody has heard of yet.
func (h *handler) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.told)
}

// runLength is how many callbacks from the first on have no order among them.
func runLength(all []told) int {
	if all[0].run == "" {
		return 1
	}
	met := map[string]bool{}
	for i, t := range all {
		comesAgain := met[t.key] && t.run == "resync"
		if t.run != all[0].run || comesAgain {
			return i
		}
		met[t.key] = true
	}
	return len(all)
}

// runOf names the list, or the initial events, an object came with.
func runOf(o any) string {
	if m, is := o.(*v1.ConfigMap); is {
		return m.Annotations[toldBy]
	}
	return ""
}

// keyOf is what objects are ordered by.
func keyOf(o any) string {
	if m, is := o.(*v1.ConfigMap); is {
		return m.Namespace + "/" + m.Name
	}
	return ""
}

// shortKey is the key as scenarios have it.
func shortKey(o any) string {
	m, is := o.(*v1.ConfigMap)
	if !is {
		return ""
	}
	if m.Namespace == "default" {
		return m.Name
	}
	return m.Namespace + "/" + m.Name
}

// display writes an object as scenarios have it.
func display(o any) string {
	m, is := o.(*v1.ConfigMap)
	if !is {
		return "-"
	}
	text, version := shortKey(o)+lifeMark(m), m.ResourceVersion
	if version == "" {
		version = "-"
	}
	return text + "@" + version
}

// lifeMark is what stands behind a key from its second life on; the uid in braces where only the
// server's side knows which life it is.
func lifeMark(m *v1.ConfigMap) string {
	uid := string(m.UID)
	life := uid[strings.LastIndex(uid, "-")+1:]
	// No server but ours has keys in its uids.
	isOurs := strings.Contains(uid, "/")
	switch {
	case isOurs && life == "1":
		return ""
	case isOurs:
		return "." + life
	default:
		return "{" + uid + "}"
	}
}
