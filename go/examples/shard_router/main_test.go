package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	err := run(t.Context(), &out, t.TempDir(), 1000, 0.001)
	t.Log("\n" + out.String())
	if err != nil {
		t.Fatal(err)
	}
}

// shardsOf opens some empty shards.
func shardsOf(t *testing.T, count int) []*Shard {
	shards := make([]*Shard, count)
	for i := range shards {
		shard, err := OpenShard(t.Context(), filepath.Join(t.TempDir(), "shard.sqlite"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { shard.Close() })
		shards[i] = shard
	}
	return shards
}

// Keys are asked for as soon as they are committed, while shards change and columns are rebuilt: none is
// missed at any moment.
func TestNoKeyIsMissedWhileShardsChange(t *testing.T) {
	const count, rounds = 3, 40
	router, err := NewRouter(shardsOf(t, count), rounds, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var committed [count]atomic.Int64
	var writers, others sync.WaitGroup
	missing := func(shard int) {
		for i := range committed[shard].Load() {
			key := fmt.Sprintf("%d/%d", shard, i)
			if value, found, err := router.Get(t.Context(), key); err != nil || !found || value != "value of "+key {
				t.Errorf("%s: %v, %v", key, found, err)
			}
		}
	}
	for shard := range count {
		writers.Go(func() {
			for i := range rounds {
				if err := router.Change(t.Context(), shard, insert([]string{fmt.Sprintf("%d/%d", shard, i)})); err != nil {
					t.Error(err)
					return
				}
				committed[shard].Store(int64(i + 1))
			}
		})
		others.Go(func() {
			for ctx.Err() == nil {
				if err := router.Rebuild(t.Context(), shard); err != nil {
					t.Error(err)
				}
			}
		})
		others.Go(func() {
			for ctx.Err() == nil {
				missing(shard)
			}
		})
	}
	writers.Wait()
	stop()
	others.Wait()
	for shard := range count {
		if err := router.Rebuild(t.Context(), shard); err != nil {
			t.Fatal(err)
		}
	}
	for shard := range count {
		missing(shard)
	}
	if router.state.Load().open.Count() != 0 {
		t.Error("shards stay open")
	}
}

// A change that fails, and a rebuild that fails, leave the shard open, which is slower and right.
func TestFailuresLeaveShardsOpen(t *testing.T) {
	router, err := NewRouter(shardsOf(t, 2), 10, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	if err := router.RebuildAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("it failed")
	err = router.Change(t.Context(), 1, func(tx *sql.Tx) error {
		return errors.Join(insert([]string{"a"})(tx), failed)
	})
	if _, found, got := router.Get(t.Context(), "a"); !errors.Is(err, failed) || found || got != nil {
		t.Error(err, found, got)
	}
	if err := router.Change(t.Context(), 1, insert([]string{"b"})); err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := router.Rebuild(gone, 1); err == nil {
		t.Error("it was rebuilt")
	}
	if _, found, err := router.Get(t.Context(), "b"); !found || err != nil || !router.state.Load().open.Has(1) {
		t.Error("b is missed", err)
	}
	if err := router.Rebuild(t.Context(), 1); err != nil || router.state.Load().open.Count() != 0 {
		t.Error("it stays open", err)
	}
	router.shards[1].Close()
	if _, found, err := router.Get(t.Context(), "b"); found || err == nil {
		t.Error("a database that does not answer is no 'not found'")
	}
}
