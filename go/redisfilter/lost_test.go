package redisfilter

// Names that are evicted or deleted, whose shards are left; filters that are staged and left.

import (
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"
)

// TestNameLost deletes the key of the name, as an eviction does. Who inserts is told, keys are still found, and the
// shards can be deleted by who knows them.
func TestNameLost(t *testing.T) {
	eachPlace(t, allStores, func(t *testing.T, client redis.UniversalClient, all []Option) {
		ctx := t.Context()
		keys := texts("k-", 300)
		f, err := Reserve(ctx, client, "f", 1000, 0.01, all...)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.AddStrings(ctx, keys, nil); err != nil {
			t.Fatal(err)
		}
		if err := client.Unlink(ctx, "f").Err(); err != nil {
			t.Fatal(err)
		}
		_, err = f.AddString(ctx, "lost")
		var partial *PartialError
		if !errors.Is(err, ErrNotFound) || !errors.As(err, &partial) {
			t.Errorf("added to a filter without a name: %v", err)
		}
		if maybe, err := f.ContainsStrings(ctx, keys, nil); err != nil || maybe.Count() != len(keys) {
			t.Errorf("%d of %d; %v", maybe.Count(), len(keys), err)
		}
		if err := f.Delete(ctx); err != nil {
			t.Errorf("deleted: %v", err)
		}
		if left := allKeys(t, client); len(left) != 0 {
			t.Errorf("left behind: %q", left)
		}
		// Its shards are gone, so it finds those of the filter that takes the name.
		other, err := Reserve(ctx, client, "f", 1000, 0.01, all...)
		if err != nil {
			t.Fatal(err)
		}
		plums := texts("plum-", 50)
		if _, err := other.AddStrings(ctx, plums, nil); err != nil {
			t.Fatal(err)
		}
		if maybe, err := f.ContainsStrings(ctx, plums, nil); err != nil || maybe.Count() != len(plums) {
			t.Errorf("%d of %d; %v", maybe.Count(), len(plums), err)
		}
	})
}

// TestStagedIsLeft stages filters whose programs end: Reserve does not take a name that somebody may be filling, Stage
// does, and Delete takes what is staged along.
func TestStagedIsLeft(t *testing.T) {
	client := connect(t, start(t).addr)
	ctx := t.Context()
	if _, err := Stage(ctx, client, "f", 1000, 0.01); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(ctx, client, "f"); !errors.Is(err, ErrNotFound) {
		t.Errorf("opened: %v", err)
	}
	if _, err := Reserve(ctx, client, "f", 1000, 0.01); !errors.Is(err, ErrExists) {
		t.Errorf("reserved: %v", err)
	}
	f, err := Stage(ctx, client, "f", 1000, 0.01)
	if err == nil {
		err = f.Publish(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	if left := allKeys(t, client); len(left) != 2 {
		t.Errorf("left behind: %q", left)
	}
	if _, err := Stage(ctx, client, "f", 1000, 0.01); err != nil {
		t.Fatal(err)
	}
	if err := f.Delete(ctx); err != nil {
		t.Errorf("deleted: %v", err)
	}
	if left := allKeys(t, client); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}
