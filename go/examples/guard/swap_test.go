package main

// The orders that guard.go rests on, one test each, over items in memory. Each test uses many
// ids, so that false positives cannot hide a loss.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func newIDs(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprint("new-", i)
	}
	return ids
}

func create(t *testing.T, g *Guard, ids ...string) {
	t.Helper()
	for _, id := range ids {
		if err := g.Create(t.Context(), id, nil); err != nil {
			t.Fatal(err)
		}
	}
}

func rebuild(t *testing.T, g *Guard) {
	t.Helper()
	if err := g.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// mustHave fails if the guard denies one of the ids.
func mustHave(t *testing.T, g *Guard, ids []string) {
	t.Helper()
	denied := 0
	for _, id := range ids {
		if !g.MayHave(id) {
			denied++
		}
	}
	if denied > 0 {
		t.Errorf("%d of %d ids that exist are denied", denied, len(ids))
	}
}

func TestCreateWhileScanning(t *testing.T) {
	m, g := newMemoryGuard(t)
	ids := newIDs(1000)
	m.duringScan = func() error {
		create(t, g, ids...)
		mustHave(t, g, ids)
		return nil
	}
	rebuild(t, g)
	mustHave(t, g, ids) // the filter in use lacks them
	rebuild(t, g)
	mustHave(t, g, ids) // it has them
	if n := g.recentLen.Load(); n != 0 {
		t.Errorf("%d ids are still recent, and the filter has them", n)
	}
}

func TestRebuildBeforeCommit(t *testing.T) {
	m, g := newMemoryGuard(t)
	ids := newIDs(100)
	for _, id := range ids {
		m.beforeCommit = func() { rebuild(t, g) }
		create(t, g, id)
		mustHave(t, g, []string{id})
	}
}

func TestRebuildBetweenCommitAndAdd(t *testing.T) {
	m, g := newMemoryGuard(t)
	ids := newIDs(100)
	for _, id := range ids {
		m.afterCommit = func() { rebuild(t, g) }
		create(t, g, id)
	}
	mustHave(t, g, ids)
	rebuild(t, g)
	mustHave(t, g, ids)
}

func TestCreateUnconfirmed(t *testing.T) {
	m, g := newMemoryGuard(t)
	m.createError = errors.New("connection lost")
	ids := newIDs(1000)
	for _, id := range ids {
		if err := g.Create(t.Context(), id, nil); err == nil {
			t.Fatal("the error is lost")
		}
	}
	mustHave(t, g, ids)
}

func TestCreateAgainWhileScanning(t *testing.T) {
	m, g := newMemoryGuard(t)
	ids := newIDs(1000)
	create(t, g, ids...)
	for _, id := range ids {
		if err := g.Delete(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	m.duringScan = func() error {
		create(t, g, ids...)
		return nil
	}
	rebuild(t, g)
	mustHave(t, g, ids)
}

func TestFailedRebuildKeepsAll(t *testing.T) {
	m, g := newMemoryGuard(t)
	ids := newIDs(2000)
	create(t, g, ids[:1000]...)
	broken := errors.New("broken")
	m.duringScan = func() error {
		create(t, g, ids[1000:]...)
		return broken
	}
	if err := g.Rebuild(t.Context()); !errors.Is(err, broken) {
		t.Fatalf("the scan failed, and Rebuild returned %v", err)
	}
	mustHave(t, g, ids)
	rebuild(t, g)
	mustHave(t, g, ids)
}

func TestDeletedAreAbsentAfterRebuild(t *testing.T) {
	m, g := newMemoryGuard(t)
	ids := newIDs(1000)
	create(t, g, ids...)
	rebuild(t, g)
	for _, id := range ids {
		m.Delete(t.Context(), id)
	}
	mustHave(t, g, ids) // a filter cannot forget
	rebuild(t, g)
	if n := countMaybe(g, ids); n > atMost(len(ids), 0.01) {
		t.Errorf("%d of %d deleted ids still pass", n, len(ids))
	}
}

func TestMoreRecentThanThereIsRoomFor(t *testing.T) {
	m, g := newMemoryGuard(t)
	g.minRecent = 100
	ids, others := newIDs(1000), make([]string, 1000)
	for i := range others {
		others[i] = fmt.Sprint("other-", i)
	}
	m.duringScan = func() error {
		create(t, g, ids...)
		return nil
	}
	rebuild(t, g)
	mustHave(t, g, ids)
	if n := g.recentLen.Load(); n != 4*g.minRecent {
		t.Errorf("%d ids are recent, and there is room for %d", n, 4*g.minRecent)
	}
	mustHave(t, g, others) // nothing is denied while ids may be missing
	rebuild(t, g)
	mustHave(t, g, ids)
	if n := countMaybe(g, others); n > atMost(len(others), 0.01) {
		t.Errorf("%d of %d missing ids pass after the rebuild", n, len(others))
	}
}

func TestRunRebuildsWhenManyAreRecent(t *testing.T) {
	_, g := newMemoryGuard(t)
	g.minRecent = 100
	ctx, cancel := context.WithCancel(t.Context())
	var tasks sync.WaitGroup
	defer tasks.Wait()
	defer cancel()
	tasks.Go(func() { g.Run(ctx, time.Hour) })
	ids := newIDs(100)
	create(t, g, ids...)
	eventually(t, "a rebuild", func() bool { return g.recentLen.Load() == 0 })
	mustHave(t, g, ids)
}

// TestReadWhileSwapping reads ids just created while filters are swapped as fast as they can be
// built.
func TestReadWhileSwapping(t *testing.T) {
	_, g := newMemoryGuard(t)
	const rebuilds, kept = 60, 1024
	var (
		tasks   sync.WaitGroup
		done    atomic.Bool
		created atomic.Int64 // ids 0 to created-1 have been acknowledged
	)
	id := func(i int64) string { return fmt.Sprint("new-", i) }
	for range 2 {
		tasks.Go(func() {
			for !done.Load() {
				i := created.Load() - 1 - rand.Int64N(kept/2)
				// If it was denied, and less than kept ids were created since, it was there.
				if i >= 0 && !g.MayHave(id(i)) && created.Load() < i+kept {
					t.Errorf("id %d was created, and is denied", i)
					return
				}
			}
		})
	}
	tasks.Go(func() {
		for i := int64(0); !done.Load(); i++ {
			create(t, g, id(i))
			created.Store(i + 1)
			if i >= kept { // few items, quick rebuilds
				g.Delete(t.Context(), id(i-kept))
			}
			for g.recentLen.Load() > kept && !done.Load() {
				runtime.Gosched()
			}
		}
	})
	for range rebuilds {
		rebuild(t, g)
	}
	done.Store(true)
	tasks.Wait()
	t.Logf("%d rebuilds, %d ids created", rebuilds, created.Load())
}

// TestSwapWithinRead swaps filters between the two looks of a read. To hash a very long id
// takes long enough for that.
func TestSwapWithinRead(t *testing.T) {
	_, g := newMemoryGuard(t)
	long := strings.Repeat("x", 16<<20)
	for i := range 30 {
		id := fmt.Sprint(i) + long
		create(t, g, id)
		rebuildWhileReading(t, g, []string{id})
		g.Delete(t.Context(), id)
	}
}

// TestReadWhileDropping has so many recent ids that it takes a while to drop them.
func TestReadWhileDropping(t *testing.T) {
	_, g := newMemoryGuard(t)
	ids := newIDs(50_000)
	g.minRecent = int64(len(ids))
	for range 3 {
		create(t, g, ids...)
		rebuildWhileReading(t, g, ids)
		for _, id := range ids {
			g.Delete(t.Context(), id)
		}
		rebuild(t, g)
	}
}

// rebuildWhileReading rebuilds once, and asks for ids that exist all the while.
func rebuildWhileReading(t *testing.T, g *Guard, ids []string) {
	t.Helper()
	var done atomic.Bool
	var tasks sync.WaitGroup
	reading := make(chan struct{})
	tasks.Go(func() {
		close(reading)
		for !done.Load() {
			if id := ids[rand.IntN(len(ids))]; !g.MayHave(id) {
				t.Errorf("an id that exists is denied: %.20s", id)
				return
			}
		}
	})
	<-reading
	rebuild(t, g)
	done.Store(true)
	tasks.Wait()
}

// countMaybe counts the ids that pass the filter.
func countMaybe(g *Guard, ids []string) (n int) {
	for _, id := range ids {
		if g.MayHave(id) {
			n++
		}
	}
	return n
}
