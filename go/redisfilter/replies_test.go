package redisfilter

// Replies that are lost on their way, and errors that a proxy puts into their place.

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	bloomline "github.com/bloomline/bloomline/go"
	"github.com/redis/go-redis/v9"
)

// noExec loses replies once it is told to: of an EXEC that is done, and of so many HGET after it.
type noExec struct {
	execs, gets int
}

func (*noExec) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h *noExec) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if cmd.Name() == "hget" && h.execs == 0 && h.gets > 0 {
			h.gets--
			err = io.EOF
			cmd.SetErr(err)
		}
		return err
	}
}

func (h *noExec) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		if cmds[len(cmds)-1].Name() == "exec" && h.execs > 0 {
			h.execs--
			for _, cmd := range cmds {
				cmd.SetErr(io.EOF)
			}
			return io.EOF
		}
		return err
	}
}

// TestLostExec loses the reply to the announcement of a generation, which the server has done. Other
// clients go on, and nothing is left behind.
func TestLostExec(t *testing.T) {
	server := start(t)
	client := connect(t, server.addr)
	ctx := t.Context()
	f, err := Reserve(ctx, client, "f", 1000, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	files := []string{writeShard(t, f)}
	for what, stage := range map[string]func(c redis.UniversalClient) (*Filter, error){
		"Stage":      func(c redis.UniversalClient) (*Filter, error) { return Stage(ctx, c, "f", 1000, 0.01) },
		"StageFiles": func(c redis.UniversalClient) (*Filter, error) { return StageFiles(ctx, c, "f", files) },
	} {
		loses := connect(t, server.addr)
		loses.AddHook(&noExec{execs: 1})
		if _, err := stage(loses); !errors.Is(err, io.EOF) {
			t.Fatalf("%s: %v", what, err)
		}
		if _, err := f.AddString(ctx, "key"); err != nil {
			t.Errorf("after %s: %v", what, err)
		}
		if left := allKeys(t, client); len(left) != 2 {
			t.Errorf("%s left behind: %q", what, left)
		}
	}
	// One that is in use keeps its shards: others may have added keys.
	loses := connect(t, server.addr)
	loses.AddHook(&noExec{execs: 1, gets: 1})
	if _, err := Reserve(ctx, loses, "g", 1000, 0.01); !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	g, err := Open(ctx, client, "g")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.AddString(ctx, "key"); err != nil {
		t.Errorf("after Reserve: %v", err)
	}
	// A name that is of another type gets no shards.
	if err := client.Set(ctx, "text", "x", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := Stage(ctx, client, "text", 1000, 0.01); !errors.Is(err, ErrMetadata) {
		t.Error(err)
	}
	if left := allKeys(t, client); len(left) != 5 {
		t.Errorf("left behind: %q", left)
	}
}

// twice repeats each command of a module, as go-redis does when the reply was lost.
type twice struct{ noHook }

func (twice) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if strings.HasPrefix(cmd.Name(), "bl.") || strings.HasPrefix(cmd.Name(), "bf.") {
			err = next(ctx, cmd)
		}
		return err
	}
}

func (twice) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// TestRepeated makes and imports filters with commands that are repeated.
func TestRepeated(t *testing.T) {
	eachStore(t, []Store{StoreModule, StoreBF}, func(t *testing.T, store Store, args []string) {
		ctx, client := t.Context(), connect(t, start(t, args...).addr)
		client.AddHook(twice{})
		f, err := Reserve(ctx, client, "f", 1_000_000, 0.01, WithStore(store), WithShards(2))
		if err != nil {
			t.Fatal(err)
		}
		keys := texts("", 100)
		if _, err := f.AddStrings(ctx, keys, nil); err != nil {
			t.Fatal(err)
		}
		if store == StoreBF {
			return // which has no files
		}
		// The lines of a file take several commands, its footer one.
		files := build(t, bloomline.Params{LineCount: 3 * chunkBytes / lineBytes, K: 6}, 1, keys)
		if f, err = Import(ctx, client, "g", files, WithStore(store)); err != nil {
			t.Fatal(err)
		}
		if maybe, err := f.ContainsStrings(ctx, keys, nil); err != nil || maybe.Count() != len(keys) {
			t.Errorf("%d of %d; %v", maybe.Count(), len(keys), err)
		}
		// A key of somebody else is none that was repeated.
		to, err := filesOf(f.state.Load())
		if err != nil {
			t.Fatal(err)
		}
		if err := to.upload(ctx, client, f.state.Load().keys[0], 0, f.state.Load().shardBytes(), make([]byte, 64)); err == nil {
			t.Error("a chunk for a key that is whole")
		}
	})
}

// proxy replaces the reply to every GETRANGE that follows an insert or an OR by an error of its own.
type proxy struct{ noHook }

type proxyError string

func (e proxyError) Error() string { return string(e) }
func (proxyError) RedisError()     {}

func (proxy) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		if slices.Contains([]string{"bitfield", "bitop"}, cmds[0].Name()) {
			for _, cmd := range cmds {
				if cmd.Name() == "getrange" {
					err = proxyError("ERR Connection timed out")
					cmd.SetErr(err)
				}
			}
		}
		return err
	}
}

// TestProxy gets an error of a proxy for the look at a shard, which says nothing of the shard.
func TestProxy(t *testing.T) {
	server := start(t)
	client := connect(t, server.addr)
	ctx := t.Context()
	f, err := Reserve(ctx, client, "f", 1000, 0.01, WithStore(StoreLines), WithSeed(1))
	if err != nil {
		t.Fatal(err)
	}
	other, err := Reserve(ctx, client, "other", 1000, 0.01, WithStore(StoreLines), WithSeed(1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.AddString(ctx, "key"); err != nil {
		t.Fatal(err)
	}
	through := connect(t, server.addr)
	through.AddHook(proxy{})
	if _, err := f.of(through).AddString(ctx, "other key"); err == nil {
		t.Error("an insert of which the check failed")
	}
	if err := f.of(through).Merge(ctx, other.of(through)); err == nil {
		t.Error("a merge of which the check failed")
	}
	if maybe, err := f.ContainsString(ctx, "key"); err != nil || !maybe {
		t.Errorf("the shard: %v, %v", maybe, err)
	}
}

// TestUnconfirmed adds keys of which some have no shard, and none a replica: both are said, in the
// first pipeline and in later ones.
func TestUnconfirmed(t *testing.T) {
	client := connect(t, start(t).addr)
	ctx := t.Context()
	f, err := Reserve(ctx, client, "f", 100_000, 0.01, WithShards(3), WithReplicas(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	// No time to wait is not for ever, which a deadline would end.
	short, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	if _, err := f.AddString(short, "key"); !errors.Is(err, ErrReplicas) || errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	if err := client.Unlink(ctx, f.state.Load().keys[1]).Err(); err != nil {
		t.Fatal(err)
	}
	for _, count := range []int{100, maxBatch + 100} {
		_, err := f.AddStrings(ctx, texts("", count), nil)
		var partial *PartialError
		if !errors.As(err, &partial) || !errors.Is(err, ErrShardLost) || !errors.Is(err, ErrReplicas) {
			t.Errorf("of %d keys: %v", count, err)
		}
	}
}
