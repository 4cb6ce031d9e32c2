// The objects of the level "store", and the functions they are indexed by.

package judge

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// storeObject reads a word; SCENARIOS.md says what it may look like.
func storeObject(word string) (any, error) {
	if word == "keyless" {
		return keyless{}, nil
	}
	if key, bare := strings.CutPrefix(word, "key:"); bare {
		return cache.ExplicitKey(key), nil
	}
	if rest, gone := strings.CutPrefix(word, "gone:"); gone {
		key, _, seen := strings.Cut(rest, "@")
		if !seen {
			return cache.DeletedFinalStateUnknown{Key: key}, nil
		}
		object, err := storeObject(rest)
		return cache.DeletedFinalStateUnknown{Key: key, Obj: object}, err
	}
	head, attributes, _ := strings.Cut(word, "+")
	key, version, found := strings.Cut(head, "@")
	if !found {
		return nil, fmt.Errorf("an object has a version: %q", word)
	}
	object := &v1.ConfigMap{}
	object.Name, object.ResourceVersion = key, version
	if namespace, name, split := strings.Cut(key, "/"); split && attributes != "cluster" {
		object.Namespace, object.Name = namespace, name
	}
	if attributes != "" && attributes != "cluster" {
		for attribute := range strings.SplitSeq(attributes, "+") {
			attach(object, attribute)
		}
	}
	return object, nil
}

func storeObjects(words []string) ([]any, error) {
	var objects []any
	for _, word := range words {
		object, err := storeObject(word)
		if err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// keyless is a thing without metadata.
type keyless struct{}

func attach(object *v1.ConfigMap, attribute string) {
	name, value, _ := strings.Cut(attribute, "=")
	switch name {
	case "data":
		object.Data = map[string]string{"v": value}
	case "owner", "controller":
		controller := name == "controller"
		for uid := range strings.SplitSeq(value, ",") {
			object.OwnerReferences = append(object.OwnerReferences, metav1.OwnerReference{
				UID: typesUID(uid), Controller: &controller,
			})
		}
	default:
		if object.Labels == nil {
			object.Labels = map[string]string{}
		}
		object.Labels[name] = value
	}
}

// wordOf is an object as the trace shows it.
func wordOf(object any) string {
	switch object := object.(type) {
	case *v1.ConfigMap:
		return cache.MetaObjectToName(object).String() + "@" + object.ResourceVersion
	case cache.ExplicitKey:
		return string(object) + "@"
	default:
		return fmt.Sprintf("%T", object)
	}
}

// fullWordOf shows the labels and the data too.
func fullWordOf(object any) string {
	word := wordOf(object)
	configMap, plain := object.(*v1.ConfigMap)
	if !plain {
		return word
	}
	if data, found := configMap.Data["v"]; found {
		word += "+data=" + data
	}
	var labels []string
	for name, value := range configMap.Labels {
		labels = append(labels, "+"+name+"="+value)
	}
	slices.Sort(labels)
	return word + strings.Join(labels, "")
}

func sortedWords(objects []any) []string {
	words := make([]string, 0, len(objects))
	for _, object := range objects {
		words = append(words, wordOf(object))
	}
	slices.Sort(words)
	return words
}

// indexFunctions are what an index may be made of.
var indexFunctions = map[string]cache.IndexFunc{
	"data":  ofObject(dataOf),
	"parts": ofObject(partsOf),
	"label": ofObject(labelOf),
	"owner": ofObject(func(object *v1.ConfigMap) ([]string, error) {
		return uidsOf(object, false), nil
	}),
	"controller": ofObject(func(object *v1.ConfigMap) ([]string, error) {
		return uidsOf(object, true), nil
	}),
	"name": ofObject(func(object *v1.ConfigMap) ([]string, error) {
		return []string{object.Name}, nil
	}),
	"same": ofObject(func(*v1.ConfigMap) ([]string, error) { return []string{"same"}, nil }),
	"bad": ofObject(func(object *v1.ConfigMap) ([]string, error) {
		if object.Data["v"] == "bad" {
			return nil, errors.New("bad data")
		}
		return dataOf(object)
	}),
	"namespace": cache.MetaNamespaceIndexFunc,
}

// ofObject leaves out what is no object: there is nothing to index it by.
func ofObject(f func(*v1.ConfigMap) ([]string, error)) cache.IndexFunc {
	return func(object any) ([]string, error) {
		configMap, plain := object.(*v1.ConfigMap)
		if !plain {
			return nil, nil
		}
		return f(configMap)
	}
}

func dataOf(object *v1.ConfigMap) ([]string, error) {
	if data, found := object.Data["v"]; found {
		return []string{data}, nil
	}
	return nil, nil
}

func partsOf(object *v1.ConfigMap) ([]string, error) {
	if data, found := object.Data["v"]; found {
		return strings.Split(data, ","), nil
	}
	return nil, nil
}

func labelOf(object *v1.ConfigMap) ([]string, error) {
	if value, found := object.Labels["l"]; found {
		return []string{value}, nil
	}
	return nil, nil
}

func uidsOf(object *v1.ConfigMap, controllers bool) []string {
	var uids []string
	for _, owner := range object.OwnerReferences {
		if *owner.Controller || !controllers {
			uids = append(uids, string(owner.UID))
		}
	}
	return uids
}
