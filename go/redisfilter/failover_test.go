package redisfilter

// Replicas that take over: what was confirmed is not lost, and what was lost was not confirmed.

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// afterInsert does something once, after a pipeline of inserts has been answered.
type afterInsert struct {
	noHook
	do func()
}

func (h *afterInsert) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		insert := func(cmd redis.Cmder) bool {
			return slices.Contains([]string{"bitfield", "bl.maddhash", "bf.insert"}, cmd.Name())
		}
		if do := h.do; do != nil && slices.ContainsFunc(cmds, insert) {
			h.do = nil
			do()
		}
		return err
	}
}

// TestTakenOver lets another server take over between an insert and the wait for replicas. It lacks
// the keys, and has a replica that would confirm anything.
func TestTakenOver(t *testing.T) {
	eachStore(t, allStores, func(t *testing.T, store Store, args []string) {
		replicaOf := func(master *server) *server {
			s := start(t, append([]string{"--replicaof", fmt.Sprint("127.0.0.1 ", master.port)}, args...)...)
			client := connect(t, s.addr)
			eventually(t, "a replica", func() bool {
				info, err := client.Info(t.Context(), "replication").Result()
				return err == nil && strings.Contains(info, "master_link_status:up")
			})
			return s
		}
		ctx := t.Context()
		first := start(t, args...)
		second := replicaOf(first)

		var address atomic.Pointer[string]
		address.Store(&first.addr)
		client := redis.NewClient(&redis.Options{
			Dialer: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, network, *address.Load())
			},
			MaintNotificationsConfig: quiet,
		})
		t.Cleanup(func() { client.Close() })
		hook := new(afterInsert)
		client.AddHook(hook)
		f, err := Reserve(ctx, client, "f", 20_000, 0.01, WithStore(store), WithShards(3), WithReplicas(1, 20*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		early, late := texts("early-", 1000), texts("late-", 1000)
		if _, err := f.AddStrings(ctx, early, nil); err != nil {
			t.Fatal(err)
		}
		if err := connect(t, second.addr).Do(ctx, "replicaof", "no", "one").Err(); err != nil {
			t.Fatal(err)
		}
		replicaOf(second)
		hook.do = func() {
			address.Store(&second.addr)
			first.stop()
		}
		if _, err := f.AddStrings(ctx, late, nil); !errors.Is(err, ErrReplicas) {
			maybe, _ := f.ContainsStrings(ctx, late, nil)
			t.Errorf("lost keys: %v, and %d of %d are denied", err, len(late)-maybe.Count(), len(late))
		}
		if _, err := f.AddStrings(ctx, late, nil); err != nil {
			t.Errorf("added again: %v", err)
		}
		for _, keys := range [][]string{early, late} {
			if maybe, err := f.ContainsStrings(ctx, keys, nil); err != nil || maybe.Count() != len(keys) {
				t.Errorf("%d of %d; %v", maybe.Count(), len(keys), err)
			}
		}
	})
}

// TestFailover kills the master that has the name and a third of the shards, while keys are added
// and probed. Its replica takes over.
func TestFailover(t *testing.T) {
	needModule(t)
	cluster := startCluster(t, moduleArgs()...)
	cluster.addReplicas(t, moduleArgs()...)
	cluster.setTimeout(t, 4*time.Second)
	client := cluster.connect(t)
	ctx := t.Context()
	f, err := Reserve(ctx, client, "f", 100_000, 0.01, WithShards(12), WithReplicas(1, 500*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	keys := texts("in-", 3000)
	eventually(t, "keys on replicas", func() bool {
		_, err := f.AddStrings(ctx, keys, nil)
		return err == nil
	})
	master, err := client.MasterForKey(ctx, "f")
	if err != nil {
		t.Fatal(err)
	}
	down := cluster.nodes[slices.IndexFunc(cluster.nodes, func(s *server) bool { return s.addr == master.Options().Addr })]

	// Whatever happens, no key that was confirmed is denied.
	var until atomic.Bool
	var group sync.WaitGroup
	var said sync.Map
	var confirmed []string
	group.Go(func() {
		for round := 0; !until.Load(); round++ {
			more := texts(fmt.Sprint(round, "-"), 100)
			if _, err := f.AddStrings(ctx, more, nil); err == nil {
				confirmed = append(confirmed, more...)
			} else {
				said.Store("insert: "+shortly(err), true)
			}
		}
	})
	group.Go(func() {
		for !until.Load() {
			maybe, err := f.ContainsStrings(ctx, keys, nil)
			if maybe.Count() != len(keys) {
				t.Errorf("%d of %d keys are denied; %v", len(keys)-maybe.Count(), len(keys), err)
			}
			var partial *PartialError
			if err != nil && !errors.As(err, &partial) {
				t.Errorf("not a PartialError: %v", err)
			} else if err != nil {
				said.Store("probe: "+shortly(err), true)
			}
		}
	})
	down.stop()
	// Another client, which opens the filter meanwhile.
	eventually(t, "a replica that has taken over", func() bool {
		others, err := Open(ctx, cluster.connect(t), "f")
		if err == nil {
			_, err = others.AddStrings(ctx, keys, nil)
		}
		return err == nil
	})
	// This client hears of it long before go-redis asks again by itself.
	eventually(t, "this client's way to the new master", func() bool {
		_, err := f.ContainsStrings(ctx, keys, nil)
		return err == nil
	})
	until.Store(true)
	group.Wait()
	said.Range(func(what, _ any) bool {
		t.Log(what)
		return true
	})

	all := append(confirmed, keys...)
	if maybe, err := f.ContainsStrings(ctx, all, nil); err != nil || maybe.Count() != len(all) {
		t.Errorf("%d of %d confirmed keys; %v", maybe.Count(), len(all), err)
	}
	if maybe, err := f.ContainsStrings(ctx, texts("out-", 3000), nil); err != nil || maybe.Count() > 300 {
		t.Errorf("%d of 3000 absent keys may be present; %v", maybe.Count(), err)
	}
	if master, err := client.MasterForKey(ctx, "f"); err != nil || master.Options().Addr == down.addr {
		t.Errorf("the master of the name is still %s; %v", down.addr, err)
	}
	// The new master has no replica to confirm anything.
	if _, err := f.AddStrings(ctx, keys, nil); !errors.Is(err, ErrReplicas) {
		t.Errorf("an insert that no replica can confirm: %v", err)
	}
}

// shortly is an error without addresses and counts.
func shortly(err error) string {
	text := err.Error()
	for _, word := range []string{"CLUSTERDOWN", "connection refused", "EOF", "connection reset", "too few replicas", "broken pipe"} {
		if strings.Contains(text, word) {
			return word
		}
	}
	return text
}
