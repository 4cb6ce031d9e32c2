// Lists: which state, which page, and when neither can be had.
package judge

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// toldBy is an annotation that says which list, or which initial events, an object came with.
// The trace needs it to know what one relist caused.
const toldBy = "conformance/told-by"

type listing struct {
	version uint64
	items   []object
	token   string
}

func (s *server) list(request *http.Request, of selection, faults []*fault, number int) *http.Response {
	if find(faults, "hang") != nil {
		return respond(request, http.StatusOK, silence{request.Context()})
	}
	s.mu.Lock()
	found, refusal := s.listing(request.URL.Query(), of, find(faults, "old"))
	s.mu.Unlock()
	if refusal != nil {
		return refusal.response(request)
	}
	return respond(request, http.StatusOK, body(writeList(found, faults, number)))
}

// listing finds the state and the page.
func (s *server) listing(query url.Values, of selection, old *fault) (listing, *rejection) {
	h := s.history
	limit, _ := strconv.Atoi(query.Get("limit"))
	if limit > 0 && s.page > 0 {
		limit = min(limit, s.page)
	}
	if old != nil && uint64(old.number) >= h.oldest() && uint64(old.number) <= h.version {
		return page(h, uint64(old.number), "", limit, of), nil
	}
	if token := query.Get("continue"); token != "" {
		version, after, err := parseToken(token)
		if err != nil {
			return listing{}, rejectionOf(400)
		}
		if version < h.oldest() {
			return listing{}, expired(version, h.oldest())
		}
		return page(h, version, after, limit, of), nil
	}
	text, match := query.Get("resourceVersion"), query.Get("resourceVersionMatch")
	if text == "" || text == "0" {
		return page(h, h.version, "", limit, of), nil
	}
	version, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return listing{}, rejectionOf(400)
	}
	if version > h.version {
		return listing{}, tooLarge(version, h.version)
	}
	if match != "Exact" && (match != "" || limit == 0) {
		return page(h, h.version, "", limit, of), nil
	}
	if version < h.oldest() {
		return listing{}, expired(version, h.oldest())
	}
	return page(h, version, "", limit, of), nil
}

func page(h *history, version uint64, after string, limit int, of selection) listing {
	found := listing{version: version}
	for _, o := range h.at(version, of) {
		if after != "" && o.key() <= after {
			continue
		}
		if limit > 0 && len(found.items) == limit {
			last := found.items[limit-1].key()
			found.token = hex.EncodeToString(fmt.Appendf(nil, "%d:%s", version, last))
			break
		}
		found.items = append(found.items, o)
	}
	return found
}

func parseToken(token string) (version uint64, after string, err error) {
	plain, err := hex.DecodeString(token)
	if err != nil {
		return 0, "", err
	}
	digits, after, _ := strings.Cut(string(plain), ":")
	version, err = strconv.ParseUint(digits, 10, 64)
	return version, after, err
}

// writeList writes a list as the faults will have it.
func writeList(found listing, faults []*fault, number int) []byte {
	items := []any{}
	for _, o := range found.items {
		item := o.told(number)
		delete(item, "kind")
		delete(item, "apiVersion")
		items = append(items, item)
	}
	metadata := map[string]any{"resourceVersion": strconv.FormatUint(found.version, 10)}
	if found.token != "" {
		metadata["continue"] = found.token
	}
	list := map[string]any{
		"kind": "ConfigMapList", "apiVersion": "v1", "metadata": metadata, "items": items,
	}
	for _, f := range faults {
		if f.what == "garbage" {
			return []byte(garbage)
		}
		tamperList(list, metadata, f)
	}
	return encode(list)
}

func tamperList(list, metadata map[string]any, f *fault) {
	items := list["items"].([]any)
	switch f.what {
	case "table":
		list["kind"], list["apiVersion"] = "Table", "meta.k8s.io/v1"
	case "empty-version":
		metadata["resourceVersion"] = ""
	case "old":
		metadata["resourceVersion"] = strconv.Itoa(f.number)
	}
	if len(items) == 0 {
		return
	}
	first := items[0].(map[string]any)
	meta := first["metadata"].(map[string]any)
	switch f.what {
	case "nameless":
		meta["name"] = ""
	case "undecodable":
		spoil(first)
	case "duplicate":
		older := map[string]any{"metadata": map[string]any{}}
		for name, value := range meta {
			older["metadata"].(map[string]any)[name] = value
		}
		version, _ := strconv.ParseUint(meta["resourceVersion"].(string), 10, 64)
		older["metadata"].(map[string]any)["resourceVersion"] = strconv.FormatUint(max(version-1, 1), 10)
		if data, is := first["data"]; is {
			older["data"] = data
		}
		list["items"] = append([]any{older}, items...)
	}
}

// told is the object as JSON, with the number of the request that told it.
func (o object) told(number int) map[string]any {
	value := o.value()
	value["metadata"].(map[string]any)["annotations"] = map[string]any{toldBy: strconv.Itoa(number)}
	return value
}

// spoil leaves the metadata and makes nonsense of the rest.
func spoil(value map[string]any) { value["data"] = 42 }
