package main

// The HTTP face:
//
//	GET    /items/{id}   the value; 404 if there is none, 503 if that is not known
//	POST   /items/{id}   makes an item of the body: 201, or 409 if there is one
//	DELETE /items/{id}   removes it: 204, or 404
//	GET    /metrics      counters for Prometheus
//	POST   /rebuild      asks for a rebuild of the filter: 202

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
)

const maxValue = 1 << 20

// Guarding is a [Guard] or a [Shared].
type Guarding interface {
	Items
	RequestRebuild()
	// gauges tells what it is like now.
	gauges(tell func(name, help string, value any))
}

// NewServer returns the handler of all of the above.
func NewServer(g Guarding, metrics *Metrics) http.Handler {
	s := &server{g, metrics}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /items/{id}", s.get)
	mux.HandleFunc("POST /items/{id}", s.create)
	mux.HandleFunc("DELETE /items/{id}", s.delete)
	mux.HandleFunc("GET /metrics", s.writeMetrics)
	mux.HandleFunc("POST /rebuild", s.rebuild)
	return mux
}

type server struct {
	guard   Guarding
	metrics *Metrics
}

func (s *server) get(w http.ResponseWriter, r *http.Request) {
	value, err := s.guard.Get(r.Context(), r.PathValue("id"))
	if err != nil {
		fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Write(value)
}

func (s *server) create(w http.ResponseWriter, r *http.Request) {
	value, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxValue))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := s.guard.Create(r.Context(), r.PathValue("id"), value); err != nil {
		fail(w, r, err)
		return
	}
	w.WriteHeader(http.StatusCreated)
}

func (s *server) delete(w http.ResponseWriter, r *http.Request) {
	if err := s.guard.Delete(r.Context(), r.PathValue("id")); err != nil {
		fail(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (s *server) writeMetrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	s.metrics.Write(w, s.guard)
}

func (s *server) rebuild(w http.ResponseWriter, _ *http.Request) {
	s.guard.RequestRebuild()
	w.WriteHeader(http.StatusAccepted)
}

// fail answers a request that failed. Only what is known to be absent is a 404: clients, and
// the caches between, take it for a fact.
func fail(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case errors.Is(err, ErrNotFound):
		http.Error(w, err.Error(), http.StatusNotFound)
	case errors.Is(err, ErrExists):
		http.Error(w, err.Error(), http.StatusConflict)
	default:
		if r.Context().Err() == nil { // else the client has gone, which is no news
			slog.Error("request failed", "method", r.Method, "path", r.URL.Path, "error", err)
		}
		w.Header().Set("Retry-After", "1")
		http.Error(w, "try again later", http.StatusServiceUnavailable)
	}
}
