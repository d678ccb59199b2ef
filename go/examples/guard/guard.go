package main

// The guard: a Bloom filter of all ids in front of the items. This file is the point of the
// example. The filter answers "absent" for an id that is not there, at a chosen rate of
// exceptions. It must never do so for an id that is there: not while ids are created, and not
// while the filter is rebuilt. Rebuilds are for deleted ids, which a Bloom filter cannot forget.
//
// A bloomline.Filter has many readers or one writer. So a filter that requests can see never
// changes, and no request ever waits for one:
//
//   - published holds the filter in use. A rebuild fills another and then replaces it.
//   - recent holds the ids that were created since: the filter in use may lack them.
//
// Why an id that exists is always found. Each of these orders matters:
//
//  1. A create commits, then adds the id to recent, then is acknowledged. So a request that
//     begins after the acknowledgement finds it in recent, as long as it is there.
//  2. A rebuild first begins a new epoch, then scans the database. Whatever was added to
//     recent in an earlier epoch had been committed before, and so the scan finds it. (If
//     creates added first and committed later, the scan could miss the id.)
//  3. A rebuild first publishes its filter, then drops from recent the ids of earlier epochs,
//     which the filter has. Those of its own epoch stay until the next: the scan may have
//     come too early for them. A rebuild that fails drops nothing.
//  4. A request asks recent first, the filter second. If it no longer finds the id in recent,
//     then the filter that has it was published before it looks. (The other way around, both
//     could change in between, and it would miss the id in the old filter and in recent.)
//
// It rests on two things: all creates come through this process, and the scan is of the
// database that they were committed to, not of a replica that lags behind.

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	bloomline "github.com/bloomline/bloomline/go"
)

// Guard is [Items] that answers [ErrNotFound] by itself for nearly all ids that are not there.
type Guard struct {
	next    Items
	source  Source
	rate    float64
	metrics *Metrics

	published atomic.Pointer[published]

	// A sync.Map, since nearly every request reads it and few write: its readers take no
	// lock. What it promises of the order of reads and writes is what (4) needs.
	recent    sync.Map     // of id to the epoch in which it was added
	recentLen atomic.Int64 // for recent has no Len
	minRecent int64        // see recentLimit

	mu    sync.Mutex // makes one step of adding to recent in an epoch
	epoch uint64     // how many rebuilds have begun

	// The epoch of the last id for which recent had no room, or 0. Until a filter that has
	// it is published, nothing is answered "absent".
	overflow atomic.Uint64

	rebuilding sync.Mutex    // one rebuild at a time
	wake       chan struct{} // asks Run for a rebuild
}

// published is a filter in use, and what is known of it. It never changes.
type published struct {
	filter *bloomline.Filter
	rate   float64 // estimated of its bits
	took   time.Duration
}

// NewGuard returns a guard in front of next, once it has loaded the ids of source.
// The filter has a false-positive rate of at most rate.
func NewGuard(ctx context.Context, next Items, source Source, rate float64, metrics *Metrics) (*Guard, error) {
	g := &Guard{
		next:      next,
		source:    source,
		rate:      rate,
		metrics:   metrics,
		minRecent: 4096,
		wake:      make(chan struct{}, 1),
	}
	if err := g.Rebuild(ctx); err != nil {
		return nil, err
	}
	return g, nil
}

// Get returns the value of an item.
func (g *Guard) Get(ctx context.Context, id string) ([]byte, error) {
	g.metrics.lookups.Add(1)
	if !g.MayHave(id) {
		g.metrics.absent.Add(1)
		return nil, ErrNotFound
	}
	value, err := g.next.Get(ctx, id)
	if errors.Is(err, ErrNotFound) {
		g.metrics.falsePositives.Add(1)
	}
	return value, err
}

// Create makes an item, and adds its id.
func (g *Guard) Create(ctx context.Context, id string, value []byte) error {
	err := g.next.Create(ctx, id, value)
	// Also after an error: the item may be there nevertheless, if only the confirmation was
	// lost. An id too many costs a read, one too few denies an item. (SQLite has committed
	// by now or never will. A database across a network may do so later, even after the next
	// scan has begun; then only the rebuild after that one finds the id.)
	g.Add(id)
	return err
}

// Delete removes an item. Its id stays in the filter until the next rebuild; a request for it
// is then a false positive.
func (g *Guard) Delete(ctx context.Context, id string) error {
	return g.next.Delete(ctx, id)
}

// MayHave tells whether there may be an item of this id. False means that there is none.
func (g *Guard) MayHave(id string) bool {
	if g.overflow.Load() != 0 {
		return true
	}
	if _, ok := g.recent.Load(id); ok {
		return true
	}
	return g.published.Load().filter.ContainsString(id)
}

// Add adds an id that has been committed. [Guard.Create] does it; call it for ids of which
// the guard hears otherwise.
func (g *Guard) Add(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	limit := g.recentLimit()
	if g.recentLen.Load() >= 4*limit {
		g.overflow.Store(g.epoch)
	} else if _, was := g.recent.Swap(id, g.epoch); !was {
		g.recentLen.Add(1)
	}
	if g.recentLen.Load() >= limit {
		g.RequestRebuild()
	}
}

// recentLimit is how many recent ids call for a rebuild. There is room for some more, as it
// takes its time. An entry takes some 100 times the memory that the filter takes for an id:
// at one in a hundred, recent is about as large as the filter.
func (g *Guard) recentLimit() int64 {
	return max(g.minRecent, int64(g.published.Load().filter.KeyCount()/100))
}

// Rebuild builds a filter of the ids that there are now, and replaces the one in use. Requests
// go on meanwhile. If it fails, all remains as it was.
func (g *Guard) Rebuild(ctx context.Context) error {
	g.rebuilding.Lock()
	defer g.rebuilding.Unlock()
	start := time.Now()

	g.mu.Lock()
	g.epoch++
	epoch := g.epoch
	g.mu.Unlock()

	var filter *bloomline.Filter
	err := g.source.Scan(ctx, func(count int) (err error) {
		// The seed is secret, so that nobody can search for ids that are false positives.
		filter, err = bloomline.New(count, g.rate, bloomline.WithRandomSeed())
		return err
	}, func(ids []string) {
		filter.AddStrings(ids)
	})
	if err != nil {
		g.metrics.rebuildFailures.Add(1)
		return err
	}

	g.published.Store(&published{filter, filter.EstimatedRate(), time.Since(start)})
	g.dropBefore(epoch)
	g.metrics.rebuilds.Add(1)
	return nil
}

// dropBefore drops the recent ids of earlier epochs: the filter in use has them.
func (g *Guard) dropBefore(epoch uint64) {
	g.recent.Range(func(id, added any) bool {
		// An id that has been added again meanwhile is of this epoch now, and stays.
		if added.(uint64) < epoch && g.recent.CompareAndDelete(id, added) {
			g.recentLen.Add(-1)
		}
		return true
	})
	if of := g.overflow.Load(); of < epoch {
		g.overflow.CompareAndSwap(of, 0)
	}
}

// RequestRebuild asks [Guard.Run] for a rebuild, and does not wait for it.
func (g *Guard) RequestRebuild() {
	select {
	case g.wake <- struct{}{}:
	default: // asked for already
	}
}

// Run rebuilds at this interval, and when asked to, until ctx ends.
func (g *Guard) Run(ctx context.Context, interval time.Duration) {
	runRebuilds(ctx, interval, g.wake, g.Rebuild)
}

func runRebuilds(ctx context.Context, interval time.Duration, wake <-chan struct{}, rebuild func(context.Context) error) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-wake:
		}
		if err := rebuild(ctx); err != nil {
			if ctx.Err() != nil {
				return
			}
			slog.Error("rebuild failed; the filter in use stays", "error", err)
			select { // creates may go on asking for one
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	}
}
