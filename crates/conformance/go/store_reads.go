// What a scenario of the level "store" asks: the indexer, the listers, the key functions.

package judge

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"
)

type typesUID = types.UID

func (r *storeRun) read(s step) error {
	switch s.verb {
	case "get":
		return r.get(s)
	case "get-named":
		return r.getNamed(s)
	case "keys":
		keys := r.indexer.ListKeys()
		slices.Sort(keys)
		r.add("%s", wordsAfter("keys", keys))
	case "list", "count":
		return r.list(s)
	case "hold":
		r.held = r.indexer.List()
	case "held":
		r.add("%s", wordsAfter("held", sortedWords(r.held)))
	case "indexes":
		var names []string
		for name := range r.indexer.GetIndexers() {
			names = append(names, name)
		}
		slices.Sort(names)
		r.add("%s", wordsAfter("indexes", names))
	case "by-index", "index-of", "index-keys", "index-values":
		return r.index(s)
	default:
		return r.readKey(s)
	}
	return nil
}

func (r *storeRun) get(s step) error {
	object, found, err := r.indexer.GetByKey(unquoted(s.arg(0)))
	if err != nil {
		return err
	}
	if !found {
		r.add("get none")
		return nil
	}
	r.add("get %s", fullWordOf(object))
	return nil
}

// getNamed asks a lister of one namespace, "*" is the one of the whole cluster.
func (r *storeRun) getNamed(s step) error {
	lister := cache.NewGenericLister(r.indexer, v1.Resource("configmaps"))
	get := lister.Get
	if namespace := unquoted(s.arg(0)); namespace != "*" {
		get = lister.ByNamespace(namespace).Get
	}
	object, err := get(s.arg(1))
	switch {
	case apierrors.IsNotFound(err):
		r.add("get none")
	case err != nil:
		return err
	default:
		r.add("get %s", wordOf(object))
	}
	return nil
}

// list is all, or "labels <selector>", or "namespace <namespace> [selector]".
func (r *storeRun) list(s step) error {
	var found []any
	collect := func(object any) { found = append(found, object) }
	var err error
	switch {
	case len(s.args) == 0:
		found = r.indexer.List()
	case s.args[0] == "labels":
		var selector labels.Selector
		if selector, err = selectorOf(s.args[1:]); err == nil {
			err = cache.ListAll(r.indexer, selector, collect)
		}
	case s.args[0] == "namespace" && len(s.args) > 1:
		var selector labels.Selector
		if selector, err = selectorOf(s.args[2:]); err == nil {
			err = cache.ListAllByNamespace(r.indexer, unquoted(s.args[1]), selector, collect)
		}
	default:
		err = fmt.Errorf("what is to be listed?")
	}
	if s.verb == "count" {
		r.add("count %d", len(found))
	} else {
		r.add("%s", wordsAfter("list", sortedWords(found)))
	}
	return err
}

func selectorOf(words []string) (labels.Selector, error) {
	switch text := strings.Join(words, " "); text {
	case "", "everything":
		return labels.Everything(), nil
	case "nothing":
		return labels.Nothing(), nil
	default:
		return labels.Parse(text)
	}
}

func (r *storeRun) index(s step) error {
	name, value := s.arg(0), unquoted(s.arg(1))
	var found []any
	var err error
	switch s.verb {
	case "by-index":
		found, err = r.indexer.ByIndex(name, value)
	case "index-of":
		object, malformed := storeObject(s.arg(1))
		if malformed != nil {
			return malformed
		}
		found, err = r.indexer.Index(name, object)
	case "index-values":
		values := r.indexer.ListIndexFuncValues(name)
		slices.Sort(values)
		r.add("%s", wordsAfter("values", quoted(values)))
		return nil
	case "index-keys":
		var keys []string
		if keys, err = r.indexer.IndexKeys(name, value); err == nil {
			r.add("%s", wordsAfter("keys", keys))
			return nil
		}
	}
	switch {
	case err == nil:
		r.add("%s", wordsAfter("found", sortedWords(found)))
	case strings.HasSuffix(err.Error(), "does not exist"):
		r.add("error unknown-index")
	default:
		r.add("error function")
	}
	return nil
}

// readKey asks the functions that know no store.
func (r *storeRun) readKey(s step) error {
	switch s.verb {
	case "split":
		namespace, name, err := cache.SplitMetaNamespaceKey(unquoted(s.arg(0)))
		if err != nil {
			r.add("error key")
			return nil
		}
		r.add("namespace=%s name=%s", namespace, name)
	case "key-of":
		object, err := storeObject(s.arg(0))
		if err != nil {
			return err
		}
		key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object)
		if err != nil {
			r.add("error key")
			return nil
		}
		r.add("key %s", key)
	case "deleted":
		return r.deleted(s)
	case "compare":
		order, err := resourceversion.CompareResourceVersion(unquoted(s.arg(0)), unquoted(s.arg(1)))
		if err != nil {
			r.add("error version")
			return nil
		}
		r.add("%s", []string{"older", "equal", "newer"}[order+1])
	default:
		return fmt.Errorf("nobody understands this step")
	}
	return nil
}

// deleted shows what a handler learns of an object that is gone.
func (r *storeRun) deleted(s step) error {
	object, err := storeObject(s.arg(0))
	if err != nil {
		return err
	}
	var deleted cache.DeletedObject[*v1.ConfigMap]
	switch object := object.(type) {
	case *v1.ConfigMap:
		deleted.OptionalObj = object
	case cache.DeletedFinalStateUnknown:
		deleted.FinalStateUnknown = &object
		deleted.OptionalObj, _ = object.Obj.(*v1.ConfigMap)
	default:
		return fmt.Errorf("it was no object")
	}
	name, err := cache.DeletionHandlingObjectToName(object)
	if err != nil {
		return err
	}
	last, how := "none", "seen"
	if deleted.OptionalObj != nil {
		last = wordOf(deleted.OptionalObj)
	}
	if deleted.FinalStateUnknown != nil {
		how = "last known"
	}
	r.add("key %s, namespace=%s name=%s, %s %s",
		deleted.GetKey(), name.Namespace, name.Name, how, last)
	return nil
}

// wordsAfter is a word and what it is about.
func wordsAfter(head string, words []string) string {
	return strings.Join(append([]string{head}, words...), " ")
}

// arg is an argument, or nothing.
func (s step) arg(position int) string {
	if position < len(s.args) {
		return s.args[position]
	}
	return ""
}

// unquoted lets "" stand for no text at all.
func unquoted(word string) string {
	if word == `""` {
		return ""
	}
	return word
}

func quoted(values []string) []string {
	words := make([]string, 0, len(values))
	for _, value := range values {
		if value == "" {
			value = `""`
		}
		words = append(words, value)
	}
	return words
}
