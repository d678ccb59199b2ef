package main

// The service under test, with a real database, and what the tests ask of it.

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

const testRate = 0.01

// service is the service under test. What reaches the cache and the database is counted beside
// the service's own counters, which are under test too.
type service struct {
	t        *testing.T
	dbPath   string
	database *Database
	redis    *redis.Client
	guard    *Guard
	metrics  *Metrics
	handler  http.Handler

	missingInCache    atomic.Int64 // look-ups of "missing-..."
	missingInDatabase atomic.Int64
	failDel           atomic.Bool  // DELs do not reach Redis
	beforeSet         func()       // called before the next SET
	requests          atomic.Int64 // GETs that the test sent
}

// newService starts a service over items "item-0" up to "item-<n-1>", with Redis at redisAddr.
func newService(t *testing.T, redisAddr string, n int) *service {
	t.Helper()
	noGoroutinesLeft(t)
	s := &service{t: t, dbPath: filepath.Join(t.TempDir(), "items.sqlite"), metrics: new(Metrics)}
	var err error
	if s.database, err = OpenDatabase(t.Context(), s.dbPath, s.metrics); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.database.Close() })
	s.exec(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ? - 1)
		INSERT INTO items SELECT 'item-' || i, CAST('value of item-' || i AS BLOB) FROM n`, n)
	s.redis = OpenRedis(redisAddr, time.Minute) // however slow the machine is
	t.Cleanup(func() { s.redis.Close() })
	s.redis.AddHook(redisHook{s})
	cache := NewCache(&countingItems{s.database, s}, s.redis, s.metrics)
	if s.guard, err = NewGuard(t.Context(), cache, s.database, testRate, s.metrics); err != nil {
		t.Fatal(err)
	}
	s.handler = NewServer(s.guard, s.metrics)
	return s
}

// exec changes the database behind the service's back.
func (s *service) exec(statement string, args ...any) {
	s.t.Helper()
	db, err := sql.Open("sqlite", s.dbPath+"?_busy_timeout=60000")
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement, args...); err != nil {
		s.t.Fatal(err)
	}
}

// countingItems counts look-ups in the database.
type countingItems struct {
	Items
	s *service
}

func (c *countingItems) Get(ctx context.Context, id string) ([]byte, error) {
	if strings.HasPrefix(id, "missing-") {
		c.s.missingInDatabase.Add(1)
	}
	return c.Items.Get(ctx, id)
}

// redisHook counts look-ups in Redis, and lets commands fail.
type redisHook struct{ s *service }

func (h redisHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		switch {
		case cmd.Name() == "get" && strings.Contains(fmt.Sprint(cmd.Args()[1]), ":missing-"):
			h.s.missingInCache.Add(1)
		case cmd.Name() == "del" && h.s.failDel.Load():
			err := errors.New("lost on the way")
			cmd.SetErr(err)
			return err
		case cmd.Name() == "set":
			once(&h.s.beforeSet)
		}
		return next(ctx, cmd)
	}
}

func (redisHook) DialHook(next redis.DialHook) redis.DialHook { return next }

func (redisHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// do sends a request to the handler.
func (s *service) do(method, path, body string) (status int, answer string) {
	if method == "GET" && strings.HasPrefix(path, "/items/") {
		s.requests.Add(1)
	}
	recorder := httptest.NewRecorder()
	s.handler.ServeHTTP(recorder, httptest.NewRequest(method, path, strings.NewReader(body)))
	return recorder.Code, recorder.Body.String()
}

// expect sends a request, and tells whether it was answered with this status.
func (s *service) expect(status int, method, path, body string) bool {
	s.t.Helper()
	got, answer := s.do(method, path, body)
	if got != status {
		s.t.Errorf("%s %s: %d %q, expected %d", method, path, got, answer, status)
	}
	return got == status
}

// expectValue gets an item, and tells whether it is there with its value.
func (s *service) expectValue(id, value string) bool {
	s.t.Helper()
	status, answer := s.do("GET", "/items/"+id, "")
	if status != http.StatusOK || answer != value {
		s.t.Errorf("GET %s: %d %q, expected 200 %q", id, status, answer, value)
		return false
	}
	return true
}

// readItems gets existing items until done, or until an answer is wrong.
func (s *service) readItems(n int, done *atomic.Bool) {
	for !done.Load() {
		id := fmt.Sprint("item-", rand.IntN(n))
		if !s.expectValue(id, "value of "+id) {
			return
		}
	}
}

// churn creates and deletes items of its own until done, and gets them on the way: each
// answer must be that of the last change.
func (s *service) churn(name string, done *atomic.Bool) {
	values := make(map[string]string) // "": deleted
	for i := 0; !done.Load(); i++ {
		path := fmt.Sprintf("%s-%d", name, rand.IntN(200))
		ok := true
		switch value := values[path]; {
		case value == "":
			value = fmt.Sprint("value ", i)
			values[path] = value
			ok = s.expect(http.StatusCreated, "POST", "/items/"+path, value) && s.expectValue(path, value)
		case i%3 == 0:
			values[path] = ""
			ok = s.expect(http.StatusNoContent, "DELETE", "/items/"+path, "") &&
				s.expect(http.StatusNotFound, "GET", "/items/"+path, "")
		default:
			ok = s.expectValue(path, value)
		}
		if !ok {
			return
		}
	}
}

// scrape returns what /metrics tells.
func (s *service) scrape() map[string]float64 {
	s.t.Helper()
	status, text := s.do("GET", "/metrics", "")
	if status != http.StatusOK {
		s.t.Fatalf("/metrics: %d", status)
	}
	values := make(map[string]float64)
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var name string
		var value float64
		if _, err := fmt.Sscan(line, &name, &value); err != nil {
			s.t.Fatalf("/metrics: %q: %v", line, err)
		}
		values[strings.TrimPrefix(name, "guard_")] = value
	}
	return values
}

// checkCounters checks that the counters add up, once no request is under way.
func (s *service) checkCounters() map[string]float64 {
	s.t.Helper()
	m := s.scrape()
	equal := func(what string, a, b float64) {
		s.t.Helper()
		if a != b {
			s.t.Errorf("counters: %s: %v and %v", what, a, b)
		}
	}
	equal("lookups, and GETs sent", m["lookups_total"], float64(s.requests.Load()))
	equal("lookups, and what became of them", m["lookups_total"],
		m["absent_total"]+m["cache_hits_total"]+m["cache_misses_total"]+m["cache_errors_total"])
	equal("cache misses and errors, and database reads",
		m["cache_misses_total"]+m["cache_errors_total"], m["database_reads_total"])
	equal("database reads, and what became of them", m["database_reads_total"],
		m["database_found_total"]+m["false_positives_total"]+m["database_errors_total"])
	return m
}

// atMost is more than n trials at this rate ever hit: six standard deviations above the mean.
func atMost(n int, rate float64) int {
	mean := float64(n) * rate
	return int(math.Ceil(mean + 6*math.Sqrt(mean*(1-rate))))
}

// eventually waits for something that has to happen.
func eventually(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !happened(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited a minute for %s", what)
		}
	}
}

// noGoroutinesLeft fails the test if, after all cleanups registered later, more goroutines run
// than now.
func noGoroutinesLeft(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				stacks := make([]byte, 1<<20)
				t.Fatalf("goroutines are left:\n%s", stacks[:runtime.Stack(stacks, true)])
			}
		}
	})
}
