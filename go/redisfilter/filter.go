package redisfilter

// The filter: making, opening and describing it.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	bloomline "github.com/bloomline/bloomline/go"
	"github.com/redis/go-redis/v9"
)

// Filter is one filter in Redis. Any number of goroutines and processes may use it at once.
type Filter struct {
	client redis.UniversalClient
	name   string
	staged atomic.Bool
	state  atomic.Pointer[state] // of the generation in use
	other  atomic.Pointer[state] // of one that is built, the last one seen
	seed   uint64                // of Hash: that of the first generation; it never changes

	replicas       int
	replicaTimeout time.Duration
}

// state is what is known of a generation. It never changes.
type state struct {
	description
	text  string // the description as it is stored
	store store
	keys  []string // of the shards
}

func newState(name string, d description) *state {
	return &state{d, d.text(), storeOf(d), shardKeys(name, d)}
}

// Option changes how a filter is made or used.
type Option func(*options)

type options struct {
	store          Store
	shards         int
	seed           uint64
	seedSet        bool
	replicas       int
	replicaTimeout time.Duration
}

// WithStore chooses the store, instead of the best that the server has.
func WithStore(store Store) Option { return func(o *options) { o.store = store } }

// WithShards sets the number of shards. Some 64 for each node spread the filter over a cluster
// to within a tenth.
func WithShards(shards int) Option { return func(o *options) { o.shards = shards } }

// WithSeed sets the seed of the hash of keys. Without it [Stage] takes the seed of the filter that
// it is to replace, and [Reserve] a random one. Filters to be merged need the same.
func WithSeed(seed uint64) Option {
	return func(o *options) { o.seed, o.seedSet = seed, true }
}

// WithReplicas makes inserts wait until so many replicas of each node that got keys have them, and
// return [ErrReplicas] if that takes longer or a failover lost keys. Inserts then also probe for their
// keys, in two more round trips. Ask for all replicas of a node: any of them may take over. A timeout
// below a millisecond is taken for one.
func WithReplicas(replicas int, timeout time.Duration) Option {
	return func(o *options) { o.replicas, o.replicaTimeout = replicas, timeout }
}

func newFilter(client redis.UniversalClient, name string, all []Option) (*Filter, options, error) {
	var o options
	for _, option := range all {
		option(&o)
	}
	if cluster, ok := client.(*redis.ClusterClient); ok {
		if set := cluster.Options(); set.ReadOnly || set.RouteByLatency || set.RouteRandomly {
			return nil, o, ErrReplicaReads
		}
	}
	if o.replicas > 0 {
		switch client.(type) {
		case *redis.Client, *redis.ClusterClient:
		default:
			return nil, o, fmt.Errorf("%w: WithReplicas with a %T", ErrUnsupported, client)
		}
	}
	// The command takes whole milliseconds, and 0 for no limit.
	wait := max(o.replicaTimeout, time.Millisecond)
	f := &Filter{client: client, name: name, replicas: o.replicas, replicaTimeout: wait}
	return f, o, checkName(name)
}

// Open opens a filter.
//
// Errors: [ErrName], [ErrNotFound], [ErrMetadata], [ErrReplicaReads]: also if the client has one server,
// which is a replica.
func Open(ctx context.Context, client redis.UniversalClient, name string, all ...Option) (*Filter, error) {
	f, _, err := newFilter(client, name, all)
	if err != nil {
		return nil, err
	}
	return orNil(f, boundedError(ctx, func() error {
		if err := onMaster(ctx, client); err != nil {
			return err
		}
		return f.refresh(ctx)
	}))
}

// onMaster is ErrReplicaReads if the client's one server is a replica. A server that does not say passes.
func onMaster(ctx context.Context, client redis.UniversalClient) error {
	single, ok := client.(*redis.Client)
	if !ok {
		return nil
	}
	role, err := single.Do(ctx, "role").Slice()
	switch {
	case saysERR(err) || redis.HasErrorPrefix(err, "NOPERM"):
		return nil
	case err == nil && len(role) > 0 && role[0] == "slave":
		return ErrReplicaReads
	}
	return err
}

// orNil is no filter if there is an error.
func orNil(f *Filter, err error) (*Filter, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Reserve makes an empty filter for so many keys at a false-positive rate of at most rate.
//
// The name is any text without braces, or with one {tag} in it. Filters of one tag and number of
// shards have these on the same nodes, where [Filter.Merge] sends no lines.
//
// If the key of the name was evicted or deleted, clients that have the old filter open go on with its shards, and
// do not find what is added to the new one. End them, or call [Filter.Delete] in one of them, before you make another.
//
// Errors: [ErrName], [ErrKeys], [ErrExists], also if a filter of the name is staged, which [Stage] gives up; [ErrShards],
// [ErrModule], [ErrReplicaReads]; those of [bloomline.ParamsForRate]. If the server's last reply is lost, the filter
// may be there all the same.
func Reserve(ctx context.Context, client redis.UniversalClient, name string, keys int, rate float64, all ...Option) (*Filter, error) {
	f, o, err := newFilter(client, name, all)
	if err != nil {
		return nil, err
	}
	return bounded(ctx, func() (*Filter, error) {
		if err := onMaster(ctx, client); err != nil {
			return nil, err
		}
		d, perShard, err := plan(ctx, client, keys, rate, o)
		if err != nil {
			return nil, err
		}
		if count, err := client.Exists(ctx, name).Result(); err != nil || count > 0 {
			return nil, errors.Join(err, existsIf(count > 0))
		}
		if err := f.makeShards(ctx, d, perShard); err != nil {
			return nil, err
		}
		if err := f.publish(ctx, false); err != nil {
			f.giveUp(ctx, err)
			return nil, err
		}
		return f, nil
	})
}

func existsIf(exists bool) error {
	if exists {
		return ErrExists
	}
	return nil
}

// Stage makes an empty filter that is to take the place of the one of this name: [Filter.Publish]
// does that. So a filter is resized: stage one, add all keys that there are, publish.
//
// From when Stage returns, inserts of every client go to both; probes to the old one alone. So
// what a client puts into its database before it adds the key is in the new filter, if the keys
// that are there are read from the database after Stage has returned. One filter of a name can
// be staged: another that is, is given up, and its Publish fails.
//
// Errors: as [Reserve]; [ErrMetadata].
func Stage(ctx context.Context, client redis.UniversalClient, name string, keys int, rate float64, all ...Option) (*Filter, error) {
	f, o, err := newFilter(client, name, all)
	if err != nil {
		return nil, err
	}
	return bounded(ctx, func() (*Filter, error) {
		if err := onMaster(ctx, client); err != nil {
			return nil, err
		}
		if err := f.keepSeed(ctx, &o); err != nil {
			return nil, err
		}
		d, perShard, err := plan(ctx, client, keys, rate, o)
		if err == nil {
			err = f.makeShards(ctx, d, perShard)
		}
		if err == nil {
			err = f.announceBuilding(ctx)
		}
		return orNil(f, err)
	})
}

// keepSeed takes the seed of the filter that there is, unless the options name one: the hashes that
// clients have are then those of the new filter, too.
func (f *Filter) keepSeed(ctx context.Context, o *options) error {
	if o.seedSet {
		return nil
	}
	fields, err := f.client.HMGet(ctx, f.name, fieldNext, fieldCurrent).Result()
	if err != nil {
		return notHash(err)
	}
	for _, value := range fields {
		if text, ok := value.(string); ok {
			d, err := parseDescription(text)
			o.seed, o.seedSet = d.params.Seed, err == nil
			return err
		}
	}
	return nil
}

// makeShards makes an empty generation that nobody knows of.
func (f *Filter) makeShards(ctx context.Context, d description, perShard uint64) error {
	f.staged.Store(true)
	shards := shardKeys(f.name, d)
	shapes := make([]shape, d.shards)
	store := storeOf(d)
	err := eachShard(ctx, d.shards, func(ctx context.Context, i int) (err error) {
		shapes[i], err = store.create(ctx, f.client, shards[i], d, perShard)
		return err
	})
	d.shape = shapes[0]
	if err == nil && slices.ContainsFunc(shapes, func(other shape) bool { return other != d.shape }) {
		err = fmt.Errorf("%w: the module made shards of different shapes", ErrMismatch)
	}
	f.begin(newState(f.name, d))
	if err != nil {
		f.dropStaged(ctx)
		return fmt.Errorf("redisfilter: making the shards: %w", err)
	}
	return nil
}

// plan decides about store, number and size of shards.
func plan(ctx context.Context, client redis.UniversalClient, keys int, rate float64, o options) (description, uint64, error) {
	d := description{store: o.store, generation: newGeneration(), keys: uint64(max(keys, 0)), rate: rate}
	if keys < 1 {
		return d, 0, ErrKeys
	}
	whole, err := bloomline.ParamsForRate(keys, rate)
	if err != nil {
		return d, 0, err
	}
	least := int((whole.LineCount + maxShardLines - 1) / maxShardLines)
	d.shards = o.shards
	if d.shards == 0 {
		d.shards = max(least, 1)
		if _, ok := client.(*redis.ClusterClient); ok {
			d.shards = max(d.shards, int(min(64, whole.Bytes()>>20)))
		}
	}
	if d.shards < 1 || d.shards > maxShards {
		return d, 0, ErrShards
	}
	perShard := keysPerShard(keys, d.shards)
	if d.params, err = bloomline.ParamsForRate(perShard, rate); err != nil {
		return d, 0, err
	}
	// By the margin of keysPerShard a shard may be too large.
	for d.params.LineCount > maxShardLines && o.shards == 0 && d.shards < maxShards {
		d.shards++
		perShard = keysPerShard(keys, d.shards)
		if d.params, err = bloomline.ParamsForRate(perShard, rate); err != nil {
			return d, 0, err
		}
	}
	if d.params.LineCount > maxShardLines {
		return d, 0, ErrShards
	}
	d.params.Seed = o.seed
	if !o.seedSet {
		d.params = d.params.WithRandomSeed()
	}
	if d.store == "" {
		d.store, err = chooseStore(ctx, client)
	} else if d.store != StoreLines && d.store != StoreModule && d.store != StoreBF {
		err = fmt.Errorf("%w: store %q", ErrUnsupported, d.store)
	}
	return d, uint64(perShard), err
}

// keysPerShard is for how many keys a shard is made. They fall on shards at random, and a module
// refuses more: five standard deviations above the average is what not one in a million has.
func keysPerShard(keys, shards int) int {
	average := float64(keys) / float64(shards)
	if shards == 1 || keys < 0 {
		return keys
	}
	return int(math.Ceil(average + 5*math.Sqrt(average)))
}

// refresh reads the description again.
func (f *Filter) refresh(ctx context.Context) error {
	text, err := f.client.HGet(ctx, f.name, fieldCurrent).Result()
	switch {
	case errors.Is(err, redis.Nil):
		return ErrNotFound
	case err != nil && !redis.HasErrorPrefix(err, "WRONGTYPE"):
		f.lookAgain(ctx)
		return err
	case err != nil:
		return notHash(err)
	}
	return f.use(text)
}

// use goes over to a generation, if that is another than the one in use.
func (f *Filter) use(text string) error {
	before := f.state.Load()
	if before != nil && before.text == text {
		return nil
	}
	d, err := parseDescription(text)
	switch {
	case err != nil:
		return err
	case before == nil:
		f.begin(newState(f.name, d))
	default:
		f.state.Store(newState(f.name, d))
	}
	return nil
}

// begin sets the first generation, before anybody else has the filter.
func (f *Filter) begin(st *state) {
	f.seed = st.params.Seed
	f.state.Store(st)
}

// notHash gives the server's error a name if the name's key is no hash.
func notHash(err error) error {
	if redis.HasErrorPrefix(err, "WRONGTYPE") {
		return fmt.Errorf("%w: %w", ErrMetadata, err)
	}
	return err
}

// latest is the generation in use now.
func (f *Filter) latest(ctx context.Context) (*state, error) {
	if !f.staged.Load() {
		if err := f.refresh(ctx); err != nil {
			return nil, err
		}
	}
	return f.state.Load(), nil
}

// Info is what a filter is, and how full.
type Info struct {
	Name       string
	Store      Store
	Generation string
	Shards     int
	// Params is the shape of each shard; with [StoreBF] its seed alone is known.
	Params bloomline.Params
	// Bytes is that of all lines; with [StoreBF] 0: it is not known.
	Bytes uint64
	// Capacity is the number of keys that the filter was made for, and Rate what it then has.
	Capacity uint64
	Rate     float64
	// Keys is how many are present: estimated with [StoreLines] from 4096 lines, within some
	// 3 %, counted by the modules.
	Keys uint64
	// EstimatedRate is the false-positive rate now, of the same lines; 0 with other stores.
	EstimatedRate float64
}

// sampledLines is how many lines Info looks at.
const sampledLines = 4096

// Info asks every shard.
//
// Errors: [ErrShardLost], those of the server.
func (f *Filter) Info(ctx context.Context) (Info, error) {
	return bounded(ctx, func() (Info, error) { return f.info(ctx) })
}

func (f *Filter) info(ctx context.Context) (Info, error) {
	st, err := f.latest(ctx)
	if err != nil {
		return Info{}, err
	}
	info := Info{
		Name: f.name, Store: st.description.store, Generation: st.generation, Shards: st.shards, Params: st.params,
		Bytes: st.params.Bytes() * uint64(st.shards), Capacity: st.description.keys, Rate: st.rate,
	}
	if err := f.checkShards(ctx, st); err != nil {
		return info, err
	}
	lines, ok := st.store.(linesStore)
	if !ok {
		return info, f.countItems(ctx, st, &info)
	}
	count := min(int64(st.params.LineCount), int64(max(1, sampledLines/st.shards)))
	first := rand.Int64N(int64(st.params.LineCount) - count + 1)
	body, err := lines.sample(ctx, f.client, st.keys, count, first)
	if err != nil {
		return info, err
	}
	params := st.params
	params.LineCount = uint64(len(body) / lineBytes)
	end := footer{params: params, linesChecksum: bloomline.Hash(body, 0)}
	var sample bloomline.Filter
	if err := sample.UnmarshalBinary(append(body, end.bytes()...)); err != nil {
		return info, err
	}
	info.EstimatedRate = sample.EstimatedRate()
	all := float64(st.params.LineCount) * float64(st.shards)
	info.Keys = uint64(math.Round(sample.EstimatedKeys() * all / float64(params.LineCount)))
	if sample.Fill() == 0 {
		info.Keys = 0
	}
	return info, nil
}

// countItems adds up what the module's shards count.
func (f *Filter) countItems(ctx context.Context, st *state, info *Info) error {
	pipe := f.client.Pipeline()
	cards := make([]*redis.IntCmd, len(st.keys))
	for i, key := range st.keys {
		cards[i] = redis.NewIntCmd(ctx, string(st.description.store)+".card", key)
		_ = pipe.Process(ctx, cards[i])
	}
	_ = execute(ctx, pipe) // each command has its own error
	for i, card := range cards {
		count, err := card.Result()
		if err != nil {
			return fmt.Errorf("shard %d: %w", i, unknownCommand(err))
		}
		info.Keys += uint64(count)
	}
	return nil
}

// checkShards reports the first shard that is not what was stored.
func (f *Filter) checkShards(ctx context.Context, st *state) error {
	pipe := f.client.Pipeline()
	checks := make([]func() error, len(st.keys))
	for i, key := range st.keys {
		checks[i] = st.store.check(ctx, pipe, key)
	}
	_ = execute(ctx, pipe) // each command has its own error
	for i, check := range checks {
		if err := check(); err != nil {
			return fmt.Errorf("shard %d: %w", i, err)
		}
	}
	return nil
}
