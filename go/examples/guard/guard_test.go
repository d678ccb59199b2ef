package main

// The service as a whole: under load, and with Redis or the database failing.

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestLoad asks for missing ids while items are read, created and deleted, and filters swapped.
func TestLoad(t *testing.T) {
	const items, missing, swaps = 50_000, 100_000, 5
	s := newService(t, startRedis(t).addr, items)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var background, load sync.WaitGroup
	background.Go(func() { s.guard.Run(ctx, time.Millisecond) })
	var done atomic.Bool
	background.Go(func() { s.readItems(items, &done) })
	var sweeps atomic.Int64
	background.Go(func() { // all ids, without what is behind the filter
		for ; !done.Load(); sweeps.Add(1) {
			for i := range items {
				if !s.guard.MayHave(fmt.Sprint("item-", i)) {
					t.Errorf("item-%d is denied", i)
					return
				}
			}
		}
	})
	background.Go(func() { s.churn("churn-a", &done) })
	background.Go(func() { s.churn("churn-b", &done) })
	var sent atomic.Int64
	for range 2 {
		load.Go(func() {
			for {
				i := sent.Add(1)
				if !s.expect(http.StatusNotFound, "GET", fmt.Sprint("/items/missing-", i), "") {
					return
				}
				if i >= missing && s.metrics.rebuilds.Load() > swaps {
					return
				}
			}
		})
	}
	load.Wait()
	done.Store(true)
	cancel()
	background.Wait()

	m := s.checkCounters()
	asked := int(sent.Load())
	bound := atMost(asked, testRate)
	for what, n := range map[string]int64{
		"cache": s.missingInCache.Load(), "database": s.missingInDatabase.Load(),
	} {
		t.Logf("%d missing ids asked for, %d reached the %s, at most %d may", asked, n, what, bound)
		if n > int64(bound) {
			t.Errorf("too many missing ids reached the %s", what)
		}
		if n == 0 {
			t.Errorf("no missing id reached the %s: they are not counted", what)
		}
	}
	if m["open"] != 0 || m["rebuild_failures_total"] > 1 { // the last one was cancelled
		t.Errorf("open %v, rebuilds failed %v", m["open"], m["rebuild_failures_total"])
	}
	t.Logf("%v rebuilds; %v ids found in the database, %v in the cache; all ids asked for %d times",
		m["rebuilds_total"], m["database_found_total"], m["cache_hits_total"], sweeps.Load())

	// With no changes under way, the filter is that of the items.
	rebuild(t, s.guard)
	var count float64
	if err := s.database.read.QueryRow(`SELECT count(*) FROM items`).Scan(&count); err != nil {
		t.Fatal(err)
	}
	if m := s.scrape(); m["filter_keys"] != count || m["recent_ids"] != 0 || m["filter_rate"] > 1.2*testRate {
		t.Errorf("%v items; the filter has %v, %v are recent, its rate is %v",
			count, m["filter_keys"], m["recent_ids"], m["filter_rate"])
	}
}

// TestRedisDies kills Redis under load, and starts it again.
func TestRedisDies(t *testing.T) {
	const items = 1000
	server := startRedis(t)
	s := newService(t, server.addr, items)
	ctx, cancel := context.WithCancel(t.Context())
	var background sync.WaitGroup
	var done atomic.Bool
	background.Go(func() { s.guard.Run(ctx, time.Millisecond) })
	background.Go(func() { s.readItems(items, &done) })
	background.Go(func() { s.churn("churn", &done) })
	defer background.Wait()
	defer cancel()
	defer done.Store(true)

	eventually(t, "hits in the cache", func() bool { return s.metrics.cacheHits.Load() > 1000 })
	server.stop()
	reads, errs := s.metrics.databaseFound.Load(), s.metrics.cacheErrors.Load()
	eventually(t, "answers of the database alone", func() bool {
		return s.metrics.cacheErrors.Load() > errs+1000 && s.metrics.databaseFound.Load() > reads+1000
	})
	_, port, _ := net.SplitHostPort(server.addr)
	if _, err := startRedisAt(t, port); err != nil {
		t.Fatal(err)
	}
	hits := s.metrics.cacheHits.Load()
	eventually(t, "hits in the cache again", func() bool { return s.metrics.cacheHits.Load() > hits+1000 })
	done.Store(true)
	cancel()
	background.Wait()
	s.checkCounters()
}

// TestDatabaseFails takes the table away, and gives it back. Redis is not up either.
func TestDatabaseFails(t *testing.T) {
	const items = 100
	s := newService(t, "127.0.0.1:"+freePort(t), items)
	s.expect(http.StatusCreated, "POST", "/items/new-1", "1")
	s.exec(`ALTER TABLE items RENAME TO away`)
	for i := range items {
		s.expect(http.StatusServiceUnavailable, "GET", fmt.Sprint("/items/item-", i), "")
	}
	s.expect(http.StatusServiceUnavailable, "GET", "/items/new-1", "")
	s.expect(http.StatusServiceUnavailable, "POST", "/items/new-2", "2")
	s.expect(http.StatusServiceUnavailable, "DELETE", "/items/item-1", "")
	if err := s.guard.Rebuild(t.Context()); err == nil {
		t.Error("a rebuild without a database succeeded")
	}
	absent := 0
	for i := range 1000 {
		// What the filter knows it still knows; about the rest nobody can tell.
		switch status, _ := s.do("GET", fmt.Sprint("/items/missing-", i), ""); status {
		case http.StatusNotFound:
			absent++
		case http.StatusServiceUnavailable:
		default:
			t.Errorf("missing-%d: %d", i, status)
		}
	}
	if passed := 1000 - absent; passed > atMost(1000, testRate) {
		t.Errorf("%d of 1000 missing ids were answered 503", passed)
	}
	s.exec(`ALTER TABLE away RENAME TO items`)
	for i := range items {
		id := fmt.Sprint("item-", i)
		s.expectValue(id, "value of "+id)
	}
	s.expectValue("new-1", "1")
	s.checkCounters()
}

// TestRun runs the whole command twice over one database, as a client sees it.
func TestRun(t *testing.T) {
	noGoroutinesLeft(t)
	redisAddr := startRedis(t).addr
	cfg := config{db: filepath.Join(t.TempDir(), "items.sqlite"), redis: redisAddr, rate: testRate, rebuild: time.Hour}
	for round := range 2 {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		url := "http://" + listener.Addr().String()
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- run(ctx, cfg, listener) }()

		client := &http.Client{Transport: &http.Transport{}}
		request := func(method, path, body string) (int, string) {
			req, err := http.NewRequest(method, url+path, bytes.NewBufferString(body))
			if err != nil {
				t.Fatal(err)
			}
			response, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			answer, err := io.ReadAll(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			return response.StatusCode, string(answer)
		}
		expect := func(status int, method, path, body string) {
			t.Helper()
			if got, answer := request(method, path, body); got != status {
				t.Errorf("round %d: %s %s: %d %q, expected %d", round, method, path, got, answer, status)
			}
		}
		kept := fmt.Sprint("/items/kept-", round)
		expect(201, "POST", kept, "v")
		expect(409, "POST", kept, "w")
		expect(201, "POST", "/items/gone", "")
		expect(204, "DELETE", "/items/gone", "")
		expect(404, "GET", "/items/gone", "")
		expect(404, "DELETE", "/items/gone", "")
		expect(400, "POST", "/items/large", strings.Repeat("x", maxValue+1))
		expect(405, "PUT", kept, "")
		expect(202, "POST", "/rebuild", "")
		eventually(t, "the rebuild that was asked for", func() bool {
			_, metrics := request("GET", "/metrics", "")
			return strings.Contains(metrics, "\nguard_rebuilds_total 2\n")
		})
		for i := range round + 1 {
			expect(200, "GET", fmt.Sprint("/items/kept-", i), "")
		}
		stop()
		if err := <-ended; err != nil {
			t.Errorf("round %d: run: %v", round, err)
		}
		client.CloseIdleConnections()
	}
}
