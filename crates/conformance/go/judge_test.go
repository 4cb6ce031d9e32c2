// Package judge runs scenarios through client-go and writes down what it did.
//
// It is a test binary because virtual time (testing/synctest) exists only there. One request for
// each line of its input, one answer for each line of its output; the language of the scenarios
// is in SCENARIOS.md.
package judge

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"k8s.io/klog/v2"
)

type request struct {
	Level    string `json:"level"`
	Scenario string `json:"scenario"`
	liveRequest
}

type answer struct {
	Trace []string `json:"trace,omitzero"`
	Error string   `json:"error,omitempty"`
}

// levels has an entry for each level. It runs one scenario, in a synctest bubble of its own where
// it needs one, and returns the lines of the trace.
var levels = map[string]func(t *testing.T, s scenario) ([]string, error){}

// TestJudge answers requests until its input ends.
func TestJudge(t *testing.T) {
	if os.Getenv("INFORMER_JUDGE") == "" {
		t.Skip("the judge is started by cargo xtask conformance")
	}
	// Standard output belongs to the answers alone.
	answers := json.NewEncoder(os.Stdout)
	answers.SetEscapeHTML(false)
	klog.LogToStderr(false)
	klog.SetOutput(discard{})
	input := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := input.ReadBytes('\n')
		if err != nil {
			// The test framework would say PASS on standard output.
			os.Exit(0)
		}
		if err := answers.Encode(answerTo(t, line)); err != nil {
			t.Fatal(err)
		}
	}
}

func answerTo(t *testing.T, line []byte) answer {
	var r request
	if err := json.Unmarshal(line, &r); err != nil {
		return answer{Error: err.Error()}
	}
	if r.isLive() {
		return answerLive(r)
	}
	run, known := levels[r.Level]
	if !known {
		return answer{Error: fmt.Sprintf("no level %q", r.Level)}
	}
	s, err := parseScenario(r.Scenario)
	if err != nil {
		return answer{Error: err.Error()}
	}
	trace, err := run(t, s)
	if err != nil {
		return answer{Error: err.Error()}
	}
	if trace == nil {
		trace = []string{}
	}
	return answer{Trace: trace}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
