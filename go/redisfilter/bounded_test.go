package redisfilter

// Servers that do not answer, and errors that are not about a key: both are named, and no call
// lasts longer than its context.

import (
	"context"
	"errors"
	"io"
	"net"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// patient is options of a client that would wait for ever.
func patient(addr string) *redis.Options {
	return &redis.Options{
		Addr: addr, MaxRetries: -1, ReadTimeout: -1, WriteTimeout: -1, PoolTimeout: time.Hour,
		DialTimeout: time.Hour, MaintNotificationsConfig: quiet,
	}
}

// calls is every method of a filter that takes a context, and whether its answer is sound with an
// error beside it.
func calls(t *testing.T, other *Filter) map[string]func(ctx context.Context, f *Filter) (bool, error) {
	dir, files := t.TempDir(), []string{writeShard(t, other)}
	keys, texts, hashes := [][]byte{[]byte("a"), []byte("b")}, []string{"a", "b"}, []uint64{1, 2}
	all := map[string]func(ctx context.Context, f *Filter) (bool, error){
		"Add":       func(ctx context.Context, f *Filter) (bool, error) { is, err := f.Add(ctx, keys[0]); return !is, err },
		"AddString": func(ctx context.Context, f *Filter) (bool, error) { is, err := f.AddString(ctx, "a"); return !is, err },
		"AddBatch": func(ctx context.Context, f *Filter) (bool, error) {
			out, err := f.AddBatch(ctx, keys, nil)
			return out.Count() == 0, err
		},
		"AddStrings": func(ctx context.Context, f *Filter) (bool, error) {
			out, err := f.AddStrings(ctx, texts, nil)
			return out.Count() == 0, err
		},
		"AddHashes": func(ctx context.Context, f *Filter) (bool, error) {
			out, err := f.AddHashes(ctx, hashes, nil)
			return out.Count() == 0, err
		},
		"Contains":       func(ctx context.Context, f *Filter) (bool, error) { return f.Contains(ctx, keys[0]) },
		"ContainsString": func(ctx context.Context, f *Filter) (bool, error) { return f.ContainsString(ctx, "a") },
		"ContainsBatch": func(ctx context.Context, f *Filter) (bool, error) {
			out, err := f.ContainsBatch(ctx, keys, nil)
			return out.Count() == 2 && len(out) == 1, err
		},
		"ContainsStrings": func(ctx context.Context, f *Filter) (bool, error) {
			out, err := f.ContainsStrings(ctx, texts, nil)
			return out.Count() == 2, err
		},
		"ContainsHashes": func(ctx context.Context, f *Filter) (bool, error) {
			out, err := f.ContainsHashes(ctx, hashes, nil)
			return out.Count() == 2, err
		},
		"Info":        func(ctx context.Context, f *Filter) (bool, error) { _, err := f.Info(ctx); return true, err },
		"Export":      func(ctx context.Context, f *Filter) (bool, error) { _, err := f.Export(ctx, dir); return true, err },
		"ExportShard": func(ctx context.Context, f *Filter) (bool, error) { return true, f.ExportShard(ctx, 0, io.Discard) },
		"Merge":       func(ctx context.Context, f *Filter) (bool, error) { return true, f.Merge(ctx, other) },
		"MergeFiles":  func(ctx context.Context, f *Filter) (bool, error) { return true, f.MergeFiles(ctx, files) },
		"Publish": func(ctx context.Context, f *Filter) (bool, error) {
			f.staged.Store(true)
			defer f.staged.Store(false)
			return true, f.Publish(ctx)
		},
		"Delete": func(ctx context.Context, f *Filter) (bool, error) { return true, f.Delete(ctx) },
	}
	// Functions of the package, for the client of f.
	made := func(ctx context.Context, make func() (*Filter, error)) (bool, error) {
		f, err := make()
		return f == nil, err
	}
	for name, make := range map[string]func(ctx context.Context, c redis.UniversalClient) (*Filter, error){
		"Open": func(ctx context.Context, c redis.UniversalClient) (*Filter, error) { return Open(ctx, c, "f") },
		"Reserve": func(ctx context.Context, c redis.UniversalClient) (*Filter, error) {
			return Reserve(ctx, c, "g", 9, .01)
		},
		"Stage": func(ctx context.Context, c redis.UniversalClient) (*Filter, error) { return Stage(ctx, c, "f", 9, .01) },
		"StageFiles": func(ctx context.Context, c redis.UniversalClient) (*Filter, error) {
			return StageFiles(ctx, c, "f", files)
		},
		"Import": func(ctx context.Context, c redis.UniversalClient) (*Filter, error) { return Import(ctx, c, "f", files) },
	} {
		all[name] = func(ctx context.Context, f *Filter) (bool, error) {
			return made(ctx, func() (*Filter, error) { return make(ctx, f.client) })
		}
	}
	methods := reflect.TypeFor[*Filter]()
	for i := range methods.NumMethod() {
		m := methods.Method(i)
		if m.Type.NumIn() > 1 && m.Type.In(1) == reflect.TypeFor[context.Context]() && all[m.Name] == nil {
			t.Fatalf("%s takes a context, and this table has no call of it", m.Name)
		}
	}
	return all
}

// writeShard exports the one shard of a filter, and returns the path.
func writeShard(t *testing.T, f *Filter) string {
	t.Helper()
	paths, err := f.Export(t.Context(), t.TempDir())
	if err != nil || len(paths) != 1 {
		t.Fatalf("%q, %v", paths, err)
	}
	return paths[0]
}

// of is the filter with another client.
func (f *Filter) of(client redis.UniversalClient) *Filter {
	other := &Filter{client: client, name: f.name, seed: f.seed, replicas: f.replicas, replicaTimeout: f.replicaTimeout}
	other.state.Store(f.state.Load())
	return other
}

// TestDeadline holds every call to its context on a server that takes commands and does not answer,
// with a client that has no timeouts: it would wait for ever.
func TestDeadline(t *testing.T) {
	eachStore(t, fileStores, func(t *testing.T, store Store, args []string) {
		paused := start(t, args...)
		client := connect(t, paused.addr)
		f, err := Reserve(t.Context(), client, "f", 1000, 0.01, WithStore(store))
		if err != nil {
			t.Fatal(err)
		}
		calls := calls(t, f)
		waits := redis.NewClient(patient(paused.addr))
		if err := waits.Ping(t.Context()).Err(); err != nil { // which makes a connection
			t.Fatal(err)
		}
		t.Cleanup(func() { waits.Close() })
		// Nothing there answers even the greeting.
		silent := silence(t)
		if err := client.Do(t.Context(), "client", "pause", 3_600_000, "all").Err(); err != nil {
			t.Fatal(err)
		}
		clients := map[string]redis.UniversalClient{
			"a paused server": waits, "a silent listener": redis.NewClient(patient(silent)),
			"a silent cluster": redis.NewClusterClient(&redis.ClusterOptions{
				Addrs: []string{silent}, ReadTimeout: -1, WriteTimeout: -1, DialTimeout: time.Hour, MaintNotificationsConfig: quiet,
			}),
		}
		for where, client := range clients {
			t.Cleanup(func() { client.Close() })
			for name, call := range calls {
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
				sound, err := call(ctx, f.of(client))
				if !sound || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s, %s: sound: %v, %v", name, where, sound, err)
				}
				cancel()
				ctx, cancel = context.WithCancel(t.Context())
				time.AfterFunc(5*time.Millisecond, cancel)
				if sound, err := call(ctx, f.of(client)); !sound || !errors.Is(err, context.Canceled) {
					t.Errorf("%s, %s, cancelled: sound: %v, %v", name, where, sound, err)
				}
			}
		}
	})
}

// silence is the address of a listener that reads all and never writes.
func silence(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(io.Discard, conn) }()
		}
	}()
	return listener.Addr().String()
}

// TestDeadlineKeepsKeys changes the keys of a call that ran out of time, which may still be sent:
// what is sent is what they were.
func TestDeadlineKeepsKeys(t *testing.T) {
	eachStore(t, allStores, func(t *testing.T, store Store, args []string) {
		server := start(t, args...)
		client := connect(t, server.addr)
		ctx := t.Context()
		f, err := Reserve(ctx, client, "f", 1000, 0.001, WithStore(store))
		if err != nil {
			t.Fatal(err)
		}
		held := &holdPipelines{held: make(chan struct{}), release: make(chan struct{}), done: make(chan struct{})}
		slow := connect(t, server.addr)
		slow.AddHook(held)
		short, cancel := context.WithCancel(ctx)
		go func() { <-held.held; cancel() }()
		keys := [][]byte{[]byte("first"), []byte("other")}
		if _, err := f.of(slow).AddBatch(short, keys, nil); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		copy(keys[0], "wrong")
		keys[1] = []byte("nothing")
		close(held.release)
		<-held.done
		maybe, err := f.ContainsStrings(ctx, []string{"first", "other", "wrong", "nothing"}, nil)
		if err != nil || !slices.Equal(maybe, []uint64{3}) {
			t.Errorf("%b, %v", maybe, err)
		}
	})
}

// holdPipelines is a client whose first pipeline waits, and then goes to the server whatever its
// context says.
type holdPipelines struct {
	noHook
	held, release, done chan struct{}
}

func (h *holdPipelines) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if slices.ContainsFunc(cmds, func(c redis.Cmder) bool { return c.Name() == "hello" || c.Name() == "client" }) {
			return next(ctx, cmds) // of a connection
		}
		close(h.held)
		<-h.release
		defer close(h.done)
		return next(context.WithoutCancel(ctx), cmds)
	}
}

// cancelAfter cancels a context when a pipeline has its replies that has a command of this name.
type cancelAfter struct {
	noHook
	name   string
	cancel func()
}

func (h *cancelAfter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		if slices.ContainsFunc(cmds, func(c redis.Cmder) bool { return c.Name() == h.name }) {
			h.cancel()
		}
		return err
	}
}

// TestDeadlineLeavesNothing ends calls when they have made something of no use: it is deleted all the same.
func TestDeadlineLeavesNothing(t *testing.T) {
	server := start(t)
	client := connect(t, server.addr)
	all := []Option{WithStore(StoreLines), WithShards(2), WithSeed(1)}
	for command, call := range map[string]func(ctx context.Context, f, other *Filter) error{
		// What inserts and a merge make where a shard had been.
		"bitfield": func(ctx context.Context, f, _ *Filter) error {
			_, err := f.AddStrings(ctx, texts("", 100), nil)
			return err
		},
		"bitop": func(ctx context.Context, f, other *Filter) error { return f.Merge(ctx, other) },
		// The filter that was staged before.
		"exec": func(ctx context.Context, f, _ *Filter) error {
			_, err := Stage(ctx, f.client, "f{x}", 1000, 0.01, append(all, WithShards(3))...)
			return err
		},
	} {
		ctx := t.Context()
		if err := client.FlushAll(ctx).Err(); err != nil {
			t.Fatal(err)
		}
		f, err := Reserve(ctx, client, "f{x}", 1000, 0.01, all...)
		if err != nil {
			t.Fatal(err)
		}
		other, want := f, 1+2+3
		if command == "exec" {
			_, err = Stage(ctx, client, "f{x}", 1000, 0.01, all...)
		} else {
			other, err = Reserve(ctx, client, "other{x}", 1000, 0.01, all...)
			want = 1 + 1 + 2
		}
		if err != nil {
			t.Fatal(err)
		}
		if command != "exec" {
			if err := unlink(ctx, client, f.state.Load().keys); err != nil {
				t.Fatal(err)
			}
		}
		ends, cancel := context.WithCancel(ctx)
		hooked := connect(t, server.addr)
		hooked.AddHook(&cancelAfter{name: command, cancel: cancel})
		if err := call(ends, f.of(hooked), other.of(hooked)); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", command, err)
		}
		eventually(t, command+" leaves nothing behind", func() bool { return len(allKeys(t, client)) == want })
	}
}

// TestServerErrors names what the server says of the connection, the user or the slot.
func TestServerErrors(t *testing.T) {
	eachStore(t, fileStores, func(t *testing.T, store Store, args []string) {
		server := start(t, args...)
		admin := connect(t, server.addr)
		f, err := Reserve(t.Context(), admin, "f", 1000, 0.01, WithStore(store))
		if err != nil {
			t.Fatal(err)
		}
		calls := calls(t, f)
		for _, user := range [][]any{
			{"known", "on", ">secret", "~*", "+@all"},
			{"nothing", "on", ">secret", "~*", "-@all", "+hello", "+client"},
			{"elsewhere", "on", ">secret", "~other*", "+@all"},
			{"off", "off", ">secret", "~*", "+@all"},
		} {
			if err := admin.Do(t.Context(), append([]any{"acl", "setuser"}, user...)...).Err(); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range []struct{ user, password, want string }{
			{"known", "wrong", "WRONGPASS"}, {"unknown", "secret", "WRONGPASS"}, {"off", "secret", "WRONGPASS"},
			{"nothing", "secret", "NOPERM"}, {"elsewhere", "secret", "NOPERM"},
		} {
			options := *connect(t, server.addr).Options()
			options.Username, options.Password = c.user, c.password
			client := redis.NewClient(&options)
			t.Cleanup(func() { client.Close() })
			for name, call := range calls {
				sound, err := call(t.Context(), f.of(client))
				if !sound || err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, ErrShardLost) {
					t.Errorf("%s as %s with %q: sound: %v, %v; want %s", name, c.user, c.password, sound, err, c.want)
				}
			}
		}
		if maybe, err := f.ContainsString(t.Context(), "x"); maybe || err != nil {
			t.Errorf("the filter is as it was: %v, %v", maybe, err)
		}
	})
}

// TestMoved asks a node of a cluster for what others have, with a client that knows no cluster.
func TestMoved(t *testing.T) {
	cluster := startCluster(t)
	client := cluster.connect(t)
	f, err := Reserve(t.Context(), client, "f", 1000, 0.01, WithShards(12))
	if err != nil {
		t.Fatal(err)
	}
	keys := texts("", 200)
	if _, err := f.AddStrings(t.Context(), keys, nil); err != nil {
		t.Fatal(err)
	}
	one := f.of(connect(t, cluster.nodes[0].addr))
	maybe, err := one.ContainsStrings(t.Context(), keys, nil)
	if maybe.Count() != len(keys) || err == nil || !strings.Contains(err.Error(), "MOVED") {
		t.Errorf("%d of %d, %v", maybe.Count(), len(keys), err)
	}
}
