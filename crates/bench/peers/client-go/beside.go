package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"golang.org/x/sys/unix"
)

// One writer of an indexer beside readers, as the drivers in Rust have it: minimal pods, made
// before the clock starts, in the order in which a server lists them, two versions of each. The
// writer stores the one and then the other, in an order that defeats caches.

const (
	// besideNamespaces is how many namespaces there are where readers walk all of them.
	besideNamespaces = 40
	// besideStride is how far the writer goes from one pod to the next; a prime.
	besideStride = 7_919
	// besideRounds is how often the writer is measured without readers and with them.
	besideRounds = 2
)

// work is what the writer got done.
type work struct {
	writes, waits uint64
	wall          time.Duration
	// cpu is that of the writer's thread alone, in seconds.
	cpu float64
}

func (w *work) add(more work) {
	w.writes += more.writes
	w.waits += more.waits
	w.wall += more.wall
	w.cpu += more.cpu
}

// store is the indexer with the pods that go into it.
type store struct {
	indexer    cache.Indexer
	pods       [2][]*corev1.Pod
	namespaced bool
}

func newStore(objects uint64, namespaced bool) (*store, error) {
	indexers := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	s := &store{indexer: cache.NewIndexer(cache.MetaNamespaceKeyFunc, indexers), namespaced: namespaced}
	for version := range s.pods {
		for index := range objects {
			s.pods[version] = append(s.pods[version], s.pod(index, objects, uint64(version)+1))
		}
	}
	listed := make([]any, 0, objects)
	for _, pod := range s.pods[1] {
		listed = append(listed, pod)
	}
	return s, s.indexer.Replace(listed, "1")
}

func (s *store) pod(index, objects, version uint64) *corev1.Pod {
	namespace := "team-00"
	if !s.namespaced {
		namespace = fmt.Sprintf("team-%02d", index*besideNamespaces/objects)
	}
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name:            fmt.Sprintf("pod-%016d", index),
		Namespace:       namespace,
		UID:             types.UID(fmt.Sprintf("00000000-0000-4000-a000-%012d", index)),
		ResourceVersion: strconv.FormatUint(1_000_000_000*version+index, 10),
	}}
}

// read asks the question once, and looks into no object.
func (s *store) read() (uint64, error) {
	if !s.namespaced {
		return uint64(len(s.indexer.List())), nil
	}
	seen := uint64(0)
	count := func(any) { seen++ }
	err := cache.ListAllByNamespace(s.indexer, "team-00", labels.Everything(), count)
	return seen, err
}

// write writes for as long, and at least once.
func (s *store) write(first uint64, duration time.Duration) (work, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	objects := uint64(len(s.pods[0]))
	done := work{}
	begin, cpu, waits := time.Now(), threadCPU(), voluntarySwitches()
	for done.wall < duration {
		round, place := (first+done.writes)/objects, (first+done.writes)%objects
		if err := s.indexer.Update(s.pods[round%2][place*besideStride%objects]); err != nil {
			return done, err
		}
		done.writes++
		done.wall = time.Since(begin)
	}
	done.cpu = threadCPU() - cpu
	done.waits = voluntarySwitches() - waits
	return done, nil
}

// readers read until they are stopped.
type readers struct {
	reads atomic.Uint64
	over  atomic.Bool
	group sync.WaitGroup
	err   atomic.Value
}

// startReaders returns when the first has read.
func startReaders(s *store, count, objects uint64) *readers {
	r := &readers{}
	for range count {
		r.group.Go(func() {
			for !r.over.Load() {
				if seen, err := s.read(); err != nil || seen != objects {
					r.err.Store(fmt.Errorf("a reader saw %d objects: %w", seen, err))
				}
				r.reads.Add(1)
			}
		})
	}
	for r.reads.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	return r
}

func (r *readers) stop() error {
	r.over.Store(true)
	r.group.Wait()
	err, _ := r.err.Load().(error)
	return err
}

func beside(c *commandLine) error {
	s, err := newStore(c.objects, c.variant == "beside-namespace")
	if err != nil {
		return err
	}
	duration := time.Duration(c.seconds) * time.Second
	alone, besides, reads := work{}, work{}, uint64(0)
	for range besideRounds {
		done, err := s.write(alone.writes+besides.writes, duration)
		if err != nil {
			return err
		}
		alone.add(done)
		r := startReaders(s, c.readers, c.objects)
		before := r.reads.Load()
		if done, err = s.write(alone.writes+besides.writes, duration); err != nil {
			return err
		}
		besides.add(done)
		reads += r.reads.Load() - before
		if err := r.stop(); err != nil {
			return err
		}
	}
	metrics := map[string]float64{"reads_per_s": float64(reads) / besides.wall.Seconds()}
	for name, done := range map[string]work{"alone": alone, "beside": besides} {
		metrics[name+"_writes"] = float64(done.writes)
		metrics[name+"_writes_per_s"] = float64(done.writes) / done.wall.Seconds()
		metrics[name+"_writes_per_cpu_s"] = float64(done.writes) / done.cpu
		metrics[name+"_waits"] = float64(done.waits)
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"peer": "client-go", "metrics": metrics})
}

// threadCPU is the time on processors by the calling thread, in seconds.
func threadCPU() float64 {
	var time unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &time); err != nil {
		return 0
	}
	return float64(time.Nano()) / 1e9
}

// voluntarySwitches is how often the calling thread gave its core away because it could not go on.
func voluntarySwitches() uint64 {
	status, _ := os.ReadFile("/proc/thread-self/status")
	for line := range strings.SplitSeq(string(status), "\n") {
		if rest, found := strings.CutPrefix(line, "voluntary_ctxt_switches:"); found {
			count, _ := strconv.ParseUint(strings.TrimSpace(rest), 10, 64)
			return count
		}
	}
	return 0
}
