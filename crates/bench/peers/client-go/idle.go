package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// idleTime is how long nothing happens while processor time is measured.
const idleTime = 5 * time.Second

// idle starts many informers, each with a selector of its own, and measures what they are when
// nothing happens.
func (r *run) idle(client kubernetes.Interface) error {
	each := func(total float64) float64 { return total / float64(r.informers) }
	r.goal.handlers = int64(r.informers)
	r.goal.expect(r.objects)
	memoryBefore, tasksBefore := memory("VmRSS:"), runtime.NumGoroutine()
	begin, err := r.begin()
	if err != nil {
		return err
	}
	for which := range r.informers {
		informer := newInformer(client, fmt.Sprintf("which=%d", which))
		counter := &tally{goal: r.goal}
		handler := cache.ResourceEventHandlerFuncs{AddFunc: func(object any) { counter.add(object) }}
		if _, err := informer.AddEventHandler(handler); err != nil {
			return err
		}
		go informer.RunWithContext(context.Background())
	}
	if err := r.finish("many_sync", begin); err != nil {
		return err
	}
	time.Sleep(settleTime)
	debug.FreeOSMemory()
	spent := cpu()
	time.Sleep(idleTime)
	r.metrics["idle_cpu_ms_per_s"] = (cpu() - spent) * 1e3 / idleTime.Seconds()
	r.metrics["idle_bytes_each"] = each(memory("VmRSS:") - memoryBefore)
	r.metrics["idle_tasks_each"] = each(float64(runtime.NumGoroutine() - tasksBefore))
	return nil
}
