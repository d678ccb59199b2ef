package main

// The database and the cache: what the guard relies on.

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestAnyID creates ids that are no plain words: what the database tells in a scan has to be
// byte for byte what a request asks for.
func TestAnyID(t *testing.T) {
	s := newService(t, "127.0.0.1:"+freePort(t), 0)
	ids := []string{"%20", "a%2Fb", "%2e%2e%2F", "%00", "a%00b", "%FF%FE", "%C3%BC", "u%CC%88", "A", "a", "1", "01", "1e0",
		strings.Repeat("x", 5000)}
	for _, id := range ids {
		s.expect(http.StatusCreated, "POST", "/items/"+id, "value of "+id)
	}
	for range 2 { // from recent, from the filter
		for _, id := range ids {
			s.expectValue(id, "value of "+id)
			s.expect(http.StatusConflict, "POST", "/items/"+id, "")
		}
		rebuild(t, s.guard) // the second conflict has made the id recent again
		rebuild(t, s.guard)
	}
	if n := s.guard.recentLen.Load(); n != 0 {
		t.Errorf("%d ids are recent", n)
	}
}

// TestScanCutShort interrupts a scan, which must not pass for a whole one.
func TestScanCutShort(t *testing.T) {
	const items = 5000
	s := newService(t, "127.0.0.1:"+freePort(t), items)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ids := 0
	err := s.database.Scan(ctx, func(int) error { return nil }, func(batch []string) {
		ids += len(batch)
		cancel()
		time.Sleep(20 * time.Millisecond) // to let the end of the context arrive
	})
	if err == nil && ids < items {
		t.Errorf("a scan ended after %d of %d ids, without an error", ids, items)
	}
}

// TestLostDelete deletes an item while Redis does not hear of it.
func TestLostDelete(t *testing.T) {
	s := newService(t, startRedis(t).addr, 10)
	s.expectValue("item-1", "value of item-1")
	s.expectValue("item-1", "value of item-1")
	if s.metrics.cacheHits.Load() != 1 {
		t.Fatal("the item is not in the cache")
	}
	s.failDel.Store(true)
	s.expect(http.StatusNoContent, "DELETE", "/items/item-1", "")
	s.expect(http.StatusNotFound, "GET", "/items/item-1", "")
	s.expect(http.StatusCreated, "POST", "/items/item-1", "another value")
	s.expectValue("item-1", "another value")
}

// TestDeleteWhileFilling deletes an item that a read has found, and not yet put into Redis.
func TestDeleteWhileFilling(t *testing.T) {
	s := newService(t, startRedis(t).addr, 10)
	deleted := make(chan struct{})
	s.beforeSet = func() {
		go func() {
			s.expect(http.StatusNoContent, "DELETE", "/items/item-1", "")
			close(deleted)
		}()
		// The delete has to wait for the SET. If it does not, it shall come first.
		select {
		case <-deleted:
		case <-time.After(50 * time.Millisecond):
		}
	}
	s.expectValue("item-1", "value of item-1")
	<-deleted
	s.expect(http.StatusNotFound, "GET", "/items/item-1", "")
}
