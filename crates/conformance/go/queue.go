// The level "queue": one queue of client-go alone, between one who brings changes and one who
// takes them.

package judge

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

func init() { levels["queue"] = runQueue }

// queueRun is one run of one scenario. Exactly one of delta and real is there.
type queueRun struct {
	trace
	t        *testing.T
	scenario scenario
	queue    cache.Queue
	delta    *cache.DeltaFIFO
	real     *cache.RealFIFO
	// store is what the consumer applied so far, if the queue may know it.
	store heldObjects
	// batch is how many changes PopBatch may take.
	batch int
	// relist: a list waits in a DeltaFIFO. It is taken with all that waits.
	relist bool
	// populated: something other than a resync or a bookmark was brought.
	populated, closed bool
	// processed is what a RealFIFO has handed out and not counted as processed.
	processed []cache.Delta
	// synced and version are what the trace last said.
	synced         bool
	version, shown string
}

func runQueue(t *testing.T, s scenario) ([]string, error) {
	batch, err := strconv.Atoi(s.setting("batch", "1000"))
	if err != nil || batch < 1 {
		return nil, fmt.Errorf("no batch size %q", s.setting("batch", ""))
	}
	run := queueRun{t: t, scenario: s, batch: batch, store: heldObjects{}}
	if err := run.build(); err != nil {
		return nil, err
	}
	for _, step := range s.steps {
		run.step(step)
		if err := run.do(step); err != nil {
			return nil, fmt.Errorf("%s: %w", step, err)
		}
		run.observe()
	}
	return run.lines, nil
}

// build makes the queue as informers make it, but for what the settings say.
func (r *queueRun) build() error {
	var transform cache.TransformFunc
	switch r.scenario.setting("transform", "none") {
	case "none":
	case "mark":
		transform = markObject
	default:
		return fmt.Errorf("no such transform")
	}
	switch r.scenario.setting("queue", "delta") {
	case "delta":
		options := cache.DeltaFIFOOptions{
			KeyFunction:           cache.MetaNamespaceKeyFunc,
			EmitDeltaTypeReplaced: r.scenario.setting("replaced", "yes") == "yes",
			Transformer:           transform,
		}
		if r.knows() {
			options.KnownObjects = r.store
		}
		r.delta = cache.NewDeltaFIFOWithOptions(options)
		r.queue = r.delta
	case "in-order":
		r.real = cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{
			KeyFunction:           cache.MetaNamespaceKeyFunc,
			Transformer:           transform,
			AtomicEvents:          true,
			UnlockWhileProcessing: true,
			EmitDeltaTypeBookmark: true,
		})
		r.queue = r.real
	default:
		return fmt.Errorf("no such queue")
	}
	return nil
}

func (r *queueRun) knows() bool { return r.scenario.setting("known", "store") == "store" }

// do carries out one step.
func (r *queueRun) do(s step) error {
	switch s.verb {
	case "known":
		return r.hold(s.args)
	case "pop", "fail":
		failing := s.verb == "fail"
		if r.relist || r.closed {
			r.drain(failing)
		} else {
			r.pop(failing, nil)
		}
	case "drain":
		r.drain(false)
	case "batch":
		r.drainInBatches()
	case "during":
		if len(s.args) == 0 {
			return fmt.Errorf("what is to happen meanwhile?")
		}
		return r.during(step{verb: s.args[0], args: s.args[1:]})
	case "close":
		r.close()
	case "wait-close":
		r.closeWhileWaiting()
	case "race":
		return r.race(s)
	default:
		return r.produce(s)
	}
	return nil
}

// hold puts objects into the store that nobody brought.
func (r *queueRun) hold(words []string) error {
	for _, word := range words {
		object, err := queueObject(word)
		if err != nil {
			return err
		}
		r.store[object.Name] = object
	}
	return nil
}

// observe says what has changed since the trace last said it.
func (r *queueRun) observe() {
	if r.latchHasClosed() {
		r.add("synced")
	}
	// A transform that fails moves no version; what the version then is, is not compared.
	if r.version != r.shown && r.real != nil && r.scenario.setting("transform", "none") == "none" {
		r.add("version %s", r.version)
	}
	r.shown = r.version
}

// latchHasClosed says so once.
func (r *queueRun) latchHasClosed() bool {
	select {
	case <-r.queue.HasSyncedChecker().Done():
		if !r.synced {
			r.synced = true
			return true
		}
	default:
	}
	return false
}

// heldObjects is a store as a queue asks it, in the order of the keys.
type heldObjects map[string]*v1.ConfigMap

func (h heldObjects) ListKeys() []string {
	var keys []string
	for key := range h {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func (h heldObjects) GetByKey(key string) (any, bool, error) {
	object, found := h[key]
	if !found {
		return nil, false, nil
	}
	return object, true, nil
}
