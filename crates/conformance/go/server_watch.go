// One open watch: a place in the history, and the clock that ends it. Nobody writes to a watch:
// it reads the history when its body is read.
package judge

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// aside is a line that is not in the history, behind what was written before it was sent.
type aside struct {
	version uint64
	line    frame
}

// feed is the body of a watch.
type feed struct {
	server  *server
	ctx     context.Context
	request *http.Request
	of      selection
	tamper  tampering
	// Lines to be sent before the history is followed.
	first   []frame
	asides  []aside
	fresh   bool
	owesEnd bool
	// How many events come before the end of the initial ones.
	lateEnd   int
	bookmarks bool
	cursor    uint64
	seen      uint64
	closings  int
	isCut     bool
	isOver    bool
	closed    chan struct{}
	deadline  *time.Timer
	isLate    bool
	buffer    []byte
	err       error
}

// watch opens a watch; one from a version that is forgotten is told so in its first event.
func (s *server) watch(request *http.Request, of selection, faults []*fault, number int) *http.Response {
	s.mu.Lock()
	defer s.mu.Unlock()
	query := request.URL.Query()
	seconds, _ := strconv.Atoi(query.Get("timeoutSeconds"))
	if seconds == 0 {
		seconds = 30 * 60
	}
	f := &feed{
		server: s, ctx: request.Context(), request: request, of: of,
		tamper: newTampering(faults), fresh: true,
		bookmarks: query.Get("allowWatchBookmarks") == "true",
		cursor:    s.history.version, closings: s.closings, closed: make(chan struct{}),
	}
	if refusal := f.begin(query, number); refusal != nil {
		return refusal.response(request)
	}
	f.deadline = time.NewTimer(time.Duration(seconds) * time.Second)
	s.watches[f] = true
	return respond(request, http.StatusOK, f)
}

// begin finds the first lines.
func (f *feed) begin(query url.Values, number int) *rejection {
	h := f.server.history
	text := query.Get("resourceVersion")
	isZero := text == "" || text == "0"
	version, err := strconv.ParseUint(text, 10, 64)
	if err != nil && text != "" {
		return rejectionOf(400)
	}
	switch initial := query.Get("sendInitialEvents"); {
	case initial == "true":
		if !isZero && version > h.version {
			return tooLarge(version, h.version)
		}
		for _, o := range h.at(h.version, f.of) {
			f.first = append(f.first, frame{kind: "ADDED", value: o.told(number), version: o.version})
		}
		f.owesEnd = f.bookmarks
		if late := find(f.tamper.faults, "end"); late != nil {
			f.lateEnd = late.number
		}
	case isZero && initial == "":
		for _, o := range h.at(h.version, f.of) {
			f.first = append(f.first, frameOf(event{"ADDED", o}))
		}
	case isZero:
	case version < h.oldest():
		f.first = []frame{errorFrame(expired(version, h.oldest()))}
	default:
		f.cursor = version
	}
	return nil
}

// Read gives the next lines, and waits for them if there are none.
func (f *feed) Read(p []byte) (int, error) {
	for {
		if len(f.buffer) > 0 {
			n := copy(p, f.buffer)
			f.buffer = f.buffer[n:]
			return n, nil
		}
		if f.err != nil {
			f.end()
			return 0, f.err
		}
		if f.tamper.hangs {
			<-f.ctx.Done()
			return 0, f.ctx.Err()
		}
		f.next()
	}
}

// next puts lines into the buffer, or an end.
func (f *feed) next() {
	if f.isOver || f.tamper.isOver {
		f.err = io.EOF
		if f.tamper.isCut {
			f.err = io.ErrUnexpectedEOF
		}
		return
	}
	var lines []frame
	if f.fresh {
		f.fresh = false
	} else {
		lines = f.read()
	}
	for _, l := range f.tamper.apply(lines) {
		f.buffer = append(f.buffer, l.bytes()...)
		f.isOver = f.isOver || l.kind == "ERROR"
	}
}

// read is what there is to tell now; it waits if there is nothing.
func (f *feed) read() []frame {
	s := f.server
	s.mu.Lock()
	news := s.news
	lines, isEnd := f.look()
	s.mu.Unlock()
	if lines != nil || isEnd {
		return lines
	}
	select {
	case <-news:
	case <-f.deadline.C:
		f.isLate = true
	case <-f.closed:
		f.err = io.EOF
	case <-f.ctx.Done():
		f.err = f.ctx.Err()
	}
	return nil
}

// look reads what the history has, without waiting; the lock is held.
func (f *feed) look() (lines []frame, isEnd bool) {
	s := f.server
	if len(f.first) > 0 {
		lines, f.first = f.first, nil
		return lines, false
	}
	if f.isCut {
		f.tamper.isCut = true
	}
	if s.closings != f.closings || f.isCut {
		f.isOver = true
		return nil, true
	}
	if f.owesEnd && f.lateEnd == 0 {
		f.owesEnd = false
		return []frame{bookmarkFrame(f.cursor, true)}, false
	}
	if f.isLate {
		f.isOver = true
		if f.bookmarks {
			return []frame{bookmarkFrame(f.seen, false)}, true
		}
		return nil, true
	}
	f.seen = s.history.version
	if f.cursor < s.history.dropped {
		return []frame{errorFrame(expired(f.cursor, s.history.dropped))}, false
	}
	return f.changes(), false
}

// changes is what was written since, with what was sent out of thin air where it belongs.
func (f *feed) changes() []frame {
	var lines []frame
	for _, c := range f.server.history.after(f.cursor) {
		lines = f.takeAsides(lines, c.version-1)
		f.cursor = c.version
		if e, isSeen := c.seenBy(f.of); isSeen {
			lines = append(lines, frameOf(e))
			if f.lateEnd--; f.owesEnd && f.lateEnd == 0 {
				// What is left comes after the end.
				return lines
			}
		}
	}
	return f.takeAsides(lines, f.server.history.version)
}

func (f *feed) takeAsides(lines []frame, upTo uint64) []frame {
	for len(f.asides) > 0 && f.asides[0].version <= upTo {
		lines = append(lines, f.asides[0].line)
		f.asides = f.asides[1:]
	}
	return lines
}

// Close is the client's end of it.
func (f *feed) Close() error {
	f.end()
	return nil
}

func (f *feed) end() {
	f.server.mu.Lock()
	defer f.server.mu.Unlock()
	if f.server.watches[f] {
		delete(f.server.watches, f)
		f.deadline.Stop()
		close(f.closed)
	}
}

// isCaughtUp says whether everything was told; the lock is held.
func (f *feed) isCaughtUp() bool {
	isQuiet := len(f.first) == 0 && len(f.asides) == 0 && !f.fresh && !f.owesEnd && !f.tamper.hangs
	rest := f.server.history.after(f.cursor)
	return isQuiet && !f.isOver && !f.tamper.isOver && len(rest) == 0
}
