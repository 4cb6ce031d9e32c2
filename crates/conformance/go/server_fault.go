// What can be made to go wrong, for which request, and how often.
package judge

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// fault is one thing that goes wrong.
type fault struct {
	request string
	what    string
	// How often it may still happen; negative for ever.
	left   int
	status *rejection
	// After so many events, or the version that is shown.
	number int
	delay  time.Duration
}

// asked is what faults are matched by.
type asked struct{ watch, page, stream bool }

func (f *fault) matches(a asked) bool {
	switch f.request {
	case "any":
		return true
	case "list":
		return !a.watch
	case "page":
		return !a.watch && a.page
	case "watch":
		return a.watch
	default:
		return a.watch && a.stream
	}
}

var plainFaults = map[string]bool{
	"refuse": true, "reset": true, "no-end": true, "no-bookmarks": true, "garbage": true,
	"unknown-type": true, "table": true, "nameless": true, "undecodable": true,
	"duplicate": true, "empty-version": true, "hang": true,
}

// parseFault reads `fault <request> <what> [times=n|always] [retry=s]`.
func parseFault(s step) (*fault, error) {
	malformed := fmt.Errorf("malformed step %q", s)
	if len(s.args) < 2 {
		return nil, malformed
	}
	f := &fault{request: s.args[0], left: 1}
	switch f.request {
	case "any", "list", "page", "watch", "stream":
	default:
		return nil, malformed
	}
	switch times, given := s.option("times"); {
	case times == "always":
		f.left = -1
	case given:
		n, err := strconv.Atoi(times)
		if err != nil || n < 0 {
			return nil, malformed
		}
		f.left = n
	}
	if err := f.read(s.args[1]); err != nil {
		return nil, malformed
	}
	if retry, given := s.option("retry"); given && f.status != nil {
		seconds, err := strconv.Atoi(retry)
		if err != nil {
			return nil, malformed
		}
		f.status.retryAfter = seconds
	}
	return f, nil
}

// read takes what goes wrong apart.
func (f *fault) read(text string) error {
	word, after, hasAfter := strings.Cut(text, "@")
	var err error
	if hasAfter {
		if f.number, err = strconv.Atoi(after); err != nil {
			return err
		}
	}
	name, value, _ := strings.Cut(word, "=")
	f.what = name
	var known bool
	switch {
	case plainFaults[text]:
		return nil
	case (name == "close" || name == "cut" || name == "end") && hasAfter && value == "":
		return nil
	case name == "error":
		f.status, known = parseRejection(value)
	case name == "old":
		f.number, err = strconv.Atoi(value)
		known = err == nil
	case name == "delay":
		f.delay, err = time.ParseDuration(value)
		known = err == nil
	default:
		f.status, known = parseRejection(text)
		f.what = "status"
	}
	if !known {
		return fmt.Errorf("no fault %q", text)
	}
	return nil
}

// takeFaults is the faults a request meets; they are used up by it.
func (s *server) takeFaults(a asked) []*fault {
	var met []*fault
	for _, f := range s.faults {
		if f.left != 0 && f.matches(a) {
			f.left--
			met = append(met, f)
		}
	}
	kept := s.faults[:0]
	for _, f := range s.faults {
		if f.left != 0 {
			kept = append(kept, f)
		}
	}
	s.faults = kept
	return met
}

// find is the last of the faults that has this name.
func find(faults []*fault, what string) *fault {
	var found *fault
	for _, f := range faults {
		if f.what == what {
			found = f
		}
	}
	return found
}
