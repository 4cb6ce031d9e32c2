// How the API server says no.
package judge

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

// rejection is a Status that is not a success.
type rejection struct {
	code       int
	reason     string
	message    string
	cause      string
	retryAfter int
}

var reasons = map[int]string{
	400: "BadRequest", 401: "Unauthorized", 403: "Forbidden", 404: "NotFound", 409: "Conflict",
	410: "Expired", 422: "Invalid", 429: "TooManyRequests", 500: "InternalError",
	503: "ServiceUnavailable", 504: "Timeout",
}

func rejectionOf(code int) *rejection {
	return &rejection{code: code, reason: reasons[code], message: "a fault said so"}
}

// parseRejection reads the name of a status as faults have it.
func parseRejection(text string) (*rejection, bool) {
	switch text {
	case "too-large":
		r := rejectionOf(504)
		r.cause, r.message = "ResourceVersionTooLarge", "Too large resource version: a fault said so"
		return r, true
	case "gone":
		return &rejection{code: 410, reason: "Gone", message: "a fault said so"}, true
	}
	code, err := strconv.Atoi(text)
	return rejectionOf(code), err == nil && reasons[code] != ""
}

func expired(version, oldest uint64) *rejection {
	r := rejectionOf(410)
	r.message = fmt.Sprintf("too old resource version: %d (%d)", version, oldest)
	return r
}

// tooLarge is what kube-apiserver says to a version it has not reached.
func tooLarge(version, current uint64) *rejection {
	r, _ := parseRejection("too-large")
	r.message = fmt.Sprintf("Too large resource version: %d, current: %d", version, current)
	r.retryAfter = 1
	return r
}

func (r *rejection) value() map[string]any {
	details := map[string]any{}
	if r.cause != "" {
		details["causes"] = []any{map[string]any{"reason": r.cause, "message": "Too large resource version"}}
	}
	if r.retryAfter > 0 {
		details["retryAfterSeconds"] = r.retryAfter
	}
	return map[string]any{
		"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Failure",
		"message": r.message, "reason": r.reason, "code": r.code, "details": details,
	}
}

func (r *rejection) response(request *http.Request) *http.Response {
	response := respond(request, r.code, body(encode(r.value())))
	if r.retryAfter > 0 {
		response.Header.Set("Retry-After", strconv.Itoa(r.retryAfter))
	}
	return response
}

// encode writes JSON that is known to be encodable.
func encode(value any) []byte {
	bytes, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return bytes
}
