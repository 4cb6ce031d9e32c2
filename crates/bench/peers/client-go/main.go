// Command bench-client-go drives client-go's shared informer against the fixture server, with the
// same flags and the same report as the drivers in Rust. With -render it writes the server's pods
// in protobuf instead, so that client-go can be measured on its fastest path.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// settleTime is how long memory may settle before it is read.
const settleTime = 2 * time.Second

type commandLine struct {
	server, variant, list, render  string
	objects, events, changed, rate uint64
	readers, seconds, joins        uint64
	handlers, informers            int
	floor                          bool
}

func parse() *commandLine {
	c := &commandLine{}
	flag.StringVar(&c.server, "server", "", "host and port of the server")
	flag.StringVar(&c.variant, "variant", "json", "json or protobuf; parts, for single operations; idle")
	flag.StringVar(&c.list, "list", "list", "list or watch-list")
	flag.StringVar(&c.render, "render", "", "write the pods in protobuf to this file, and end")
	flag.Uint64Var(&c.objects, "objects", 0, "how many pods the server has")
	flag.Uint64Var(&c.events, "events", 0, "how many changes are sent as fast as they are taken")
	flag.IntVar(&c.handlers, "handlers", 1, "how many handlers")
	flag.Uint64Var(&c.changed, "changed", 0, "how many objects a relist finds changed")
	flag.Uint64Var(&c.rate, "rate", 0, "changes a second, to measure latency")
	flag.Uint64Var(&c.readers, "readers", 1, "how many readers there are beside the writer of a store")
	flag.Uint64Var(&c.seconds, "seconds", 1, "for how long changes come at the rate, or the writer of a store writes")
	flag.Uint64Var(&c.joins, "joins", 0, "how many handlers join late, while changes come at the rate")
	flag.IntVar(&c.informers, "informers", 1, "how many informers there are where they are idle")
	flag.BoolVar(&c.floor, "floor", false, "only sleep until the input ends, and print how late that was")
	flag.Parse()
	return c
}

func main() {
	c := parse()
	work := measure
	switch {
	case c.floor:
		work = sleepOnly
	case c.render != "":
		work = render
	case c.variant == "beside-all", c.variant == "beside-namespace":
		work = beside
	}
	if err := work(c); err != nil {
		fmt.Fprintln(os.Stderr, "bench-client-go:", err)
		os.Exit(1)
	}
}

func measure(c *commandLine) error {
	// Read by client-go when it first asks.
	if err := os.Setenv("KUBE_FEATURE_WatchListClient", fmt.Sprint(c.list == "watch-list")); err != nil {
		return err
	}
	if c.variant == "parts" {
		r := newRun(c)
		if err := r.parts(); err != nil {
			return err
		}
		return r.print()
	}
	config := &rest.Config{Host: "http://" + c.server, QPS: -1}
	switch c.variant {
	case "json", "idle":
		config.ContentType = runtime.ContentTypeJSON
	case "protobuf":
		config.ContentType = runtime.ContentTypeProtobuf
		config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	default:
		return fmt.Errorf("no variant %q", c.variant)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	r := newRun(c)
	follow := r.follow
	switch {
	case c.variant == "idle":
		follow = r.idle
	case c.joins > 0:
		follow = r.late
	}
	if err := follow(client); err != nil {
		return err
	}
	return r.print()
}

func (r *run) print() error {
	report := map[string]any{"peer": "client-go", "metrics": r.metrics}
	return json.NewEncoder(os.Stdout).Encode(report)
}

// follow runs the phases that the command line asks for.
func (r *run) follow(client kubernetes.Interface) error {
	r.goal.expect(r.objects)
	r.metrics["start_rss"] = memory("VmRSS:")
	begin, err := r.begin()
	if err != nil {
		return err
	}
	informer, err := r.start(client)
	if err != nil {
		return err
	}
	if err := r.finish("sync", begin); err != nil {
		return err
	}
	r.metrics["sync_rss"] = memory("VmRSS:")
	r.settle("sync")
	if stored := len(informer.GetStore().ListKeys()); uint64(stored) != r.objects {
		return fmt.Errorf("%d objects stored", stored)
	}
	if r.events > 0 {
		path := fmt.Sprintf("/bench/change?count=%d", r.events)
		if err := r.phase("events", r.events, path); err != nil {
			return err
		}
	}
	if r.rate > 0 {
		if err := r.latency(); err != nil {
			return err
		}
	}
	if r.changed > 0 {
		r.settle("before_relist")
		forgetPeak()
		path := fmt.Sprintf("/bench/expire?count=%d", r.changed)
		if err := r.phase("relist", r.changed, path); err != nil {
			return err
		}
		r.settle("relist")
	}
	return nil
}

func (r *run) start(client kubernetes.Interface) (cache.SharedIndexInformer, error) {
	informer := newInformer(client, "")
	for range r.handlers {
		counter := &tally{goal: r.goal}
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(object any) { counter.add(object) },
			UpdateFunc: func(_, object any) { counter.add(object) },
		})
		if err != nil {
			return nil, err
		}
	}
	go informer.RunWithContext(context.Background())
	return informer, nil
}

// newInformer follows the pods that a selector of labels finds, or all if it is empty.
func newInformer(client kubernetes.Interface, selector string) cache.SharedIndexInformer {
	pods := client.CoreV1().Pods(metav1.NamespaceAll)
	source := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			options.LabelSelector = selector
			return pods.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.LabelSelector = selector
			return pods.Watch(ctx, options)
		},
	}
	lw := cache.ToListWatcherWithWatchListSemantics(source, client)
	return cache.NewSharedIndexInformer(lw, &corev1.Pod{}, 0, cache.Indexers{})
}

// settle reads memory after the collector has given back what it can: the least it needs.
func (r *run) settle(phase string) {
	r.metrics[phase+"_peak_rss"] = memory("VmHWM:")
	time.Sleep(settleTime)
	debug.FreeOSMemory()
	r.metrics[phase+"_steady_rss"] = memory("VmRSS:")
}
