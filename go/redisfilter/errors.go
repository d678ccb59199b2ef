package redisfilter

import (
	"errors"
	"fmt"
)

// What can be wrong. Errors of this package are these or wrap them, what go-redis returned, or an
// error of the bloomline package: test with [errors.Is].
var (
	// ErrName: see [Reserve] for what can be a name.
	ErrName = errors.New("redisfilter: the name is empty, or has braces other than one {tag}")
	// ErrKeys: a filter for no keys.
	ErrKeys = errors.New("redisfilter: the number of keys is below 1: say how many to expect")
	// ErrNotFound: there is no filter of this name.
	ErrNotFound = errors.New("redisfilter: no filter of this name")
	// ErrExists: there is a filter of this name already.
	ErrExists = errors.New("redisfilter: a filter of this name exists")
	// ErrMetadata: the key of the name does not describe a filter that this version knows.
	ErrMetadata = errors.New("redisfilter: the key of this name does not describe a filter, or one of a later version")
	// ErrShardLost: a shard is missing or is not what was stored: deleted, evicted, expired or
	// overwritten. All keys of that shard may be present.
	ErrShardLost = errors.New("redisfilter: a shard is missing or overwritten; import or reserve the filter again")
	// ErrUnsupported: the store does not have this operation.
	ErrUnsupported = errors.New("redisfilter: not possible with this store")
	// ErrModule: the server lacks the commands of the store.
	ErrModule = errors.New("redisfilter: the server does not have the commands of this store")
	// ErrShards: the number of shards is not 1 to 65,536, or makes shards of more than 256 MiB.
	ErrShards = errors.New("redisfilter: the number of shards is outside 1 to 65536, or a shard would exceed 256 MiB")
	// ErrMismatch: filters or files differ in store, shards, line count, k or seed; or hashes are of
	// another seed than the filter: hash again, as [Filter.Hash] says.
	ErrMismatch = errors.New("redisfilter: filters do not match: shards, line count, k and seed must be equal")
	// ErrReplicaReads: the client reads from replicas, which lag behind and would deny keys: by its options, or
	// since the one server that it has is a replica.
	ErrReplicaReads = errors.New("redisfilter: the client reads from replicas: switch off ReadOnly, RouteByLatency and RouteRandomly, " +
		"and connect to a master")
	// ErrReplicas: fewer replicas than asked for confirmed in time. The keys were added, and a
	// failover may lose them: add them again, which does no harm.
	ErrReplicas = errors.New("redisfilter: too few replicas confirmed the keys in time")
	// ErrConflict: another client replaced the filter at the same time.
	ErrConflict = errors.New("redisfilter: another client replaced the filter meanwhile")
	// ErrPublished: the filter is in use already.
	ErrPublished = errors.New("redisfilter: the filter is not a staged one")
)

// PartialError says which keys of a batch got no answer. A probe returns true for them. An
// insert may or may not have added them: repeat it, which does no harm. If the reason is
// [ErrMismatch], the same hashes would fail again: pass the keys, or hash them again: see [Filter.Hash].
type PartialError struct {
	Keys []int // their numbers in the batch, in no order
	Err  error // the first reason
}

// Error returns the reason.
func (e *PartialError) Error() string {
	return fmt.Sprintf("redisfilter: %d keys without an answer: %v", len(e.Keys), e.Err)
}

// Unwrap returns the reason.
func (e *PartialError) Unwrap() error { return e.Err }
