// The lines of a watch, and what faults do to them.
package judge

import "strconv"

const garbage = "%% this is not JSON %%"

// frame is one line of a watch; raw ones are sent as they are.
type frame struct {
	kind    string
	value   map[string]any
	raw     string
	version uint64
}

func frameOf(e event) frame {
	return frame{kind: e.kind, value: e.object.value(), version: e.object.version}
}

func errorFrame(r *rejection) frame { return frame{kind: "ERROR", value: r.value()} }

func bookmarkFrame(version uint64, endsInitial bool) frame {
	metadata := map[string]any{
		"resourceVersion":   strconv.FormatUint(version, 10),
		"creationTimestamp": nil,
	}
	if endsInitial {
		metadata["annotations"] = map[string]any{"k8s.io/initial-events-end": "true"}
	}
	value := map[string]any{"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata}
	return frame{kind: "BOOKMARK", value: value, version: version}
}

func (l frame) endsInitial() bool {
	metadata, _ := l.value["metadata"].(map[string]any)
	return l.kind == "BOOKMARK" && metadata["annotations"] != nil
}

func (l frame) isEvent() bool { return l.raw == "" && l.kind != "BOOKMARK" && l.kind != "ERROR" }

func (l frame) bytes() []byte {
	if l.raw != "" {
		return []byte(l.raw + "\n")
	}
	return append(encode(map[string]any{"type": l.kind, "object": l.value}), '\n')
}

// tampering is what is to be done to the lines of one watch.
type tampering struct {
	faults []*fault
	// What is done to the first event.
	first  *fault
	sent   int
	hangs  bool
	isOver bool
	isCut  bool
}

func newTampering(faults []*fault) tampering {
	t := tampering{faults: faults, hangs: find(faults, "hang") != nil}
	for _, f := range faults {
		switch f.what {
		case "garbage", "unknown-type", "table", "nameless", "undecodable", "old":
			t.first = f
		}
	}
	return t
}

// apply passes lines on, changed where a fault says so.
func (t *tampering) apply(lines []frame) []frame {
	out := t.beforeNext(nil)
	for _, l := range lines {
		if t.isOver {
			break
		}
		out = t.beforeNext(t.pass(l, out))
	}
	return out
}

func (t *tampering) pass(l frame, out []frame) []frame {
	if !l.isEvent() {
		isBookmark := l.kind == "BOOKMARK"
		if isBookmark && find(t.faults, "no-bookmarks") != nil {
			return out
		}
		if l.endsInitial() && find(t.faults, "no-end") != nil {
			return out
		}
		return append(out, l)
	}
	t.sent++
	if t.first == nil {
		return append(out, l)
	}
	f := t.first
	t.first = nil
	return changeLine(f, l, out)
}

func changeLine(f *fault, l frame, out []frame) []frame {
	metadata := l.value["metadata"].(map[string]any)
	switch f.what {
	case "garbage":
		return append(out, frame{raw: garbage}, l)
	case "unknown-type":
		l.kind = "FOO"
	case "table":
		l.value["kind"], l.value["apiVersion"] = "Table", "meta.k8s.io/v1"
	case "nameless":
		metadata["name"] = ""
	case "undecodable":
		spoil(l.value)
	case "old":
		metadata["resourceVersion"] = strconv.Itoa(f.number)
	}
	return append(out, l)
}

// beforeNext is what happens after so many events, none included.
func (t *tampering) beforeNext(out []frame) []frame {
	if t.isOver {
		return out
	}
	if f := find(t.faults, "close"); f != nil && t.sent >= f.number {
		t.isOver = true
	} else if f := find(t.faults, "cut"); f != nil && t.sent >= f.number {
		t.isOver, t.isCut = true, true
	} else if f := find(t.faults, "error"); f != nil && t.sent >= f.number {
		t.isOver = true
		out = append(out, errorFrame(f.status))
	}
	return out
}
