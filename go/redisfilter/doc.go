// Package redisfilter is one Bloomline filter on a Redis or Valkey server, or spread over a
// cluster. Any number of processes add to it and probe it at once.
//
//	client := redis.NewUniversalClient(&redis.UniversalOptions{Addrs: addrs})
//	filter, err := redisfilter.Reserve(ctx, client, "seen", 1_000_000_000, 0.01)
//	filter, err = redisfilter.Open(ctx, client, "seen") // in every other process
//	added, err := filter.AddBatch(ctx, keys, nil)       // bit i: key i was new
//	maybe, err := filter.ContainsBatch(ctx, keys, nil)  // bit i: key i may be present
//
// A batch is hashed here, grouped by shard, and sent in one pipeline: one round trip to each node.
//
// The filter is stored in one of three ways, which [Reserve] chooses by what the server has. [StoreModule]
// needs Bloomline's module, [StoreBF] any module that has the BF commands. [StoreLines] takes plain strings,
// without any module.
//
// A key that was added is never denied. Where the server cannot answer, or a shard is missing or
// overwritten, the answer is true, and there is an error beside it. This rests on three things: probes go to masters,
// not to replicas that lag behind ([ErrReplicaReads]); a replica that takes over has what was
// acknowledged ([WithReplicas] waits for that); and while a client has a filter open, nobody makes another of its
// name after the key of the name alone was evicted or deleted (see [Reserve]). A client of one server alone does not notice that this becomes a
// replica: where servers fail over, use one of a cluster or of Sentinel.
//
// Every call returns when its context is done, whatever the timeouts of the client are; the error
// then wraps the context's. Commands that were sent may still be carried out.
//
// docs/REDIS.md of the project specifies the keys, so that any language can open the filter.
package redisfilter
