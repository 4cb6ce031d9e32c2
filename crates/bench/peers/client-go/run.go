package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"

	"golang.org/x/sys/unix"
)

// stampAnnotation says when an event was published.
const stampAnnotation = "bench.informer.example/stamp"

// patience is how long handlers may take before the run has failed.
const patience = 10 * time.Minute

// run is one measurement.
type run struct {
	*commandLine
	goal    *goal
	metrics map[string]float64
}

func newRun(c *commandLine) *run {
	g := &goal{handlers: int64(c.handlers), reached: make(chan struct{}, 1)}
	return &run{commandLine: c, goal: g, metrics: map[string]float64{}}
}

// mark is the clocks at one moment.
type mark struct {
	wall           time.Time
	cpu, serverCPU float64
}

// begin asks the server first, so that asking is not in what is measured.
func (r *run) begin() (mark, error) {
	serverCPU, err := r.ask("/bench/cpu")
	return mark{wall: time.Now(), cpu: cpu(), serverCPU: serverCPU}, err
}

// finish waits until all handlers have seen what they should.
func (r *run) finish(phase string, begin mark) error {
	if err := r.goal.wait(); err != nil {
		return err
	}
	wall, spent := time.Since(begin.wall), cpu()-begin.cpu
	serverCPU, err := r.ask("/bench/cpu")
	r.metrics[phase+"_wall_s"] = wall.Seconds()
	r.metrics[phase+"_cpu_s"] = spent
	r.metrics[phase+"_server_cpu_s"] = serverCPU - begin.serverCPU
	return err
}

// phase lets the server do something, and measures until every handler was called that often.
func (r *run) phase(name string, calls uint64, path string) error {
	begin, err := r.begin()
	if err != nil {
		return err
	}
	r.goal.expect(calls)
	if _, err := r.ask(path); err != nil {
		return err
	}
	return r.finish(name, begin)
}

func (r *run) latency() error {
	count := r.rate * r.seconds
	r.goal.timed.Store(true)
	floor, err := startFloor()
	if err != nil {
		return err
	}
	if err := r.phase("paced", count, fmt.Sprintf("/bench/change?count=%d&rate=%d", count, r.rate)); err != nil {
		return err
	}
	if err := floor.finish(r.metrics); err != nil {
		return err
	}
	r.goal.timed.Store(false)
	all := r.goal.latencies
	sort.Slice(all, func(i, j int) bool { return all[i] < all[j] })
	r.metrics["latency_p50_us"] = float64(all[len(all)*50/100])
	r.metrics["latency_p99_us"] = float64(all[len(all)*99/100])
	r.goal.latencies = nil
	return nil
}

// ask uses the server's side door, which answers with its processor time.
func (r *run) ask(path string) (float64, error) {
	response, err := http.Get("http://" + r.server + path)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(strings.TrimSpace(string(body)), 64)
}

// goal is what every handler is to see before the clock stops.
type goal struct {
	handlers    int64
	target      atomic.Uint64
	finished    atomic.Int64
	reached     chan struct{}
	timed       atomic.Bool
	latenciesMu sync.Mutex
	latencies   []int64
}

// expect says how often each handler is to be called more. Only while nothing is on its way.
func (g *goal) expect(more uint64) {
	g.finished.Store(0)
	g.target.Add(more)
}

func (g *goal) wait() error {
	select {
	case <-g.reached:
		return nil
	case <-time.After(patience):
		return fmt.Errorf("only %d of %d handlers saw what they should", g.finished.Load(), g.handlers)
	}
}

// tally is the count of one handler, which calls it from one goroutine.
type tally struct {
	goal      *goal
	count     uint64
	latencies []int64
}

func (t *tally) add(object any) {
	t.count++
	if t.goal.timed.Load() {
		if t.latencies == nil {
			// A slice that grows meanwhile would delay the handler.
			t.latencies = make([]int64, 0, t.goal.target.Load()-t.count+1)
		}
		t.latencies = append(t.latencies, age(object.(*corev1.Pod)))
	}
	if t.count != t.goal.target.Load() {
		return
	}
	t.goal.latenciesMu.Lock()
	t.goal.latencies = append(t.goal.latencies, t.latencies...)
	t.goal.latenciesMu.Unlock()
	t.latencies = nil
	if t.goal.finished.Add(1) == t.goal.handlers {
		t.goal.reached <- struct{}{}
	}
}

// age is how long ago, in microseconds, the server published this version.
func age(pod *corev1.Pod) int64 {
	published, err := strconv.ParseInt(pod.Annotations[stampAnnotation], 10, 64)
	if err != nil {
		return 0
	}
	return max(0, stamp()-published)
}

// stamp is the time of day in microseconds, its last ten digits.
func stamp() int64 { return time.Now().UnixMicro() % 10_000_000_000 }

// cpu is the time on processors by all threads of this program, in seconds.
func cpu() float64 {
	var time unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &time); err != nil {
		return 0
	}
	return float64(time.Nano()) / 1e9
}

// memory is a line of the kernel's account, in bytes.
func memory(name string) float64 {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.SplitSeq(string(status), "\n") {
		if rest, found := strings.CutPrefix(line, name); found {
			kilobytes, _ := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 64)
			return kilobytes * 1024
		}
	}
	return 0
}

// forgetPeak lets the peak of memory begin anew.
func forgetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }
