package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	machinery "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// The same as in the operations in Rust: crates/bench/src/parts.
const (
	nodes       = 50
	changing    = 10_000
	passingPods = 1_000
	batches     = 15
	longEnough  = 10 * time.Millisecond
	crowdRounds = 9
	crowdCalls  = 100_000
)

// parts measures single operations, with the server's pods and without a watch.
func (r *run) parts() error {
	pods, err := r.download()
	if err != nil {
		return err
	}
	r.storeParts(pods)
	deltaFIFO := cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{
		KnownObjects:          cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}),
		EmitDeltaTypeReplaced: true,
	})
	r.operation("queue_delta_fifo", queuePart(deltaFIFO, pods))
	inOrder := cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{
		KeyFunction:           cache.MetaNamespaceKeyFunc,
		AtomicEvents:          true,
		EmitDeltaTypeBookmark: true,
	})
	r.operation("queue_in_order", queuePart(inOrder, pods))
	for _, handlers := range []int{1, 10, 100} {
		if err := r.crowd(handlers, pods); err != nil {
			return err
		}
	}
	return nil
}

// download takes all pods of the server.
func (r *run) download() ([]*corev1.Pod, error) {
	var pods []*corev1.Pod
	for token := ""; ; {
		page, err := page(r.server, token)
		if err != nil {
			return nil, err
		}
		for i := range page.Items {
			pods = append(pods, &page.Items[i])
		}
		if token = page.Continue; token == "" {
			break
		}
	}
	if uint64(len(pods)) != r.objects {
		return nil, fmt.Errorf("%d pods listed", len(pods))
	}
	return pods, nil
}

// scattered is each pod once, in an order that defeats caches, and then again.
func scattered(pods []*corev1.Pod, turn int) *corev1.Pod {
	return pods[turn%len(pods)*2_654_435_761%len(pods)]
}

// passing is one that was decoded a moment ago, and is not fetched from memory once more.
func passing(pods []*corev1.Pod, turn int) *corev1.Pod {
	return scattered(pods[:min(passingPods, len(pods))], turn)
}

func (r *run) storeParts(pods []*corev1.Pod) {
	byNode := func(object any) ([]string, error) {
		return []string{object.(*corev1.Pod).Spec.NodeName}, nil
	}
	store := filled(pods, cache.Indexers{"node": byNode})
	var keys []string
	for turn := range pods {
		key, _ := cache.MetaNamespaceKeyFunc(scattered(pods, turn))
		keys = append(keys, key)
	}
	next, found, read := 0, 0, 0
	r.operation("store_get", func(times int) {
		for range times {
			next = (next + 1) % len(keys)
			if _, exists, _ := store.GetByKey(keys[next]); exists {
				found++
			}
		}
	})
	node := func() string {
		next++
		return fmt.Sprintf("node-%03d.cluster.example", next%nodes)
	}
	r.operation("store_by_index_collect", func(times int) {
		for range times {
			all, _ := store.ByIndex("node", node())
			found += len(all)
		}
	})
	r.operation("store_by_index", func(times int) {
		for range times {
			all, _ := store.ByIndex("node", node())
			read += visit(all)
		}
	})
	r.operation("store_list", func(times int) {
		for range times {
			found += len(store.List())
		}
	})
	r.operation("store_iterate", func(times int) {
		for range times {
			read += visit(store.List())
		}
	})
	updated := filled(pods, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	r.operation("store_update", updatePart(updated, pods))
	runtime.KeepAlive(found + read)
}

func filled(pods []*corev1.Pod, indexers cache.Indexers) cache.Indexer {
	store := cache.NewIndexer(cache.MetaNamespaceKeyFunc, indexers)
	objects := make([]any, 0, len(pods))
	for _, pod := range pods {
		objects = append(objects, pod)
	}
	_ = store.Replace(objects, "1")
	return store
}

// visit reads something of each object itself.
func visit(objects []any) int {
	read := 0
	for _, object := range objects {
		read += len(object.(*corev1.Pod).Name)
	}
	return read
}

// updatePart takes turns with two versions of each object.
func updatePart(store cache.Indexer, pods []*corev1.Pod) func(int) {
	var copies, stored []*corev1.Pod
	for turn := range min(changing, len(pods)) {
		pod := scattered(pods, turn)
		copies, stored = append(copies, pod.DeepCopy()), append(stored, pod)
	}
	versions, next := slices.Concat(copies, stored), 0
	return func(times int) {
		for range times {
			_ = store.Update(versions[next])
			next = (next + 1) % len(versions)
		}
	}
}

// queuePart puts a change in and takes it out.
func queuePart(queue cache.Queue, pods []*corev1.Pod) func(int) {
	turn, popped := 0, 0
	process := func(any, bool) error {
		popped++
		return nil
	}
	return func(times int) {
		for range times {
			turn++
			_ = queue.Update(passing(pods, turn))
			_, _ = queue.Pop(process)
		}
	}
}

// operation measures the median of several batches, by the clock and on processors.
func (r *run) operation(name string, work func(times int)) {
	runtime.GC()
	once := func(times int) (time.Duration, float64) {
		begin, begun := time.Now(), cpu()
		work(times)
		return time.Since(begin), cpu() - begun
	}
	times := 1
	for wall, _ := once(times); wall < longEnough; wall, _ = once(times) {
		times *= 2
	}
	var walls, cpus []float64
	for range batches {
		wall, cpu := once(times)
		walls = append(walls, wall.Seconds()*1e9/float64(times))
		cpus = append(cpus, cpu*1e9/float64(times))
	}
	r.metrics[name+"_ns"], r.metrics[name+"_cpu_ns"] = median(walls), median(cpus)
}

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

// crowd hands events to many handlers. The informer runs on a source that has nothing, and is told
// of updates as its queue would tell it: what it has for that is public, if not advertised.
func (r *run) crowd(handlers int, pods []*corev1.Pod) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	source := &cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (machinery.Object, error) {
			return &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}, nil
		},
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			return watch.NewFake(), nil
		},
	}
	informer := cache.NewSharedIndexInformer(source, &corev1.Pod{}, 0, cache.Indexers{})
	g := &goal{handlers: int64(handlers), reached: make(chan struct{}, 1)}
	for range handlers {
		counter := &tally{goal: g}
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			UpdateFunc: func(_, object any) { counter.add(object) },
		})
		if err != nil {
			return err
		}
	}
	go informer.RunWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return errors.New("an empty informer did not sync")
	}
	told, ok := informer.(cache.ResourceEventHandler)
	if !ok {
		return errors.New("the informer cannot be told of an update")
	}
	runtime.GC()
	events := crowdCalls / max(handlers, 5)
	var walls, cpus, sends []float64
	for round := range crowdRounds {
		g.expect(uint64(events))
		begin, begun := time.Now(), cpu()
		for event := range events {
			turn := round*events + event
			told.OnUpdate(passing(pods, turn), passing(pods, turn+1))
		}
		sent := time.Since(begin)
		if err := g.wait(); err != nil {
			return err
		}
		each := 1e9 / float64(events)
		walls = append(walls, time.Since(begin).Seconds()*each)
		cpus = append(cpus, (cpu()-begun)*each)
		sends = append(sends, sent.Seconds()*each)
	}
	name := fmt.Sprintf("distribute_%d_", handlers)
	r.metrics[name+"ns"], r.metrics[name+"cpu_ns"] = median(walls), median(cpus)
	r.metrics[name+"send_ns"] = median(sends)
	return nil
}
