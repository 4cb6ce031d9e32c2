// The objects of the level "queue", and how what a queue hands out is written down.

package judge

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// What is known of an object beside its version.
const (
	// markLabel has a t for each time it was transformed.
	markLabel = "marks"
	// badLabel: a transform fails for it.
	badLabel = "bad"
	// lateLabel: it was brought after the end.
	lateLabel = "late"
	// keptLabel: it was transformed before, and is brought again.
	keptLabel = "kept"
)

// queueObject reads "key@version" or "key@version!".
func queueObject(word string) (*v1.ConfigMap, error) {
	key, version, found := strings.Cut(word, "@")
	if !found || key == "" {
		return nil, fmt.Errorf("an object has a key and a version: %q", word)
	}
	object := &v1.ConfigMap{}
	version, bad := strings.CutSuffix(version, "!")
	object.Name, object.ResourceVersion = key, version
	object.Labels = map[string]string{}
	if bad {
		object.Labels[badLabel] = "!"
	}
	return object, nil
}

// markObject is the transform "mark".
func markObject(object any) (any, error) {
	configMap := object.(*v1.ConfigMap)
	switch {
	case configMap.Labels[keptLabel] != "":
		return configMap, nil
	case configMap.Labels[badLabel] != "":
		return nil, errors.New("a bad object")
	}
	marked := configMap.DeepCopy()
	marked.Labels[markLabel] += "t"
	return marked, nil
}

// versionOf is all there is to say of an object beside its key.
func versionOf(object *v1.ConfigMap) string {
	labels := object.Labels
	return object.ResourceVersion + labels[badLabel] + labels[markLabel] + labels[lateLabel]
}

func withVersion(head string, object *v1.ConfigMap) string {
	return head + "@" + versionOf(object)
}

// deltaWord is one change, without its key.
func deltaWord(delta cache.Delta) string {
	switch object := delta.Object.(type) {
	case *v1.ConfigMap:
		return withVersion(string(delta.Type), object)
	case cache.DeletedFinalStateUnknown:
		if last, known := object.Obj.(*v1.ConfigMap); known && last != nil {
			return withVersion("Gone", last)
		}
		return "Gone"
	default:
		return fmt.Sprintf("%T", object)
	}
}

// workLine is what one pop handed out.
func workLine(deltas cache.Deltas) string {
	switch object := deltas[0].Object.(type) {
	case cache.ReplacedAllInfo:
		words := []string{object.ResourceVersion}
		for _, one := range object.Objects {
			configMap := one.(*v1.ConfigMap)
			words = append(words, withVersion(configMap.Name, configMap))
		}
		return wordsAfter("list", words)
	case cache.SyncAllInfo:
		return "resync"
	case cache.BookmarkInfo:
		return "bookmark " + object.ResourceVersion
	}
	words := []string{}
	for _, delta := range deltas {
		words = append(words, deltaWord(delta))
	}
	return wordsAfter(keyOfDelta(deltas[0]), words)
}

func keyOfDelta(delta cache.Delta) string {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(delta.Object)
	if err != nil {
		return "?"
	}
	return key
}

// hidden reaches a field that client-go's own tests read and write, too: a queue does not say
// what waits in it, and the size of a batch is no option.
func hidden[T any](owner any, name string) *T {
	field := reflect.ValueOf(owner).Elem().FieldByName(name)
	return (*T)(unsafe.Pointer(field.UnsafeAddr()))
}

// waitingByKey is what waits in a DeltaFIFO.
func (r *queueRun) waitingByKey() map[string]cache.Deltas {
	return *hidden[map[string]cache.Deltas](r.delta, "items")
}

// waitingInOrder is what waits in a RealFIFO.
func (r *queueRun) waitingInOrder() []cache.Delta {
	return *hidden[[]cache.Delta](r.real, "items")
}

// isEmpty says whether there is nothing to be popped. Bookmarks never wait at the head.
func (r *queueRun) isEmpty() bool {
	if r.delta != nil {
		return len(r.waitingByKey()) == 0
	}
	return len(r.waitingInOrder()) == 0
}

// newestPending is the newest change of a key that waits or is being processed.
func (r *queueRun) newestPending(key string) *cache.Delta {
	if r.delta != nil {
		return r.waitingByKey()[key].Newest()
	}
	waiting := slices.Concat(r.processed, r.waitingInOrder())
	for at := len(waiting) - 1; at >= 0; at-- {
		switch object := waiting[at].Object.(type) {
		case cache.SyncAllInfo, cache.BookmarkInfo:
		case cache.ReplacedAllInfo:
			// A key that is not in the list is gone.
			newest := &cache.Delta{Type: cache.Deleted}
			for _, one := range object.Objects {
				if one.(*v1.ConfigMap).Name == key {
					newest = &cache.Delta{Type: cache.Replaced, Object: one}
				}
			}
			return newest
		default:
			if keyOfDelta(waiting[at]) == key {
				return &waiting[at]
			}
		}
	}
	return nil
}
