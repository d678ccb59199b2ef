package main

// The filter in Redis: two processes, one of which rebuilds all the time.

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// newShared returns a process of the service: its own connections, the same database and filter.
func newShared(t *testing.T, dbPath, redisAddr string) (*Shared, *Metrics) {
	t.Helper()
	metrics := new(Metrics)
	database, err := OpenDatabase(t.Context(), dbPath, metrics)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { database.Close() })
	client := OpenRedis(redisAddr, time.Minute) // however slow the machine is
	t.Cleanup(func() { client.Close() })
	shared, err := NewShared(t.Context(), database, database, client, client, "guard-ids", testRate, metrics)
	if err != nil {
		t.Fatal(err)
	}
	return shared, metrics
}

func TestSharedByProcesses(t *testing.T) {
	noGoroutinesLeft(t)
	server := startRedis(t)
	dbPath := filepath.Join(t.TempDir(), "items.sqlite")
	first, firstMetrics := newShared(t, dbPath, server.addr)
	second, secondMetrics := newShared(t, dbPath, server.addr)
	ctx, cancel := context.WithCancel(t.Context())
	var background sync.WaitGroup
	background.Go(func() { first.Run(ctx, time.Millisecond) })

	// Each creates items, and the other finds them at once.
	var done atomic.Bool
	var created [2]atomic.Int64
	for i, own := range []*Shared{first, second} {
		other := []*Shared{second, first}[i]
		background.Go(func() {
			for n := 0; !done.Load(); n++ {
				id := fmt.Sprint(i, "-", n)
				if err := own.Create(t.Context(), id, []byte(id)); err != nil {
					t.Errorf("%s: %v", id, err)
					return
				}
				created[i].Add(1)
				for _, from := range []*Shared{own, other} {
					if value, err := from.Get(t.Context(), id); err != nil || string(value) != id {
						t.Errorf("%s: %q, %v", id, value, err)
						return
					}
				}
			}
		})
	}
	eventually(t, "rebuilds and creates", func() bool {
		return t.Failed() || firstMetrics.rebuilds.Load() > 10 && created[0].Load() > 200 && created[1].Load() > 200
	})
	done.Store(true)
	cancel()
	background.Wait()
	for i := range created {
		for n := range created[i].Load() {
			if id := fmt.Sprint(i, "-", n); !second.MayHave(t.Context(), id) {
				t.Errorf("%s is denied", id)
			}
		}
	}
	absent := 0
	for n := range 2000 {
		if _, err := second.Get(t.Context(), fmt.Sprint("missing-", n)); !errors.Is(err, ErrNotFound) {
			t.Errorf("missing-%d: %v", n, err)
		}
		absent++
	}
	if passed := absent - int(secondMetrics.absent.Load()); passed > atMost(absent, testRate) {
		t.Errorf("%d of %d missing ids passed the filter", passed, absent)
	}

	// Without Redis all is passed on, and nothing is acknowledged that the filter does not have.
	server.stop()
	if value, err := second.Get(t.Context(), "0-0"); err != nil || string(value) != "0-0" {
		t.Errorf("without Redis: %q, %v", value, err)
	}
	if err := second.Create(t.Context(), "late", nil); err == nil {
		t.Error("created without Redis")
	}
	if err := first.Rebuild(t.Context()); err == nil {
		t.Error("rebuilt without Redis")
	}
	if secondMetrics.filterErrors.Load() < 2 {
		t.Error("errors of the filter are not counted")
	}
}
