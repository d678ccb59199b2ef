package main

// The guard with its filter in Redis, shared by all processes of the service: each may create
// items, and hears of those that others create. No list of recent ids is needed, since the filter
// itself is added to. That costs a round trip for each request, where [Guard] needs none.
//
// Why an id that exists is always found:
//
//  1. A create commits, then adds the id to the filter, then is acknowledged.
//  2. A rebuild stages its filter, then scans the database, then publishes. Inserts that begin
//     after the staging go to both filters. Those that began before had committed before, so the
//     scan finds them. (The scan must not begin before: its view is of one moment.)
//  3. What Redis cannot answer is passed on. What it did not take is not acknowledged: the client
//     repeats it, and is told that the item exists, once the filter has it.
//
// It rests on Redis keeping what it confirmed: redisfilter.WithReplicas waits for replicas.

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bloomline/bloomline/go/redisfilter"
	"github.com/redis/go-redis/v9"
)

// Shared is [Items] like [Guard], with a filter in Redis.
type Shared struct {
	next    Items
	source  Source
	name    string
	rate    float64
	metrics *Metrics
	filter  *redisfilter.Filter
	patient redis.UniversalClient // for rebuilds, which take longer than requests may

	rebuilding sync.Mutex // one rebuild at a time in this process
	wake       chan struct{}
	took       atomic.Int64 // the last rebuild, in nanoseconds
}

// NewShared returns a guard in front of next with the filter of this name. If there is none yet,
// it is built from source.
func NewShared(ctx context.Context, next Items, source Source, client, patient redis.UniversalClient, name string, rate float64, metrics *Metrics) (*Shared, error) {
	s := &Shared{next: next, source: source, name: name, rate: rate, metrics: metrics, patient: patient, wake: make(chan struct{}, 1)}
	for attempt := 0; ; attempt++ {
		filter, err := redisfilter.Open(ctx, client, name)
		if err == nil {
			s.filter = filter
			return s, nil
		}
		if !errors.Is(err, redisfilter.ErrNotFound) || attempt == 3 {
			return nil, err
		}
		// Another process may be building the first one, too: one of them will be published.
		if err := s.Rebuild(ctx); err != nil && attempt == 2 {
			return nil, err
		}
	}
}

// Get returns the value of an item.
func (s *Shared) Get(ctx context.Context, id string) ([]byte, error) {
	s.metrics.lookups.Add(1)
	if !s.MayHave(ctx, id) {
		s.metrics.absent.Add(1)
		return nil, ErrNotFound
	}
	value, err := s.next.Get(ctx, id)
	if errors.Is(err, ErrNotFound) {
		s.metrics.falsePositives.Add(1)
	}
	return value, err
}

// MayHave tells whether there may be an item of this id. False means that there is none.
func (s *Shared) MayHave(ctx context.Context, id string) bool {
	maybe, err := s.filter.ContainsString(ctx, id) // true if there is an error
	if err != nil {
		s.metrics.filterErrors.Add(1)
	}
	return maybe
}

// Create makes an item, and adds its id.
func (s *Shared) Create(ctx context.Context, id string, value []byte) error {
	err := s.next.Create(ctx, id, value)
	// Also after an error: the item may be there nevertheless. After ErrExists too: whoever made
	// it may not have reached Redis. A client that hangs up must not leave the id out.
	if _, failed := s.filter.AddString(context.WithoutCancel(ctx), id); failed != nil {
		s.metrics.filterErrors.Add(1)
		return errors.Join(errors.New("the filter did not take the id; repeat the request"), failed)
	}
	return err
}

// Delete removes an item. Its id stays in the filter until the next rebuild.
func (s *Shared) Delete(ctx context.Context, id string) error {
	return s.next.Delete(ctx, id)
}

// errCounted ends a scan that was for the number of ids.
var errCounted = errors.New("counted")

// Rebuild builds a filter of the ids that there are now, and replaces the one in use, for all
// processes. If it fails, all remains as it was.
func (s *Shared) Rebuild(ctx context.Context) (err error) {
	s.rebuilding.Lock()
	defer s.rebuilding.Unlock()
	start := time.Now()
	defer func() {
		if err != nil {
			s.metrics.rebuildFailures.Add(1)
			return
		}
		s.took.Store(int64(time.Since(start)))
		s.metrics.rebuilds.Add(1)
	}()

	var count int
	err = s.source.Scan(ctx, func(ids int) error {
		count = ids
		return errCounted
	}, nil)
	if !errors.Is(err, errCounted) {
		return err
	}
	// Room for as many again until the next rebuild. The seed is random.
	next, err := redisfilter.Stage(ctx, s.patient, s.name, max(2*count, 4096), s.rate)
	if err != nil {
		return err
	}
	var failed error
	err = s.source.Scan(ctx, func(int) error { return nil }, func(ids []string) {
		if failed == nil {
			_, failed = next.AddStrings(ctx, ids, nil)
		}
	})
	if err = errors.Join(err, failed); err == nil {
		err = next.Publish(ctx)
	}
	if err != nil {
		// Unless it is on its way already: then other clients see to it.
		_ = next.Delete(context.WithoutCancel(ctx))
	}
	return err
}

// RequestRebuild asks [Shared.Run] for a rebuild, and does not wait for it.
func (s *Shared) RequestRebuild() {
	select {
	case s.wake <- struct{}{}:
	default: // asked for already
	}
}

// Run rebuilds at this interval, and when asked to, until ctx ends. One process of all is enough.
func (s *Shared) Run(ctx context.Context, interval time.Duration) {
	runRebuilds(ctx, interval, s.wake, s.Rebuild)
}
