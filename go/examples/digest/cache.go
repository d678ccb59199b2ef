package main

// The two caches. They are as plain as can be but for the digest.

import (
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	bloomline "github.com/bloomline/bloomline/go"
)

const (
	rate      = 0.01     // of false positives
	maxDigest = 64 << 20 // bytes that A takes from B at most
)

// Sibling is cache B: what it holds, and the digest of that.
type Sibling struct {
	objects map[string]string
	digest  []byte
	damage  bool         // sends a digest with a bit wrong
	asked   atomic.Int64 // how often it was asked for an object
}

// Publish makes a digest of what B holds now.
func (b *Sibling) Publish() error {
	// Objects have names that strangers choose, so the seed is random. A reads it in the digest.
	// The digest never changes, so it is a static filter: a quarter less to send.
	builder, err := bloomline.NewStaticBuilder(rate, bloomline.WithRandomSeed())
	if err != nil {
		return err
	}
	for key := range b.objects {
		builder.AddString(key)
	}
	filter, err := builder.Build()
	if err != nil {
		return err
	}
	b.digest, err = filter.MarshalBinary()
	return err
}

func (b *Sibling) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/digest" {
		digest := append([]byte(nil), b.digest...)
		if b.damage {
			digest[0] ^= 1
		}
		_, _ = w.Write(digest) // if it is cut off, A sees that
		return
	}
	b.asked.Add(1)
	object, ok := b.objects[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	_, _ = io.WriteString(w, object)
}

// digest is what A has of B. It never changes, so that requests need no lock.
type digest struct {
	view    bloomline.View
	fetched time.Time
}

// Cache is cache A.
type Cache struct {
	sibling string // address of B
	client  http.Client
	maxAge  time.Duration // of a digest; then A asks B about everything
	digest  atomic.Pointer[digest]
	origin  func(key string) string
}

// Refresh fetches the digest. After an error the one before stays, until it is too old.
func (a *Cache) Refresh() error {
	data, err := a.fetch("/digest")
	if err != nil {
		return err
	}
	view, err := bloomline.OpenView(data) // checks all of it
	if err != nil {
		return err
	}
	a.digest.Store(&digest{view, time.Now()})
	return nil
}

// Get returns an object, from B or else from the origin.
func (a *Cache) Get(key string) string {
	d := a.digest.Load()
	if d == nil || time.Since(d.fetched) > a.maxAge || d.view.ContainsString(key) {
		if object, err := a.fetch(key); err == nil {
			return string(object)
		}
	}
	return a.origin(key)
}

func (a *Cache) fetch(path string) ([]byte, error) {
	response, err := a.client.Get(a.sibling + path)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	// Read in any case, so that the connection can be used again; but not without end.
	body, err := io.ReadAll(io.LimitReader(response.Body, maxDigest))
	if err == nil && response.StatusCode != http.StatusOK {
		err = errors.New(response.Status)
	}
	return body, err
}
