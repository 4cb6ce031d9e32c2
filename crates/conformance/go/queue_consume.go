// What is taken from a queue.

package judge

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

var errByOrder = errors.New("fails by order")

// pop takes one item; meanwhile, if that is given, is done before the item counts as processed.
func (r *queueRun) pop(failing bool, meanwhile func()) {
	if r.isEmpty() && !r.closed {
		r.add("nothing")
		return
	}
	_, err := r.queue.Pop(func(item any, initial bool) error {
		r.take(item.(cache.Deltas), initial, failing)
		if meanwhile != nil {
			r.processed = item.(cache.Deltas)
			meanwhile()
			r.processed = nil
		}
		if r.latchHasClosed() {
			r.add("%s", map[bool]string{true: "synced early", false: "synced"}[meanwhile == nil])
		}
		if failing {
			return errByOrder
		}
		return nil
	})
	if errors.Is(err, cache.ErrFIFOClosed) {
		r.add("closed")
		return
	}
	r.takeBookmarks()
	if failing {
		// Who says so is done with it; how far that is, is not told.
		r.shown = r.version
	}
	r.relist = r.relist && !r.isEmpty()
	r.observe()
}

// drain takes all there is, one by one.
func (r *queueRun) drain(failing bool) {
	for !r.isEmpty() {
		r.pop(failing, nil)
	}
	if r.closed {
		r.pop(failing, nil)
	}
}

// drainInBatches takes all there is, with PopBatch where there is one.
func (r *queueRun) drainInBatches() {
	if r.real == nil || r.closed {
		r.drain(false)
		return
	}
	size := hidden[int](r.real, "batchSize")
	before := *size
	*size = r.batch
	for !r.isEmpty() {
		_ = r.real.PopBatch(func(deltas []cache.Delta, initial bool) error {
			r.add("batch %d", len(deltas))
			for _, delta := range deltas {
				r.take(cache.Deltas{delta}, initial, false)
			}
			return nil
		}, func(item any, initial bool) error {
			r.add("batch 1")
			r.take(item.(cache.Deltas), initial, false)
			return nil
		})
		r.takeBookmarks()
		if r.latchHasClosed() {
			r.add("synced")
		}
	}
	*size = before
}

// during pops, and brings something before the item counts as processed. A DeltaFIFO keeps
// whoever brings something waiting until it does.
func (r *queueRun) during(s step) error {
	if s.verb == "during" {
		return fmt.Errorf("one thing at a time")
	}
	var err error
	produce := func() { err = r.produce(s) }
	switch {
	case r.closed || r.isEmpty() || r.relist:
		r.drain(false)
		produce()
	case r.real != nil:
		r.pop(false, produce)
	default:
		r.pop(false, nil)
		if s.verb == "add" || s.verb == "update" {
			produce()
		}
	}
	return err
}

// takeBookmarks is what an idle consumer does: none ever waits at the head.
func (r *queueRun) takeBookmarks() {
	if r.real == nil {
		return
	}
	for {
		waiting := r.waitingInOrder()
		if len(waiting) == 0 || waiting[0].Type != cache.Bookmark {
			return
		}
		_, _ = r.real.Pop(func(item any, _ bool) error {
			r.take(item.(cache.Deltas), false, false)
			return nil
		})
	}
}

// take writes down what was handed out, and applies it.
func (r *queueRun) take(deltas cache.Deltas, initial, failing bool) {
	line := workLine(deltas)
	if initial {
		line = "initial " + line
	}
	if failing {
		line = "failed " + line
	}
	r.add("%s", line)
	for _, delta := range deltas {
		r.apply(delta, failing)
	}
}

// apply does to the store what the change says; what failed changes the version alone.
func (r *queueRun) apply(delta cache.Delta, failing bool) {
	switch object := delta.Object.(type) {
	case cache.BookmarkInfo:
		r.version = object.ResourceVersion
	case cache.ReplacedAllInfo:
		r.version = object.ResourceVersion
		if failing {
			return
		}
		clear(r.store)
		for _, one := range object.Objects {
			r.put(one.(*v1.ConfigMap))
		}
	case cache.DeletedFinalStateUnknown:
		if !failing {
			delete(r.store, object.Key)
		}
	case *v1.ConfigMap:
		if object.Labels[lateLabel] != "" {
			return
		}
		r.version = object.ResourceVersion
		switch {
		case failing:
		case delta.Type == cache.Deleted:
			delete(r.store, object.Name)
		default:
			r.put(object)
		}
	}
}

func (r *queueRun) put(object *v1.ConfigMap) { r.store[object.Name] = object }

func (r *queueRun) close() {
	r.closed = true
	r.queue.Close()
}

// closeWhileWaiting closes the queue while some wait for something to pop.
func (r *queueRun) closeWhileWaiting() {
	if r.closed || !r.isEmpty() {
		r.close()
		return
	}
	woken := make([]error, 10)
	synctest.Test(r.t, func(*testing.T) {
		for waiter := range woken {
			go func() {
				_, woken[waiter] = r.queue.Pop(func(any, bool) error { return nil })
			}()
		}
		synctest.Wait()
		r.close()
		synctest.Wait()
	})
	for _, err := range woken {
		if !errors.Is(err, cache.ErrFIFOClosed) {
			r.add("not woken")
			return
		}
	}
	r.add("woken closed")
}

// race lets two bring so many objects each to a queue of their own while a third takes them.
func (r *queueRun) race(s step) error {
	var count int
	if _, err := fmt.Sscan(s.arg(0), &count); err != nil {
		return err
	}
	other := queueRun{scenario: scenario{settings: map[string]string{
		"queue": r.scenario.setting("queue", "delta"), "known": "none",
	}}, store: heldObjects{}}
	if err := other.build(); err != nil {
		return err
	}
	var producers sync.WaitGroup
	for _, name := range []string{"first", "second"} {
		producers.Go(func() {
			for number := range count {
				object, _ := queueObject(fmt.Sprintf("%s-%d@1", name, number))
				_ = other.queue.Add(object)
			}
		})
	}
	taken := map[string]int{}
	inOrder := true
	for range 2 * count {
		item, err := other.queue.Pop(func(any, bool) error { return nil })
		if err != nil {
			return err
		}
		key := keyOfDelta(item.(cache.Deltas)[0])
		name, number, _ := strings.Cut(key, "-")
		inOrder = inOrder && number == fmt.Sprint(taken[name])
		taken[name]++
	}
	producers.Wait()
	r.add("first %d second %d in-order %t", taken["first"], taken["second"], inOrder)
	return nil
}
