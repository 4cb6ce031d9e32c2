package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// floorPause is how long the idle thread sleeps at a time.
const floorPause = time.Millisecond

// floor measures how late an otherwise idle thread wakes, as the drivers in Rust do.
//
// The thread is that of a child process, because the runtime delays the threads of its own process:
// one that returns from the kernel waits for a processor of the runtime, up to milliseconds during
// a garbage collection. That is a latency of the program, and the floor is that of the machine.
type floor struct {
	child  *exec.Cmd
	stop   io.Closer
	output *bufio.Reader
}

// lateness is what the child prints, in microseconds.
type lateness struct{ Percentile99, Max float64 }

// startFloor returns when the child sleeps.
func startFloor() (*floor, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	child := exec.Command(path, "-floor")
	child.Stderr = os.Stderr
	stop, err := child.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := child.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := child.Start(); err != nil {
		return nil, err
	}
	f := &floor{child: child, stop: stop, output: bufio.NewReader(output)}
	// The child prints a line when it is ready.
	_, err = f.output.ReadString('\n')
	return f, err
}

// finish ends the child, and reports the 99th percentile and the maximum of its lateness.
func (f *floor) finish(metrics map[string]float64) error {
	if err := f.stop.Close(); err != nil {
		return err
	}
	var late lateness
	if err := json.NewDecoder(f.output).Decode(&late); err != nil {
		return err
	}
	metrics["floor_p99_us"] = late.Percentile99
	metrics["floor_max_us"] = late.Max
	return f.child.Wait()
}

// sleepOnly is the child, which ends with its input.
//
// It sleeps in the kernel and not in time.Sleep. A timer of the runtime is up to a millisecond
// late on an idle machine, because the runtime waits for it in epoll_wait, by the millisecond.
func sleepOnly(*commandLine) error {
	stop := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(stop)
	}()
	fmt.Println("ready")
	runtime.LockOSThread()
	pause := unix.NsecToTimespec(int64(floorPause))
	var all []time.Duration
	begin := time.Now()
	for {
		select {
		case <-stop:
			return printLateness(all)
		default:
		}
		err := unix.Nanosleep(&pause, nil)
		end := time.Now()
		// A signal of the runtime ends a sleep early.
		if err == nil {
			all = append(all, max(0, end.Sub(begin)-floorPause))
		}
		begin = end
	}
}

func printLateness(all []time.Duration) error {
	if len(all) == 0 {
		return errors.New("the idle thread has never woken")
	}
	slices.Sort(all)
	microseconds := func(late time.Duration) float64 { return late.Seconds() * 1e6 }
	late := lateness{Percentile99: microseconds(all[len(all)*99/100]), Max: microseconds(all[len(all)-1])}
	return json.NewEncoder(os.Stdout).Encode(late)
}
