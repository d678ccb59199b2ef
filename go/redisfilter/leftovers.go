package redisfilter

// Shards that no name leads to: of a filter whose name was evicted, expired or deleted by itself.
// Clients that have such a filter open go on probing them, and would deny what others add to a new one.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/redis/go-redis/v9"
)

// scanCount is how many keys a server looks at in one command: it takes less than a millisecond.
const scanCount = 1000

// leftovers are the shards of the name that belong to none of its generations, if it has none in use.
// It looks at every key of every master.
func (f *Filter) leftovers(ctx context.Context) ([]string, error) {
	found, err := f.allShards(ctx)
	if err != nil {
		return nil, err
	}
	// After the search: the shards of one that was announced meanwhile stay.
	fields, err := f.fields(ctx, f.client)
	if err != nil || fields[fieldCurrent] != nil {
		return nil, err // somebody else has done it
	}
	found, err = without(f.name, found, fields)
	if twin, ok := twinOf(f.name); ok && err == nil && len(found) > 0 {
		fields, err = (&Filter{client: f.client, name: twin}).fields(ctx, f.client)
		if errors.Is(err, ErrMetadata) {
			return found, nil // it is no filter
		}
		if err == nil {
			found, err = without(f.name, found, fields)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("redisfilter: looking for shards that are left: %w", err)
	}
	return found, nil
}

// without is the keys of shards less those of generations that fields describe.
func without(name string, keys []string, fields map[string]any) ([]string, error) {
	described := make(map[string]bool)
	for _, field := range fields {
		if text, ok := field.(string); ok {
			d, err := parseDescription(text)
			if err != nil {
				return nil, err
			}
			described[d.generation] = true
		}
	}
	return slices.DeleteFunc(keys, func(key string) bool {
		generation, _ := generationOf(name, key)
		return described[generation]
	}), nil
}

// allShards are the keys of all shards of the name, of any generation; a key may be there twice.
func (f *Filter) allShards(ctx context.Context) ([]string, error) {
	var mu sync.Mutex
	var found []string
	scan := func(ctx context.Context, server redis.Cmdable) error {
		keys := server.Scan(ctx, 0, shardPattern(f.name), scanCount).Iterator()
		for keys.Next(ctx) {
			if _, ok := generationOf(f.name, keys.Val()); ok {
				mu.Lock()
				found = append(found, keys.Val())
				mu.Unlock()
			}
		}
		return keys.Err()
	}
	each := func(ctx context.Context, server *redis.Client) error { return scan(ctx, server) }
	var err error
	switch client := f.client.(type) {
	case *redis.ClusterClient:
		err = client.ForEachMaster(ctx, each)
	case *redis.Ring:
		err = client.ForEachShard(ctx, each)
	default:
		err = scan(ctx, client)
	}
	return found, err
}
