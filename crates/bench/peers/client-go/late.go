package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// What a handler that is there already notices when another one joins late, as the driver in Rust
// has it: a change counts for a join if it was on its way at any time of it, and the oldest news
// among those is the stall.

const (
	// pause is for how long changes come before the first join, and after each one until what was
	// late has arrived.
	pause = time.Second
	// orderedSeconds is for how long changes are ordered; the driver ends before.
	orderedSeconds = 600
)

// call is one call of the first handler, in microseconds.
type call struct{ at, age int64 }

// witness is what the first handler saw.
type witness struct {
	mu    sync.Mutex
	calls []call
}

func (w *witness) add(object any) {
	seen := call{at: stamp(), age: age(object.(*corev1.Pod))}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, seen)
}

func (w *witness) clear() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = nil
}

// oldest is the age of the oldest news that were on their way between two times.
func (w *witness) oldest(begin, end int64) (int64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	oldest := int64(-1)
	for _, call := range w.calls {
		if call.at >= begin && call.at-call.age <= end {
			oldest = max(oldest, call.age)
		}
	}
	if oldest < 0 {
		return 0, fmt.Errorf("no change between %d and %d", begin, end)
	}
	return oldest, nil
}

// late lets handlers join, one after the other.
func (r *run) late(client kubernetes.Interface) error {
	seen, informer := &witness{}, newInformer(client, "")
	first, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, object any) { seen.add(object) },
	})
	if err != nil {
		return err
	}
	go informer.RunWithContext(context.Background())
	if !cache.WaitForCacheSync(context.Background().Done(), first.HasSynced) {
		return fmt.Errorf("the informer has stopped")
	}
	if stored := len(informer.GetStore().ListKeys()); uint64(stored) != r.objects {
		return fmt.Errorf("%d objects stored", stored)
	}
	path := fmt.Sprintf("/bench/change?count=%d&rate=%d", r.rate*orderedSeconds, r.rate)
	if _, err := r.ask(path); err != nil {
		return err
	}
	time.Sleep(pause)
	var stalls, times, quiet []int64
	for range r.joins {
		seen.clear()
		before := stamp()
		time.Sleep(pause)
		begin := stamp()
		registration, err := r.join(informer)
		if err != nil {
			return err
		}
		end := stamp()
		time.Sleep(pause)
		if err := informer.RemoveEventHandler(registration); err != nil {
			return err
		}
		without, err := seen.oldest(before, begin)
		if err != nil {
			return err
		}
		stall, err := seen.oldest(begin, end)
		if err != nil {
			return err
		}
		stalls, times, quiet = append(stalls, stall), append(times, end-begin), append(quiet, without)
	}
	r.metrics["stall_us"] = middle(stalls)
	r.metrics["stall_worst_us"] = float64(slices.Max(stalls))
	r.metrics["quiet_stall_us"] = middle(quiet)
	r.metrics["join_us"] = middle(times)
	return nil
}

// join returns when a new handler has been told of every object.
func (r *run) join(informer cache.SharedIndexInformer) (cache.ResourceEventHandlerRegistration, error) {
	told, objects := make(chan struct{}), r.objects
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(_ any, initial bool) {
			if !initial {
				return
			}
			if objects--; objects == 0 {
				close(told)
			}
		},
	})
	if err != nil {
		return nil, err
	}
	select {
	case <-told:
		return registration, nil
	case <-time.After(patience):
		return nil, fmt.Errorf("a late handler was not told of %d objects", objects)
	}
}

// middle is the median.
func middle(values []int64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return float64(sorted[len(sorted)/2])
}
