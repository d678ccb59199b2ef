package redisfilter

// Inserts that meet a generation which is taking the place of the one they go to.

import (
	"context"
	"errors"
	"testing"
	"time"

	bloomline "github.com/bloomline/bloomline/go"
	"github.com/redis/go-redis/v9"
)

// atInsert does something before a pipeline of inserts is sent, and something with its replies: both
// get its number, from 1 on.
type atInsert struct {
	noHook
	number int
	before func(number int)
	after  func(number int, cmds []redis.Cmder)
}

func (h *atInsert) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if cmds[0].Name() != "bitfield" {
			return next(ctx, cmds)
		}
		h.number++
		h.before(h.number)
		err := next(ctx, cmds)
		h.after(h.number, cmds)
		return err
	}
}

// staged is a filter of two shards, one that is to take its place, and a client with that hook.
func staged(t *testing.T, hook *atInsert) (f, next *Filter, client *redis.Client) {
	t.Helper()
	ctx, server := t.Context(), start(t)
	client = connect(t, server.addr)
	all := []Option{WithStore(StoreLines), WithShards(2), WithReplicas(1, time.Second)}
	_, err := Reserve(ctx, client, "f", 1000, 0.01, all...)
	if err == nil {
		next, err = Stage(ctx, client, "f", 1000, 0.01, all...)
	}
	hooked := connect(t, server.addr)
	hooked.AddHook(hook)
	if err == nil {
		f, err = Open(ctx, hooked, "f", all...)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f, next, client
}

// TestWrittenBeforeMoved publishes the next generation while an insert repeats the keys of a shard
// that is gone. The keys of the other shard went to that generation before, and replicas have to
// confirm them, too.
func TestWrittenBeforeMoved(t *testing.T) {
	hook := &atInsert{after: func(int, []redis.Cmder) {}}
	f, next, client := staged(t, hook)
	// To the one generation, to the other, and the rest to the first again.
	hook.before = func(number int) {
		if number == 3 {
			if err := next.Publish(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
	if err := client.Unlink(t.Context(), f.state.Load().keys[1]).Err(); err != nil {
		t.Fatal(err)
	}
	keys := texts("k-", 200)
	c := call{batch: batch{texts: keys}, out: make(bloomline.Bitmap, 4), add: true}
	f.runSome(t.Context(), &c)
	if len(c.failed.Keys) > 0 || f.state.Load().text != next.state.Load().text {
		t.Fatalf("%v, in use: %s", &c.failed, f.state.Load().text)
	}
	written := make(map[int]bool)
	for _, w := range c.written {
		for _, at := range w.at {
			written[at] = written[at] || w.st.text == f.state.Load().text
		}
	}
	for i := range keys {
		if !written[i] {
			t.Fatalf("key %d: no replica is asked for it", i)
		}
	}
}

// TestFailedBeforeMoved gets an error for the inserts into a generation that is gone. All go to the
// next one: nothing has failed.
func TestFailedBeforeMoved(t *testing.T) {
	hook := new(atInsert)
	f, next, _ := staged(t, hook)
	hook.before = func(number int) {
		if number == 1 {
			if err := next.Publish(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
	hook.after = func(number int, cmds []redis.Cmder) {
		for _, cmd := range cmds {
			if name := cmd.Name(); number == 1 && (name == "bitfield" || name == "getrange") {
				cmd.SetErr(errors.New("lost"))
			}
		}
	}
	keys := texts("k-", 200)
	c := call{batch: batch{texts: keys}, out: make(bloomline.Bitmap, 4), add: true}
	f.runSome(t.Context(), &c)
	if len(c.failed.Keys) > 0 || c.failed.Err != nil || c.out.Count() < 190 {
		t.Errorf("%d failed: %v; %d are new", len(c.failed.Keys), c.failed.Err, c.out.Count())
	}
	if maybe, err := next.ContainsStrings(t.Context(), keys, nil); err != nil || maybe.Count() != len(keys) {
		t.Errorf("%d of %d; %v", maybe.Count(), len(keys), err)
	}
}
