// What is brought to a queue.

package judge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// produce carries out a step of the one who brings changes.
func (r *queueRun) produce(s step) error {
	switch s.verb {
	case "add", "update":
		object, err := queueObject(s.arg(0))
		if err != nil {
			return err
		}
		r.write(s.verb, object)
	case "delete":
		object, err := queueObject(s.arg(0))
		if err != nil {
			return err
		}
		if !r.closed {
			r.remove(object.Name, object)
		}
	case "gone":
		tombstone, err := queueTombstone(s.arg(0))
		if err != nil {
			return err
		}
		if !r.closed {
			r.remove(tombstone.Key, tombstone)
		}
	case "replace":
		return r.replace(s)
	case "resync":
		// Without Replaced a list looks like a resync.
		if !r.closed && r.scenario.setting("replaced", "yes") == "yes" {
			return r.queue.Resync()
		}
	case "bookmark":
		if r.real != nil && !r.closed {
			if err := r.real.Bookmark(s.arg(0)); err != nil {
				return err
			}
			r.takeBookmarks()
		}
	default:
		return fmt.Errorf("nobody understands this step")
	}
	return nil
}

// queueTombstone reads "key" or "key@version".
func queueTombstone(word string) (cache.DeletedFinalStateUnknown, error) {
	key, _, seen := strings.Cut(word, "@")
	if !seen {
		return cache.DeletedFinalStateUnknown{Key: key}, nil
	}
	object, err := queueObject(word)
	return cache.DeletedFinalStateUnknown{Key: key, Obj: object}, err
}

func (r *queueRun) write(verb string, object *v1.ConfigMap) {
	if r.closed {
		if !r.populated || object.Labels[badLabel] != "" {
			return
		}
		object.Labels[lateLabel] = "~"
		r.add("taken")
	}
	r.populated = true
	call := map[string]func(any) error{"add": r.queue.Add, "update": r.queue.Update}[verb]
	if call(object) != nil {
		r.add("error transform")
	}
}

// remove brings a deletion. One that fails is brought again as a tombstone.
func (r *queueRun) remove(key string, last any) {
	r.populated = true
	before := r.tombstoneAtTheEnd(key)
	if r.queue.Delete(last) != nil {
		r.add("error transform")
		tombstone := cache.DeletedFinalStateUnknown{Key: key}
		if newest := r.newestOf(key, true); newest != nil && r.delta != nil {
			tombstone.Obj = newest
		}
		_ = r.queue.Delete(tombstone)
	}
	if r.delta == nil {
		return
	}
	waiting := r.waitingByKey()[key]
	if len(waiting) == 0 {
		r.add("ignored")
		return
	}
	if before != "" && deltaWord(*waiting.Newest()) == "Gone" && before != "Gone" {
		r.add("forgot %s %d %s", key, len(waiting)-1, before)
	}
}

// tombstoneAtTheEnd is the newest change that waits for key, if it is a tombstone.
func (r *queueRun) tombstoneAtTheEnd(key string) string {
	if r.delta == nil {
		return ""
	}
	newest := r.waitingByKey()[key].Newest()
	if newest == nil || !strings.HasPrefix(deltaWord(*newest), "Gone") {
		return ""
	}
	return deltaWord(*newest)
}

// newestOf is the newest object of a key that anybody knows; one that waits to be deleted only
// if its end is asked for.
func (r *queueRun) newestOf(key string, evenDeleted bool) *v1.ConfigMap {
	newest := r.newestPending(key)
	if newest == nil {
		if !r.knows() {
			return nil
		}
		return r.store[key]
	}
	if newest.Type == cache.Deleted && !evenDeleted {
		return nil
	}
	object := newest.Object
	if tombstone, gone := object.(cache.DeletedFinalStateUnknown); gone {
		object = tombstone.Obj
	}
	last, _ := object.(*v1.ConfigMap)
	return last
}

// replace brings a list. If it fails it is brought again, with what is known in the place of what
// failed, and whatever waits in a DeltaFIFO is taken: half of the list waits there twice.
func (r *queueRun) replace(s step) error {
	if r.closed {
		return nil
	}
	if len(s.args) == 0 {
		return fmt.Errorf("a list has a version")
	}
	var list []*v1.ConfigMap
	for _, word := range s.args[1:] {
		object, err := queueObject(word)
		if err != nil {
			return err
		}
		list = append(list, object)
	}
	r.populated = true
	before := r.countsByKey()
	err := r.queue.Replace(anyOf(list), s.args[0])
	var inPlace []string
	if err != nil {
		r.add("error transform")
		list, inPlace = r.withoutFailures(list)
		if err := r.queue.Replace(anyOf(list), s.args[0]); err != nil {
			return err
		}
	}
	if r.delta == nil {
		return nil
	}
	var touched []string
	for key := range r.countsByKey() {
		if before[key] > 0 || !slices.Contains(inPlace, key) {
			touched = append(touched, key)
		}
	}
	if len(touched) > 0 {
		slices.Sort(touched)
		r.add("%s", wordsAfter("touched", touched))
	}
	r.relist = !r.isEmpty()
	if err != nil {
		r.observe()
		r.drain(false)
	}
	return nil
}

// withoutFailures is the list as a producer brings it again, and the keys of which only something
// older is in it.
func (r *queueRun) withoutFailures(list []*v1.ConfigMap) ([]*v1.ConfigMap, []string) {
	good := map[string]bool{}
	for _, object := range list {
		if object.Labels[badLabel] == "" {
			good[object.Name] = true
		}
	}
	var again []*v1.ConfigMap
	older, there := map[string]bool{}, map[string]bool{}
	for _, object := range list {
		key := object.Name
		if object.Labels[badLabel] == "" {
			again = append(again, object)
			there[key] = true
			continue
		}
		// A DeltaFIFO has what was before the failure already.
		known := r.newestOf(key, false)
		if known == nil || there[key] || good[key] && r.delta != nil {
			continue
		}
		there[key] = true
		known = known.DeepCopy()
		known.Labels[keptLabel] = "yes"
		older[key] = true
		again = append(again, known)
	}
	inPlace := slices.DeleteFunc(slices.Collect(maps.Keys(older)), func(key string) bool {
		return good[key]
	})
	return again, inPlace
}

func (r *queueRun) countsByKey() map[string]int {
	counts := map[string]int{}
	if r.delta != nil {
		for key, deltas := range r.waitingByKey() {
			counts[key] = len(deltas)
		}
	}
	return counts
}

func anyOf(list []*v1.ConfigMap) []any {
	objects := make([]any, 0, len(list))
	for _, object := range list {
		objects = append(objects, object)
	}
	return objects
}
