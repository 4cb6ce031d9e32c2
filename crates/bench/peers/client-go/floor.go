package main

import (
	"errors"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// floorPause is how long the idle thread sleeps at a time.
const floorPause = time.Millisecond

// floor measures how late an otherwise idle thread wakes, as the drivers in Rust do.
type floor struct {
	stop     chan struct{}
	lateness chan []time.Duration
}

// startFloor starts the thread.
func startFloor() *floor {
	f := &floor{stop: make(chan struct{}), lateness: make(chan []time.Duration)}
	go f.run()
	return f
}

// run sleeps in the kernel and not in time.Sleep. A timer of the runtime is up to a millisecond
// late on an idle machine, because the runtime waits for it in epoll_wait, by the millisecond.
func (f *floor) run() {
	runtime.LockOSThread()
	pause := unix.NsecToTimespec(int64(floorPause))
	var lateness []time.Duration
	begin := time.Now()
	for {
		select {
		case <-f.stop:
			f.lateness <- lateness
			return
		default:
		}
		err := unix.Nanosleep(&pause, nil)
		end := time.Now()
		// A signal of the runtime ends a sleep early.
		if err == nil {
			lateness = append(lateness, max(0, end.Sub(begin)-floorPause))
		}
		begin = end
	}
}

// finish ends the thread, and reports the 99th percentile and the maximum of its lateness.
func (f *floor) finish(metrics map[string]float64) error {
	close(f.stop)
	lateness := <-f.lateness
	if len(lateness) == 0 {
		return errors.New("the idle thread has never woken")
	}
	slices.Sort(lateness)
	microseconds := func(late time.Duration) float64 { return late.Seconds() * 1e6 }
	metrics["floor_p99_us"] = microseconds(lateness[len(lateness)*99/100])
	metrics["floor_max_us"] = microseconds(lateness[len(lateness)-1])
	return nil
}
