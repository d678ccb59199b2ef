package main

// A look-through cache in Redis, in front of the database. It may be slow, empty or down: then
// the database answers.

import (
	"context"
	"errors"
	"hash/maphash"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

const (
	// How long Redis keeps a value. Correctness does not rest on it.
	cacheTTL = 10 * time.Minute
	// How long to wait for Redis: a cache that keeps a request waiting is worse than none.
	cachePatience = 500 * time.Millisecond
)

// OpenRedis returns a client that tries once and waits this long. It does not connect yet, so
// Redis need not be up.
func OpenRedis(addr string, patience time.Duration) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr:          addr,
		MaxRetries:    -1, // none
		DialerRetries: 1,  // one attempt
		DialTimeout:   patience,
		ReadTimeout:   patience,
		WriteTimeout:  patience,
		MaintNotificationsConfig: &maintnotifications.Config{
			Mode: maintnotifications.ModeDisabled, // they are for clusters in the cloud
		},
	})
}

// Cache is [Items] that keeps values which were read in Redis.
//
// "Not found" is never kept. It would have to be taken back in the same instant in which the
// item is created; and to keep absent ids away from the database is what the filter is for,
// at a hundredth of the memory.
//
// A value is taken back when its item is deleted, and two things see to it that it stays away.
// A read that has found the item in the database may put it into Redis only now: so each id
// has a lock that orders this against deletes. And if Redis does not confirm a command, it may
// have been lost, or be carried out later: so all keys carry a page number, and the next page
// is turned to, which makes everything kept so far unreachable.
type Cache struct {
	next    Items
	redis   *redis.Client
	metrics *Metrics
	page    atomic.Int64
	seed    maphash.Seed
	locks   [256]sync.RWMutex // by hash of the id
}

// NewCache returns a cache in front of next.
func NewCache(next Items, client *redis.Client, metrics *Metrics) *Cache {
	c := &Cache{next: next, redis: client, metrics: metrics, seed: maphash.MakeSeed()}
	// Not a page that a process before this one used: it may have ended between a delete in
	// the database and that in Redis.
	c.page.Store(time.Now().UnixNano())
	return c
}

// Get returns the value from Redis, or else from the next, and keeps it.
func (c *Cache) Get(ctx context.Context, id string) ([]byte, error) {
	value, err := c.redis.Get(ctx, c.key(id)).Bytes()
	switch {
	case err == nil:
		c.metrics.cacheHits.Add(1)
		return value, nil
	case errors.Is(err, redis.Nil):
		c.metrics.cacheMisses.Add(1)
	default:
		c.metrics.cacheErrors.Add(1)
	}
	lock := c.lock(id)
	lock.RLock() // reads need not wait for each other: they all put the same value there
	defer lock.RUnlock()
	value, err = c.next.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	// A client that hangs up must not leave this command unconfirmed.
	c.confirm(c.redis.Set(context.WithoutCancel(ctx), c.key(id), value, cacheTTL).Err())
	return value, nil
}

// Create makes an item. There is nothing to take back, since "not found" is not kept.
func (c *Cache) Create(ctx context.Context, id string, value []byte) error {
	return c.next.Create(ctx, id, value)
}

// Delete removes an item, and its value from Redis.
func (c *Cache) Delete(ctx context.Context, id string) error {
	lock := c.lock(id)
	lock.Lock()
	defer lock.Unlock()
	err := c.next.Delete(ctx, id)
	// Whatever the error: the item may be gone nevertheless.
	c.confirm(c.redis.Del(context.WithoutCancel(ctx), c.key(id)).Err())
	return err
}

// confirm turns the page unless Redis has confirmed a command.
func (c *Cache) confirm(err error) {
	if err != nil {
		c.page.Add(1)
	}
}

func (c *Cache) key(id string) string {
	return "guard:" + strconv.FormatInt(c.page.Load(), 36) + ":" + id
}

func (c *Cache) lock(id string) *sync.RWMutex {
	return &c.locks[maphash.String(c.seed, id)%uint64(len(c.locks))]
}
