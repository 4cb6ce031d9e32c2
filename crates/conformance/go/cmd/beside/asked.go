package main

import (
	"bytes"
	"io"
	"net/http"
	"sync/atomic"

	"k8s.io/client-go/rest"
)

// counts says how often the server was asked for what, and how often it said that a version has
// expired.
type counts struct {
	Lists     int64 `json:"lists"`
	Streaming int64 `json:"streaming"`
	Watches   int64 `json:"watches"`
	Expired   int64 `json:"expired"`
}

type asked struct{ lists, streaming, watches, expired atomic.Int64 }

func (a *asked) counts() *counts {
	return &counts{
		Lists:     a.lists.Load(),
		Streaming: a.streaming.Load(),
		Watches:   a.watches.Load(),
		Expired:   a.expired.Load(),
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

// countRequests counts answers, so that attempts at a server that is gone do not count.
func countRequests(config *rest.Config) *asked {
	a := &asked{}
	config.Wrap(func(inner http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			response, err := inner.RoundTrip(request)
			if err == nil {
				a.count(request, response)
			}
			return response, err
		})
	})
	return a
}

func (a *asked) count(request *http.Request, response *http.Response) {
	if response.StatusCode == http.StatusGone {
		a.expired.Add(1)
	}
	if response.StatusCode != http.StatusOK {
		return
	}
	query := request.URL.Query()
	switch {
	case query.Get("watch") == "":
		a.lists.Add(1)
		return
	case query.Get("sendInitialEvents") == "true":
		a.streaming.Add(1)
	default:
		a.watches.Add(1)
	}
	response.Body = &expiryFinder{ReadCloser: response.Body, asked: a}
}

// gone is how an event of a watch says that a version has expired, in JSON and in protobuf.
var gone = []byte("too old resource version")

// expiryFinder finds that event in what it passes on. Only the beginning of a watch can have it.
type expiryFinder struct {
	io.ReadCloser
	asked  *asked
	begins []byte
	over   bool
}

func (f *expiryFinder) Read(p []byte) (int, error) {
	n, err := f.ReadCloser.Read(p)
	if !f.over {
		f.begins = append(f.begins, p[:n]...)
		found := bytes.Contains(f.begins, gone)
		if found {
			f.asked.expired.Add(1)
		}
		if found || len(f.begins) > 4096 {
			f.over, f.begins = true, nil
		}
	}
	return n, err
}
