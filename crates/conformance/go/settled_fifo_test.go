// What was only read about client-go's queues and leaves no trace in a scenario.

package judge

import (
	"errors"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

func isClosed(channel <-chan struct{}) bool {
	select {
	case <-channel:
		return true
	default:
		return false
	}
}

// syncedWhileProcessing says whether who waits on the channel is let go before the only initial
// item is processed.
func syncedWhileProcessing(t *testing.T, queue cache.Queue, done <-chan struct{}) bool {
	t.Helper()
	object, err := storeObject("a/x@1")
	if err != nil {
		t.Fatal(err)
	}
	if err := queue.Replace([]any{object}, "1"); err != nil {
		t.Fatal(err)
	}
	early := false
	if _, err := queue.Pop(func(any, bool) error { early = isClosed(done); return nil }); err != nil {
		t.Fatal(err)
	}
	if !isClosed(done) {
		t.Error("not synced when all is processed")
	}
	return early
}

// DF-12: the latch of DeltaFIFO closes before the last initial item is processed; that of RealFIFO
// afterwards.
func TestDeltaFIFOIsSyncedTooEarly(t *testing.T) {
	delta := cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{})
	if !syncedWhileProcessing(t, delta, delta.HasSyncedChecker().Done()) {
		t.Error("DeltaFIFO is synced after processing")
	}
	inOrder := cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{AtomicEvents: true})
	if syncedWhileProcessing(t, inOrder, inOrder.HasSyncedChecker().Done()) {
		t.Error("RealFIFO is synced before processing")
	}
}

// RF-11: without atomic events a replacement that fails half way leaves its first half queued, and
// the queue without a first list.
func TestAReplacementFailsHalfWay(t *testing.T) {
	queue := cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{
		KnownObjects: cache.NewStore(cache.MetaNamespaceKeyFunc),
		Transformer: func(object any) (any, error) {
			if object.(*v1.ConfigMap).Name == "bad" {
				return nil, errors.New("bad object")
			}
			return object, nil
		},
	})
	list, err := storeObjects([]string{"a/x@1", "a/bad@2", "a/y@3"})
	if err != nil {
		t.Fatal(err)
	}
	if err := queue.Replace(list, "3"); err == nil {
		t.Fatal("a transform failed, and the replacement did not")
	}
	var popped []string
	_, err = queue.Pop(func(deltas any, _ bool) error {
		for _, delta := range deltas.(cache.Deltas) {
			popped = append(popped, string(delta.Type)+" "+wordOf(delta.Object))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(popped) != 1 || popped[0] != "Replaced a/x@1" {
		t.Errorf("left behind: %v", popped)
	}
	if queue.HasSynced() {
		t.Error("synced by a list that failed")
	}
}
