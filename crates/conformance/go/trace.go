package judge

import (
	"fmt"
	"sort"
)

// trace is what client-go did, a line for each thing that can be observed.
type trace struct{ lines []string }

// step repeats the step that what follows belongs to.
func (t *trace) step(s step) { t.lines = append(t.lines, "> "+s.String()) }

// add writes one observation.
func (t *trace) add(format string, args ...any) {
	t.lines = append(t.lines, fmt.Sprintf(format, args...))
}

// unordered writes observations whose order means nothing.
func (t *trace) unordered(lines []string) {
	sort.Strings(lines)
	t.lines = append(t.lines, lines...)
}
