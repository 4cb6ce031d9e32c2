// What was only read about client-go's store and leaves no trace in a scenario.

package judge

import (
	"testing"

	"k8s.io/client-go/tools/cache"
)

// IX-11: what GetIndexers hands out is the map itself, with no lock held, so that reading it beside
// AddIndexers is a race.
func TestTheMapOfIndexersIsTheStoresOwn(t *testing.T) {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{"i": indexFunctions["data"]})
	handedOut := indexer.GetIndexers()
	if err := indexer.AddIndexers(cache.Indexers{"j": indexFunctions["label"]}); err != nil {
		t.Fatal(err)
	}
	if len(handedOut) != 2 {
		t.Errorf("the map handed out has %d indexes, the store has 2", len(handedOut))
	}
}

// IX-05: the lock is let go when an index function panics, so that the store goes on half changed.
func TestAStoreGoesOnAfterAPanic(t *testing.T) {
	run := storeRun{indexer: cache.NewIndexer(
		cache.DeletionHandlingMetaNamespaceKeyFunc, cache.Indexers{"i": indexFunctions["bad"]},
	)}
	bad, err := storeObject("a/x@1+data=bad")
	if err != nil {
		t.Fatal(err)
	}
	if !run.panics(func() { _ = run.indexer.Add(bad) }) {
		t.Error("an index function fails, and nobody panics")
	}
	if _, found, _ := run.indexer.GetByKey("a/x"); !found {
		t.Error("the object is not in the list")
	}
	if values := run.indexer.ListIndexFuncValues("i"); len(values) != 0 {
		t.Errorf("it is in the index: %v", values)
	}
}

// IX-05: an object that got in past a failing index function panics once more at its next update,
// and is missing in the index from then on, as long as its value does not change (IX-04).
func TestAnIndexNeverRecoversFromAPanic(t *testing.T) {
	run := storeRun{indexer: cache.NewIndexer(
		cache.DeletionHandlingMetaNamespaceKeyFunc, cache.Indexers{"i": indexFunctions["bad"]},
	)}
	wants := []bool{true, true, false, false}
	words := []string{"a/x@1+data=bad", "a/x@2+data=q", "a/x@3+data=q", "a/x@4+data=q"}
	for position, word := range words {
		object, err := storeObject(word)
		if err != nil {
			t.Fatal(err)
		}
		if run.panics(func() { _ = run.indexer.Update(object) }) != wants[position] {
			t.Errorf("%s: whether it panics is not as read", word)
		}
	}
	if keys, err := run.indexer.IndexKeys("i", "q"); err != nil || len(keys) != 0 {
		t.Errorf("the index has recovered: %v %v", keys, err)
	}
}
