// The steps of the server: writes, and what happens to open watches.
package judge

import (
	"fmt"
	"strconv"
	"strings"
)

// serverVerbs are the steps of the server.
var serverVerbs = map[string]bool{
	"create": true, "update": true, "delete": true, "skip": true, "bookmark": true,
	"compact": true, "close": true, "cut": true, "expire": true, "send": true,
	"fault": true, "heal": true,
}

// apply does steps of the server; nobody gets to run in between.
func (s *server) apply(steps []step) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range steps {
		if err := s.do(st); err != nil {
			return err
		}
	}
	s.tell()
	return nil
}

func (s *server) do(st step) error {
	switch st.verb {
	case "create", "update", "delete":
		if len(st.args) == 0 {
			return fmt.Errorf("malformed step %q", st)
		}
		namespace, name := namespaceAndName(st.args[0])
		s.write(st, namespace, name)
	case "skip":
		n, err := strconv.ParseUint(strings.Join(st.args, " "), 10, 64)
		if err != nil {
			return fmt.Errorf("malformed step %q", st)
		}
		s.history.version += n
		return nil
	case "bookmark":
		for f := range s.watches {
			if f.bookmarks && !f.owesEnd {
				f.aside(bookmarkFrame(s.history.version, false))
			}
		}
	case "compact":
		s.history.compact()
	case "close":
		s.closings++
	case "cut":
		for f := range s.watches {
			f.isCut = true
		}
	case "expire":
		s.history.compact()
		for f := range s.watches {
			f.aside(errorFrame(expired(f.cursor, s.history.version)))
		}
	case "send":
		return s.send(st)
	case "fault":
		f, err := parseFault(st)
		if err != nil {
			return err
		}
		s.faults = append(s.faults, f)
		return nil
	case "heal":
		s.faults = nil
		return nil
	}
	return nil
}

func (s *server) write(st step, namespace, name string) {
	key := namespace + "/" + name
	switch st.verb {
	case "create":
		s.history.create(namespace, name, st)
	case "update":
		s.history.update(key, st)
	default:
		s.history.delete(key)
	}
}

func (f *feed) aside(l frame) {
	f.asides = append(f.asides, aside{version: f.server.history.version, line: l})
}

// send is an event the history does not know.
func (s *server) send(st step) error {
	if len(st.args) < 2 {
		return fmt.Errorf("malformed step %q", st)
	}
	o, err := parseObject(st.args[1])
	if err != nil {
		return err
	}
	o = o.with(st)
	for f := range s.watches {
		f.aside(frameOf(event{st.args[0], o}))
	}
	return nil
}

// namespaceAndName takes a key apart as scenarios have it.
func namespaceAndName(key string) (namespace, name string) {
	if namespace, name, found := strings.Cut(key, "/"); found {
		return namespace, name
	}
	return "default", key
}

// parseObject reads `key@version` or `key.life@version`.
func parseObject(text string) (object, error) {
	key, version, found := strings.Cut(text, "@")
	number, err := strconv.ParseUint(version, 10, 64)
	if !found || err != nil {
		return object{}, fmt.Errorf("malformed object %q", text)
	}
	life := 1
	if name, digits, found := strings.Cut(key, "."); found {
		if life, err = strconv.Atoi(digits); err != nil {
			return object{}, fmt.Errorf("malformed object %q", text)
		}
		key = name
	}
	o := object{version: number}
	o.namespace, o.name = namespaceAndName(key)
	o.uid = uidOf(o.key(), life)
	return o, nil
}
