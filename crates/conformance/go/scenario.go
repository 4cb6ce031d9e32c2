package judge

import (
	"fmt"
	"strings"
)

// scenario is one variant: every setting has one value.
type scenario struct {
	name     string
	settings map[string]string
	steps    []step
}

// step is one thing that happens.
type step struct {
	verb string
	args []string
}

// setting is the value of a setting, or what it is by default.
func (s scenario) setting(name, byDefault string) string {
	if value, made := s.settings[name]; made {
		return value
	}
	return byDefault
}

// option is the value of name=value among the arguments.
func (s step) option(name string) (string, bool) {
	for _, arg := range s.args {
		if key, value, found := strings.Cut(arg, "="); found && key == name {
			return value, true
		}
	}
	return "", false
}

// has says whether the bare word is among the arguments.
func (s step) has(word string) bool {
	for _, arg := range s.args {
		if arg == word {
			return true
		}
	}
	return false
}

func (s step) String() string {
	return strings.Join(append([]string{s.verb}, s.args...), " ")
}

func parseScenario(text string) (scenario, error) {
	s := scenario{settings: map[string]string{}}
	for _, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		switch {
		case words[0] == "==" && len(words) == 2:
			s.name = words[1]
		case words[0] == "covers":
		case words[0] == "set" && len(words) == 3:
			s.settings[words[1]] = words[2]
		case words[0] == "==" || words[0] == "set":
			return s, fmt.Errorf("malformed line %q", line)
		default:
			s.steps = append(s.steps, step{verb: words[0], args: words[1:]})
		}
	}
	return s, nil
}
