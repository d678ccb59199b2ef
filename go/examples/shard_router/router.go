package main

// What a service copies: a matrix of filters in front of its shards, which stays right while they change.

import (
	"context"
	"database/sql"
	"sync"
	"sync/atomic"

	bloomline "github.com/bloomline/bloomline/go"
)

// Router asks only the shards that may have a key.
//
// A shard that changes is open: it is asked about every key, whatever its column says, from before the change
// until [Router.Rebuild] has put its keys of after the change into its column. So no key is missed, not
// between the two either, and not if the rebuild fails. A deleted key stays in the column until then, which
// costs a question at most.
type Router struct {
	shards []*Shard
	params bloomline.Params // of each column
	state  atomic.Pointer[state]
	next   sync.Mutex // held by whoever publishes the next state
	asked  atomic.Uint64
}

// state is what a query reads. It does not change: each change makes another, so that no query waits, or sees
// a half of one.
type state struct {
	columns *bloomline.Matrix
	open    bloomline.Bitmap // the shards that are asked in any case
}

// NewRouter returns the router of these shards, all open. Each may have so many keys at this rate of questions
// in vain; with more keys there are more of these.
func NewRouter(shards []*Shard, keys int, rate float64) (*Router, error) {
	params, err := bloomline.ParamsForRate(keys, rate)
	if err != nil {
		return nil, err
	}
	columns, err := bloomline.NewMatrix(params, len(shards))
	if err != nil {
		return nil, err
	}
	r := &Router{shards: shards, params: params}
	open := make(bloomline.Bitmap, columns.Shape().Words())
	for shard := range shards {
		open[shard/64] |= 1 << (shard % 64)
	}
	r.state.Store(&state{columns, open})
	return r, nil
}

// Get returns the value of a key, and whether a shard has it.
func (r *Router) Get(ctx context.Context, key string) (value string, found bool, err error) {
	now := r.state.Load()
	var room [4]uint64 // for 256 shards without an allocation
	ask := now.columns.ContainsString(key, room[:0])
	for i, open := range now.open {
		ask[i] |= open
	}
	for shard := range ask.All() {
		r.asked.Add(1)
		value, found, err = r.shards[shard].Get(ctx, key)
		if found || err != nil {
			return value, found, err
		}
	}
	return "", false, nil
}

// Change commits what do does in a shard, or nothing. The shard is open afterwards: call Rebuild when enough
// has changed, or every few seconds.
func (r *Router) Change(ctx context.Context, shard int, do func(tx *sql.Tx) error) error {
	s := r.shards[shard]
	s.changing.Lock()
	defer s.changing.Unlock()
	r.publish(func(now state) state {
		now.open = append(bloomline.Bitmap(nil), now.open...)
		now.open[shard/64] |= 1 << (shard % 64)
		return now
	})
	return s.change(ctx, do)
}

// Rebuild puts the keys that a shard has now into its column, and closes the shard. Changes of the shard wait
// meanwhile; queries do not. If it fails, the shard stays as it was.
func (r *Router) Rebuild(ctx context.Context, shard int) error {
	s := r.shards[shard]
	s.changing.Lock()
	defer s.changing.Unlock()
	filter, err := bloomline.NewWithParams(r.params)
	if err != nil {
		return err
	}
	if err := s.keys(ctx, filter.AddString); err != nil {
		return err
	}
	r.publish(func(now state) state {
		columns := now.columns.Clone()
		if err = columns.SetColumn(shard, filter.View()); err != nil {
			return now
		}
		open := append(bloomline.Bitmap(nil), now.open...)
		open[shard/64] &^= 1 << (shard % 64)
		return state{columns, open}
	})
	return err
}

// RebuildAll rebuilds all columns, with one copy of the matrix: at the start.
func (r *Router) RebuildAll(ctx context.Context) error {
	filters := make([]bloomline.View, len(r.shards))
	for shard, s := range r.shards {
		s.changing.Lock()
		defer s.changing.Unlock()
		filter, err := bloomline.NewWithParams(r.params)
		if err != nil {
			return err
		}
		if err := s.keys(ctx, filter.AddString); err != nil {
			return err
		}
		filters[shard] = filter.View()
	}
	columns, err := bloomline.NewMatrix(r.params, len(r.shards))
	if err != nil {
		return err
	}
	if err := columns.SetColumns(0, filters, 0); err != nil {
		return err
	}
	r.publish(func(now state) state {
		return state{columns, make(bloomline.Bitmap, len(now.open))}
	})
	return nil
}

// publish makes another state of the one that is.
func (r *Router) publish(change func(now state) state) {
	r.next.Lock()
	defer r.next.Unlock()
	next := change(*r.state.Load())
	r.state.Store(&next)
}
