// client-go's informer, as anyone would build one: a REST client, a ListWatch, a shared informer.
package judge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/features"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// gates are client-go's defaults but for one.
type gates struct {
	features.Gates
	streaming atomic.Bool
}

func (g *gates) Enabled(f features.Feature) bool {
	if f == features.WatchListClient {
		return g.streaming.Load()
	}
	return g.Gates.Enabled(f)
}

var gatesInUse = func() *gates {
	g := &gates{Gates: features.FeatureGates()}
	features.ReplaceFeatureGates(g)
	for _, on := range []features.Feature{
		features.WatchListClient, features.InOrderInformers, features.AtomicFIFO,
		features.InOrderInformersBatchProcess, features.UnlockWhileProcessingFIFO,
	} {
		if !g.Gates.Enabled(on) {
			panic(fmt.Sprintf("%s is not at its default", on))
		}
	}
	// A panic in a handler is part of some scenarios, and reports of errors are no part of any.
	utilruntime.ReallyCrash = false
	utilruntime.ErrorHandlers = nil
	utilruntime.PanicHandlers = nil
	klog.SetLogger(klog.Logger{})
	return g
}()

// client is one informer and all that belongs to it.
type client struct {
	informer cache.SharedIndexInformer
	handlers map[string]*handler
	// The last that left under a name: it may be asked to leave again.
	left map[string]*handler
	// Those that left, too: they may still be told something.
	all       []*handler
	cancel    context.CancelFunc
	done      chan struct{}
	isStopped bool
	// Starts after the first.
	again    sync.WaitGroup
	failures *failures
}

// newClient builds an informer over a transport, as the settings say.
func newClient(s scenario, transport http.RoundTripper, host string) (*client, error) {
	gatesInUse.streaming.Store(s.setting("client", "streaming") == "streaming")
	config := &rest.Config{
		Host: host, APIPath: "/api", QPS: -1,
		ContentConfig: rest.ContentConfig{
			GroupVersion:         &schema.GroupVersion{Version: "v1"},
			NegotiatedSerializer: scheme.Codecs.WithoutConversion(),
			ContentType:          "application/json",
		},
	}
	rc, err := rest.RESTClientForConfigAndClient(config, &http.Client{Transport: transport})
	if err != nil {
		return nil, err
	}
	namespace := s.setting("namespace", "all")
	if namespace == "all" {
		namespace = metav1.NamespaceAll
	}
	labels := s.setting("labels", "")
	source := cache.NewFilteredListWatchFromClient(rc, "configmaps", namespace,
		func(options *metav1.ListOptions) { options.LabelSelector = labels })
	resync, err := duration(s.setting("resync", "0"))
	if err != nil {
		return nil, err
	}
	indexers := cache.Indexers{}
	if s.setting("index", "none") == "data" {
		indexers["data"] = indexData
	}
	c := &client{handlers: map[string]*handler{}, left: map[string]*handler{}, failures: &failures{}}
	c.informer = cache.NewSharedIndexInformerWithOptions(source, &v1.ConfigMap{},
		cache.SharedIndexInformerOptions{ResyncPeriod: resync, Indexers: indexers})
	if err := c.informer.SetWatchErrorHandlerWithContext(c.failures.write); err != nil {
		return nil, err
	}
	return c, c.setTransform(s.setting("transform", "none"))
}

// duration reads a time; a bare 0 is one, too.
func duration(text string) (time.Duration, error) {
	if text == "0" {
		return 0, nil
	}
	return time.ParseDuration(text)
}

func indexData(o any) ([]string, error) {
	m, is := o.(*v1.ConfigMap)
	if !is || m.Data["v"] == "" {
		return nil, nil
	}
	return []string{m.Data["v"]}, nil
}

func (c *client) setTransform(name string) error {
	transforms := map[string]cache.TransformFunc{
		"fail": func(o any) (any, error) {
			if m, is := o.(*v1.ConfigMap); is && m.Data["v"] == "bad" {
				return nil, errors.New("bad data")
			}
			return o, nil
		},
		"keyless": func(o any) (any, error) {
			if m, is := o.(*v1.ConfigMap); is && m.Data["v"] == "bad" {
				return "no metadata", nil
			}
			return o, nil
		},
		"mark": func(o any) (any, error) {
			if m, is := o.(*v1.ConfigMap); is && m.Data["v"] != "" {
				m.Data["v"] += "+"
			}
			return o, nil
		},
		"strip": func(o any) (any, error) {
			if m, is := o.(*v1.ConfigMap); is {
				m.Data = nil
			}
			return o, nil
		},
		"blank": func(o any) (any, error) {
			if m, is := o.(*v1.ConfigMap); is {
				m.ResourceVersion = ""
			}
			return o, nil
		},
	}
	if name == "none" {
		return nil
	}
	transform, known := transforms[name]
	if !known {
		return fmt.Errorf("no transform %q", name)
	}
	return c.informer.SetTransform(transform)
}

// start runs the informer. A second start is left to client-go, which returns at once: if it
// ran, its requests would be in the trace, and the scenario would not end.
func (c *client) start() {
	if c.cancel != nil {
		c.again.Go(func() { c.informer.RunWithContext(context.Background()) })
		return
	}
	var ctx context.Context
	ctx, c.cancel = context.WithCancel(context.Background())
	c.done = make(chan struct{})
	go func() {
		defer close(c.done)
		c.informer.RunWithContext(ctx)
	}()
}

// isRunning says whether it was started, and not stopped.
func (c *client) isRunning() bool { return c.cancel != nil && !c.isStopped }

func (c *client) stop() {
	if c.isRunning() {
		c.isStopped = true
		c.cancel()
	}
}

// shutDown ends everything, and waits until it has ended; time may pass.
func (c *client) shutDown() {
	for _, h := range c.all {
		h.unblock()
	}
	c.stop()
	if c.done != nil {
		<-c.done
	}
	c.again.Wait()
}
