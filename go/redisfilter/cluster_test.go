package redisfilter

// What only a cluster does: one round trip to each node, nodes that are down, slots that move.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
)

// What go-redis says of nodes that are down is meant to happen here.
func init() { logging.Disable() }

// counter counts what a node is sent.
type counter struct {
	noHook
	pipelines, commands, single atomic.Int64
}

func (c *counter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		c.single.Add(1)
		return next(ctx, cmd)
	}
}

func (c *counter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		// A connection says hello in a pipeline of its own.
		if name := cmds[0].Name(); name != "hello" && name != "client" {
			c.pipelines.Add(1)
			c.commands.Add(int64(len(cmds)))
		}
		return next(ctx, cmds)
	}
}

// TestOneRoundTripPerNode sends a batch of 10,000 keys.
func TestOneRoundTripPerNode(t *testing.T) {
	eachStore(t, allStores, func(t *testing.T, store Store, args []string) {
		cluster := startCluster(t, args...)
		client := cluster.connect(t)
		var mu sync.Mutex
		nodes := make(map[string]*counter)
		client.OnNewNode(func(node *redis.Client) {
			mu.Lock()
			defer mu.Unlock()
			c := new(counter)
			nodes[node.Options().Addr] = c
			node.AddHook(c)
		})
		ctx := t.Context()
		f, err := Reserve(ctx, client, "f", 100_000, 0.01, WithStore(store), WithShards(64))
		if err != nil {
			t.Fatal(err)
		}
		keys := texts("k-", 10_000)
		for _, add := range []bool{true, false} {
			for _, c := range nodes {
				c.pipelines.Store(0)
				c.commands.Store(0)
				c.single.Store(0)
			}
			want, got := 64*2, int64(0) // a command and a check for each shard
			if store == StoreLines {
				want = 64 + len(keys)
			}
			if add {
				want++ // which generations there are
				_, err = f.AddStrings(ctx, keys, nil)
			} else {
				_, err = f.ContainsStrings(ctx, keys, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			for addr, c := range nodes {
				t.Logf("%s: %d pipelines of %d commands, %d single ones", addr, c.pipelines.Load(), c.commands.Load(), c.single.Load())
				if c.pipelines.Load() != 1 || c.single.Load() != 0 {
					t.Errorf("%s: not one round trip", addr)
				}
				got += c.commands.Load()
			}
			if len(nodes) != 3 || got != int64(want) {
				t.Errorf("%d commands to %d nodes, want %d to 3", got, len(nodes), want)
			}
		}
	})
}

// TestNodeDown kills a node. Its keys may be present; those of the others have their answers.
func TestNodeDown(t *testing.T) {
	eachStore(t, allStores, func(t *testing.T, store Store, args []string) {
		cluster := startCluster(t, append([]string{"--cluster-require-full-coverage", "no"}, args...)...)
		client := cluster.connect(t)
		ctx := t.Context()
		f, err := Reserve(ctx, client, "f", 20_000, 0.01, WithStore(store), WithShards(12))
		if err != nil {
			t.Fatal(err)
		}
		keys := texts("in-", 3000)
		if _, err := f.AddStrings(ctx, keys, nil); err != nil {
			t.Fatal(err)
		}
		// Not the one that has the name.
		down := cluster.nodes[0]
		if master, err := client.MasterForKey(ctx, "f"); err != nil {
			t.Fatal(err)
		} else if master.Options().Addr == down.addr {
			down = cluster.nodes[1]
		}
		down.stop()
		for round := range 2 {
			maybe, err := f.ContainsStrings(ctx, keys, nil)
			var partial *PartialError
			if maybe.Count() != len(keys) || !errors.As(err, &partial) {
				t.Fatalf("round %d: %d of %d; %v", round, maybe.Count(), len(keys), err)
			}
			if missing := len(partial.Keys); missing < len(keys)/10 || missing > len(keys)*6/10 {
				t.Errorf("round %d: no answer for %d of %d", round, missing, len(keys))
			}
			absent, err := f.ContainsStrings(ctx, texts("out-", 3000), nil)
			if err == nil || absent.Count() > 2000 || absent.Count() < 300 {
				t.Errorf("round %d: %d of 3000 absent keys may be present; %v", round, absent.Count(), err)
			}
			added, err := f.AddStrings(ctx, texts(fmt.Sprint("new-", round), 3000), nil)
			if !errors.As(err, &partial) || added.Count() > 2800 || added.Count() < 1000 {
				t.Errorf("round %d: %d added; %v", round, added.Count(), err)
			}
		}
	})
}

// TestSlotsMove moves every shard to another node while it is added to and probed.
func TestSlotsMove(t *testing.T) {
	eachStore(t, allStores, func(t *testing.T, store Store, args []string) {
		cluster := startCluster(t, args...)
		client := cluster.connect(t)
		ctx := t.Context()
		f, err := Reserve(ctx, client, "f", 50_000, 0.01, WithStore(store), WithShards(9))
		if err != nil {
			t.Fatal(err)
		}
		keys := texts("in-", 2000)
		if _, err := f.AddStrings(ctx, keys, nil); err != nil {
			t.Fatal(err)
		}
		var until atomic.Bool
		var group sync.WaitGroup
		group.Go(func() { keepAsking(t, f, keys, &until) })
		group.Go(func() {
			for round := 0; !until.Load(); round++ {
				more := texts(fmt.Sprint(round, "-"), 100)
				if _, err := f.AddStrings(ctx, more, nil); err != nil {
					continue // not acknowledged
				}
				if maybe, _ := f.ContainsStrings(ctx, more, nil); maybe.Count() != len(more) {
					t.Errorf("%d of %d keys are denied", len(more)-maybe.Count(), len(more))
				}
			}
		})
		for _, key := range f.state.Load().keys {
			cluster.move(t, key)
		}
		until.Store(true)
		group.Wait()
		if maybe, err := f.ContainsStrings(ctx, keys, nil); err != nil || maybe.Count() != len(keys) {
			t.Errorf("%d of %d; %v", maybe.Count(), len(keys), err)
		}
	})
}

// move gives the slot of a key, and the key, to another node.
func (c *cluster) move(t testing.TB, key string) {
	t.Helper()
	ctx := t.Context()
	slot, err := connect(t, c.nodes[0].addr).ClusterKeySlot(ctx, key).Result()
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]string, len(c.nodes))
	clients := make([]*redis.Client, len(c.nodes))
	from := -1
	for i, node := range c.nodes {
		clients[i] = connect(t, node.addr)
		if ids[i], err = clients[i].ClusterMyID(ctx).Result(); err != nil {
			t.Fatal(err)
		}
		if count, err := clients[i].Exists(ctx, key).Result(); err == nil && count == 1 {
			from = i
		}
	}
	if from < 0 {
		t.Fatalf("nobody has %s", key)
	}
	to := (from + 1) % len(c.nodes)
	do := func(client *redis.Client, args ...any) {
		t.Helper()
		if err := client.Do(ctx, args...).Err(); err != nil && !strings.HasPrefix(err.Error(), "NOKEY") {
			t.Fatalf("%v: %v", args, err)
		}
	}
	do(clients[to], "cluster", "setslot", slot, "importing", ids[from])
	do(clients[from], "cluster", "setslot", slot, "migrating", ids[to])
	do(clients[from], "migrate", "127.0.0.1", c.nodes[to].port, key, 0, 10_000)
	for _, i := range []int{to, from, (to + 1) % len(c.nodes)} {
		do(clients[i], "cluster", "setslot", slot, "node", ids[to])
	}
	// Before the next slot moves: nodes that do not know each other's epochs take slots back.
	eventually(t, "nodes that agree", func() bool {
		views := make(map[string]bool)
		for _, client := range clients {
			text, err := client.Do(ctx, "cluster", "nodes").Text()
			if err != nil {
				t.Fatal(err)
			}
			var view []string
			for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
				fields := strings.Fields(line) // id, address, ..., epoch, state, slots
				view = append(view, fmt.Sprint(fields[0], fields[6], fields[8:]))
			}
			slices.Sort(view)
			views[strings.Join(view, "\n")] = true
		}
		return len(views) == 1
	})
}
