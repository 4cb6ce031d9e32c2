// The informer over real HTTP, in real time: whoever asks has a server, does the server's steps
// there, and then names each step here, to hear what happened.
package judge

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"k8s.io/client-go/tools/cache"
)

// liveRequest begins a scenario, names a step, or ends it.
type liveRequest struct {
	// The server's address begins a scenario.
	Live string `json:"live"`
	// What happens now, one step for each line; the server's steps have been done.
	Step string `json:"step"`
	// Which life of its key each uid is, as far as the server's side knows.
	Lives map[string]int `json:"lives"`
	// What `recover` waits for: the objects of the server, as a line `store` has them.
	Expected string `json:"expected"`
	// The scenario is over.
	End bool `json:"end"`
}

func (r liveRequest) isLive() bool { return r.Live != "" || r.Step != "" || r.End }

const (
	// So long nothing may happen before a step is over.
	quiet = 150 * time.Millisecond
	// More time than that does not pass.
	longestAdvance = 2 * time.Second
	longestRecover = time.Minute
)

// live is the scenario at work.
var live *liveRun

type liveRun struct {
	*observer
	recorder *recorder
}

func answerLive(r request) answer {
	lines, err := doLive(r)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Trace: append([]string{}, lines...)}
}

func doLive(r request) ([]string, error) {
	switch {
	case r.Live != "":
		endLive()
		return nil, beginLive(r)
	case live == nil:
		return nil, errors.New("no scenario has begun")
	case r.End:
		endLive()
		return nil, nil
	default:
		return live.play(r.liveRequest)
	}
}

func beginLive(r request) error {
	s, err := parseScenario(r.Scenario)
	if err != nil {
		return err
	}
	begun := &liveRun{recorder: newRecorder()}
	begun.observer, err = newObserver(s, begun.recorder, r.Live)
	if err != nil {
		return err
	}
	begun.takeRequests = begun.recorder.take
	live = begun
	return nil
}

// endLive ends everything; what waits without listening is left behind.
func endLive() {
	if live == nil {
		return
	}
	ended := make(chan struct{})
	go func(l *liveRun) {
		l.client.shutDown()
		close(ended)
	}(live)
	select {
	case <-ended:
	case <-time.After(longestAdvance):
	}
	live.recorder.transport.CloseIdleConnections()
	live = nil
}

// play does what is the client's of a step, waits until it is over, and says what happened.
func (l *liveRun) play(r liveRequest) ([]string, error) {
	s, err := parseScenario(r.Step)
	if err != nil {
		return nil, err
	}
	l.trace.lines = nil
	var answers []string
	for _, st := range s.steps {
		l.trace.step(st)
		answered, err := l.do(st, r)
		if err != nil {
			return nil, err
		}
		answers = append(answers, answered...)
	}
	l.settle()
	l.observe(answers)
	return withLives(l.trace.lines, r.Lives), nil
}

func (l *liveRun) do(st step, r liveRequest) ([]string, error) {
	switch {
	case serverVerbs[st.verb] || st.verb == "burst" || st.verb == "end":
		return nil, nil
	case st.verb == "advance":
		d, err := duration(strings.Join(st.args, " "))
		time.Sleep(min(d, longestAdvance))
		return nil, err
	case st.verb == "recover":
		return l.recover(r), nil
	}
	answers, known, err := l.client.apply(st)
	if err == nil && !known {
		err = fmt.Errorf("no step %q", st)
	}
	return answers, err
}

func (l *liveRun) recover(r liveRequest) []string {
	if !l.client.isRunning() {
		return nil
	}
	for end := time.Now().Add(longestRecover); time.Now().Before(end); time.Sleep(quiet / 15) {
		stored := withLives([]string{l.client.stored()}, r.Lives)[0]
		isSynced := l.client.informer.HasSynced()
		if isSynced && stored == r.Expected && l.recorder.openWatches() > 0 {
			return nil
		}
	}
	return []string{"error not-recovered"}
}

// settle waits until nothing has happened for a while.
func (l *liveRun) settle() {
	last := l.state()
	for since := time.Now(); time.Since(since) < quiet; time.Sleep(quiet / 15) {
		if now := l.state(); now != last {
			last, since = now, time.Now()
		}
	}
}

// state changes whenever something happens.
func (l *liveRun) state() string {
	c := l.client
	text := fmt.Sprint(c.stored(), c.version(), c.informer.HasSynced(), c.hasEnded(), l.recorder.count())
	for _, h := range c.all {
		text += fmt.Sprint(h.count(), isSynced(h.handle))
	}
	return text
}

func isSynced(r cache.ResourceEventHandlerRegistration) bool { return r != nil && r.HasSynced() }

var uidInBraces = regexp.MustCompile(`\{[^}]*\}`)

// withLives puts lives in the place of uids.
func withLives(lines []string, lives map[string]int) []string {
	var changed []string
	for _, text := range lines {
		changed = append(changed, uidInBraces.ReplaceAllStringFunc(text, func(uid string) string {
			switch life := lives[strings.Trim(uid, "{}")]; life {
			case 0:
				return uid
			case 1:
				return ""
			default:
				return fmt.Sprintf(".%d", life)
			}
		}))
	}
	return changed
}
