// The history of an API server: what was written, under which version, and what there was at
// any version that is not forgotten yet.
package judge

import (
	"fmt"
	"sort"
	"strconv"

	"k8s.io/apimachinery/pkg/labels"
)

// object is one state of a ConfigMap; it never changes.
type object struct {
	namespace, name, uid string
	version              uint64
	data, label          string
	hasData, hasLabel    bool
}

// key is what objects are ordered by.
func (o object) key() string { return o.namespace + "/" + o.name }

// value is the object as JSON has it.
func (o object) value() map[string]any {
	metadata := map[string]any{
		"name":              o.name,
		"namespace":         o.namespace,
		"uid":               o.uid,
		"resourceVersion":   strconv.FormatUint(o.version, 10),
		"creationTimestamp": "2024-01-01T00:00:00Z",
	}
	if o.hasLabel {
		metadata["labels"] = map[string]any{"l": o.label}
	}
	value := map[string]any{"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata}
	if o.hasData {
		value["data"] = map[string]any{"v": o.data}
	}
	return value
}

// with is the object after the options of a step.
func (o object) with(s step) object {
	if data, given := s.option("data"); given {
		o.data, o.hasData = data, true
	}
	if label, given := s.option("label"); given {
		o.label, o.hasLabel = label, true
	}
	return o
}

// change is one write: the state before it, and after it.
type change struct {
	version uint64
	before  *object
	object  object
	deleted bool
}

// event is what a watcher is told.
type event struct {
	kind   string
	object object
}

// seenBy is what a watcher of a selection is told of a change, if anything. An object that
// leaves the selection is gone, in its last matching state.
func (c change) seenBy(s selection) (event, bool) {
	before := c.before != nil && s.matches(*c.before)
	after := !c.deleted && s.matches(c.object)
	switch {
	case before && after:
		return event{"MODIFIED", c.object}, true
	case after:
		return event{"ADDED", c.object}, true
	case before && c.deleted:
		return event{"DELETED", c.object}, true
	case before:
		last := *c.before
		last.version = c.version
		return event{"DELETED", last}, true
	default:
		return event{}, false
	}
}

// selection is what a list or a watch is about.
type selection struct {
	namespace string
	labels    labels.Selector
}

func (s selection) matches(o object) bool {
	if s.namespace != "" && s.namespace != o.namespace {
		return false
	}
	set := labels.Set{}
	if o.hasLabel {
		set["l"] = o.label
	}
	return s.labels.Matches(set)
}

// history is the objects of one resource: the living ones, and the log of how they came to be so.
type history struct {
	version   uint64
	compacted uint64
	dropped   uint64
	limit     int
	live      map[string]object
	lives     map[string]int
	log       []change
}

func newHistory(version uint64, limit int) *history {
	return &history{version: version, limit: limit, live: map[string]object{}, lives: map[string]int{}}
}

// uidOf is the uid of one life of a key.
func uidOf(key string, life int) string { return fmt.Sprintf("%s-%d", key, life) }

func (h *history) create(namespace, name string, s step) {
	o := object{namespace: namespace, name: name}.with(s)
	if _, exists := h.live[o.key()]; exists {
		return
	}
	h.lives[o.key()]++
	o.uid = uidOf(o.key(), h.lives[o.key()])
	h.version++
	o.version = h.version
	h.record(change{version: o.version, object: o})
}

func (h *history) update(key string, s step) {
	before, exists := h.live[key]
	if !exists {
		return
	}
	h.version++
	after := before.with(s)
	after.version = h.version
	h.record(change{version: after.version, before: &before, object: after})
}

func (h *history) delete(key string) {
	before, exists := h.live[key]
	if !exists {
		return
	}
	h.version++
	last := before
	last.version = h.version
	h.record(change{version: last.version, before: &before, object: last, deleted: true})
}

func (h *history) record(c change) {
	if c.deleted {
		delete(h.live, c.object.key())
	} else {
		h.live[c.object.key()] = c.object
	}
	h.log = append(h.log, c)
	for len(h.log) > h.limit {
		h.dropped = h.log[0].version
		h.log = h.log[1:]
	}
}

func (h *history) compact() { h.compacted = h.version }

// oldest is the oldest state that can be asked for.
func (h *history) oldest() uint64 { return max(h.compacted, h.dropped) }

// after is what was written after a version.
func (h *history) after(version uint64) []change {
	start := sort.Search(len(h.log), func(i int) bool { return h.log[i].version > version })
	return h.log[start:]
}

// at is the selected objects as they were at a version, ordered by key.
func (h *history) at(version uint64, s selection) []object {
	state := make(map[string]object, len(h.live))
	for key, o := range h.live {
		state[key] = o
	}
	later := h.after(version)
	for i := len(later) - 1; i >= 0; i-- {
		if before := later[i].before; before != nil {
			state[before.key()] = *before
		} else {
			delete(state, later[i].object.key())
		}
	}
	var objects []object
	for _, o := range state {
		if s.matches(o) {
			objects = append(objects, o)
		}
	}
	sort.Slice(objects, func(i, j int) bool { return objects[i].key() < objects[j].key() })
	return objects
}
