package main

import (
	"bufio"
	"encoding/json"
	"io"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
)

// record is one line of the output; one of its fields says which kind of record it is.
type record struct {
	Told    *event            `json:"told,omitempty"`
	Store   string            `json:"store,omitempty"`
	Objects map[string]*state `json:"objects,omitempty"`
	Joined  string            `json:"joined,omitempty"`
	Asked   *counts           `json:"asked,omitempty"`

	last bool
}

// event is what a handler was told.
type event struct {
	Informer string `json:"informer"`
	Handler  string `json:"handler"`
	Kind     string `json:"kind"`
	Key      string `json:"key"`
	Old      *state `json:"old,omitempty"`
	New      *state `json:"new,omitempty"`
	Initial  bool   `json:"initial,omitempty"`
}

// state is one version of one object.
type state struct {
	UID     string `json:"uid"`
	Version string `json:"version"`
}

func stateOf(object any) *state {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return nil
	}
	return &state{UID: string(accessor.GetUID()), Version: accessor.GetResourceVersion()}
}

func keyOf(object any) string {
	key, err := cache.MetaNamespaceKeyFunc(object)
	if err != nil {
		return "?"
	}
	return key
}

// output writes records in the order in which they are given, and never keeps one back for long.
type output struct {
	records chan record
	done    chan error
}

func newOutput(to io.Writer) *output {
	o := &output{records: make(chan record, 4096), done: make(chan error, 1)}
	go func() { o.done <- drain(o.records, bufio.NewWriterSize(to, 1<<16)) }()
	return o
}

func (o *output) write(r record) { o.records <- r }

// close writes what is left. Handlers may still be told things, which nobody reads any more.
func (o *output) close() error {
	o.records <- record{last: true}
	return <-o.done
}

func drain(records <-chan record, to *bufio.Writer) error {
	lines := json.NewEncoder(to)
	for r := range records {
		if r.last {
			break
		}
		if err := lines.Encode(r); err != nil {
			return err
		}
		if len(records) == 0 {
			if err := to.Flush(); err != nil {
				return err
			}
		}
	}
	return to.Flush()
}
