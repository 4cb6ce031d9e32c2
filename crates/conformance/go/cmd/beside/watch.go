package main

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// wanted is one informer: what it follows, in which form, and whether a handler is reminded.
type wanted struct {
	Name      string `json:"name"`
	Form      string `json:"form"`
	Group     string `json:"group"`
	Version   string `json:"version"`
	Resource  string `json:"resource"`
	Namespace string `json:"namespace"`
	Selector  string `json:"selector"`
	// ResyncMillis is the period of the handler that is reminded; zero for an informer without one.
	ResyncMillis int `json:"resyncMillis"`
}

// followed is one running informer.
type followed struct {
	name     string
	informer cache.SharedIndexInformer
}

func follow(config *rest.Config, all []wanted, out *output) ([]followed, error) {
	makeInformer, err := maker(config)
	if err != nil {
		return nil, err
	}
	var running []followed
	for _, w := range all {
		informer, err := makeInformer(w)
		if err != nil {
			return nil, err
		}
		f := followed{name: w.Name, informer: informer}
		if err := f.join("first", 0, out); err != nil {
			return nil, err
		}
		if w.ResyncMillis > 0 {
			if err := f.join("reminded", w.resync(), out); err != nil {
				return nil, err
			}
		}
		running = append(running, f)
	}
	for _, f := range running {
		go f.informer.RunWithContext(context.Background())
	}
	return running, nil
}

func (w wanted) resync() time.Duration {
	return time.Duration(w.ResyncMillis) * time.Millisecond
}

func (w wanted) resource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: w.Group, Version: w.Version, Resource: w.Resource}
}

func (w wanted) tweak(options *metav1.ListOptions) { options.LabelSelector = w.Selector }

// maker is what makes informers of every form.
func maker(config *rest.Config) (func(wanted) (cache.SharedIndexInformer, error), error) {
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	untyped, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	meta, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return func(w wanted) (cache.SharedIndexInformer, error) {
		none := cache.Indexers{}
		switch w.Form + " " + w.Resource {
		case "typed pods":
			return coreinformers.NewFilteredPodInformer(
				typed, w.Namespace, w.resync(), none, w.tweak), nil
		case "typed configmaps":
			return coreinformers.NewFilteredConfigMapInformer(
				typed, w.Namespace, w.resync(), none, w.tweak), nil
		}
		switch w.Form {
		case "dynamic":
			return dynamicinformer.NewFilteredDynamicInformer(
				untyped, w.resource(), w.Namespace, w.resync(), none, w.tweak).Informer(), nil
		case "metadata":
			return metadatainformer.NewFilteredMetadataInformer(
				meta, w.resource(), w.Namespace, w.resync(), none, w.tweak).Informer(), nil
		}
		return nil, fmt.Errorf("no informer of form %q for %q", w.Form, w.Resource)
	}, nil
}

// join adds a handler that writes down what it is told.
func (f followed) join(handler string, resync time.Duration, out *output) error {
	told := func(event event) {
		event.Handler = handler
		event.Informer = f.name
		out.write(record{Told: &event})
	}
	_, err := f.informer.AddEventHandlerWithOptions(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, initial bool) {
			told(event{Kind: "added", Key: keyOf(object), New: stateOf(object), Initial: initial})
		},
		UpdateFunc: func(before, after any) {
			told(event{
				Kind: "updated", Key: keyOf(after), Old: stateOf(before), New: stateOf(after),
			})
		},
		DeleteFunc: func(object any) {
			if missed, is := object.(cache.DeletedFinalStateUnknown); is {
				told(event{Kind: "missed", Key: missed.Key, New: stateOf(missed.Obj)})
				return
			}
			told(event{Kind: "deleted", Key: keyOf(object), New: stateOf(object)})
		},
	}, cache.HandlerOptions{ResyncPeriod: &resync})
	return err
}

// store is everything the informer holds.
func (f followed) store() record {
	objects := map[string]*state{}
	for _, object := range f.informer.GetStore().List() {
		objects[keyOf(object)] = stateOf(object)
	}
	return record{Store: f.name, Objects: objects}
}
