// The levels processor and informer: a shared informer, an API server in memory, virtual time.
package judge

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/labels"
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
		err = r.play()
		lines = r.trace.lines
		r.client.shutDown()
		synctest.Wait()
		if open := r.server.openWatches(); open > 0 && err == nil {
			err = fmt.Errorf("%d watches were left open", open)
		}
	})
	return lines, err
}

// run is one scenario at work.
type run struct {
	*observer
	scenario scenario
	server   *server
	of       selection
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
	r := &run{scenario: s, server: newServer(version, limit, page), of: selection{labels: selector}}
	if namespace := s.setting("namespace", "all"); namespace != "all" {
		r.of.namespace = namespace
	}
	if r.observer, err = newObserver(s, r.server, "http://server"); err == nil {
		r.takeRequests = r.server.takeRequests
	}
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
