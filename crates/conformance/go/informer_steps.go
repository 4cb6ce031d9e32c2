// The steps of the client.
package judge

import (
	"fmt"
	"sort"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// apply does one step of the client and returns what it answered with; false if it is not one.
func (c *client) apply(st step) (answers []string, known bool, err error) {
	malformed := fmt.Errorf("malformed step %q", st)
	switch st.verb {
	case "start", "stop":
	case "handler", "unblock", "remove", "get", "index":
		if len(st.args) == 0 {
			return nil, true, malformed
		}
	default:
		return nil, false, nil
	}
	switch st.verb {
	case "start":
		c.start()
	case "stop":
		c.stop()
	case "handler":
		answers, err = c.join(st)
	case "unblock":
		if h, is := c.handlers[st.args[0]]; is {
			h.unblock()
		}
	case "remove":
		err = c.remove(st.args[0])
	case "get":
		answers = []string{"get " + c.get(st.args[0])}
	case "index":
		answers = []string{c.byIndex(st.args[0])}
	}
	return answers, true, err
}

func (c *client) join(st step) ([]string, error) {
	name := st.args[0]
	if _, is := c.handlers[name]; is {
		return nil, nil
	}
	options := cache.HandlerOptions{}
	if text, given := st.option("resync"); given {
		period, err := duration(text)
		if err != nil {
			return nil, err
		}
		options.ResyncPeriod = &period
	}
	h := newHandler(st)
	handle, err := c.informer.AddEventHandlerWithOptions(h, options)
	if err != nil {
		if strings.Contains(err.Error(), "stopped already") {
			return []string{"error stopped"}, nil
		}
		return nil, err
	}
	h.handle = handle
	c.handlers[name] = h
	c.all = append(c.all, h)
	return nil, nil
}

func (c *client) remove(name string) error {
	h, is := c.handlers[name]
	if !is {
		// client-go has nothing against one that has left already.
		h, is = c.left[name]
	}
	if !is {
		return nil
	}
	if c.isStopped && !c.hasEnded() {
		// client-go would wait for the callback that the stop waits for, and hold a lock.
		return nil
	}
	delete(c.handlers, name)
	c.left[name] = h
	return c.informer.RemoveEventHandler(h.handle)
}

func (c *client) get(key string) string {
	namespace, name := namespaceAndName(key)
	found, exists, err := c.informer.GetStore().GetByKey(namespace + "/" + name)
	if err != nil || !exists {
		return "none"
	}
	return display(found)
}

func (c *client) byIndex(value string) string {
	found, err := c.informer.GetIndexer().ByIndex("data", value)
	if err != nil {
		return "error no-index"
	}
	return "index " + written(found)
}

// written is objects in the order of their keys.
func written(objects []any) string {
	if len(objects) == 0 {
		return "none"
	}
	sort.Slice(objects, func(i, j int) bool { return keyOf(objects[i]) < keyOf(objects[j]) })
	var texts []string
	for _, o := range objects {
		texts = append(texts, display(o))
	}
	return strings.Join(texts, " ")
}

// hasAll says whether the store has what the server has, by key and version.
func (c *client) hasAll(s *server, of selection) bool {
	if !c.informer.HasSynced() {
		return false
	}
	stored := map[string]string{}
	for _, o := range c.informer.GetStore().List() {
		if m, is := o.(*v1.ConfigMap); is {
			stored[keyOf(m)] = m.ResourceVersion
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	objects := s.history.at(s.history.version, of)
	if len(objects) != len(stored) {
		return false
	}
	for _, o := range objects {
		if stored[o.key()] != fmt.Sprint(o.version) {
			return false
		}
	}
	for f := range s.watches {
		if f.isCaughtUp() {
			return true
		}
	}
	return false
}

const (
	recoverStep = 100 * time.Millisecond
	recoverMost = 10 * time.Minute
)
