// Command shard_router is an example of a matrix that routes queries: 64 databases, here SQLite files, each with
// keys of its own, and nothing in a key says in which it is. One probe of the matrix says which databases may
// have it, and only those are asked.
//
//	go run . [-keys 64000] [-rate 0.001]
//
// It prints how many databases are asked for each query, and the time, with the matrix and without. Then
// databases change, and their columns are rebuilt. It exits with status 1 if a key that is present was not
// found at any moment, or if more databases were asked than the rate allows.
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

const shardCount = 64

func main() {
	keys := flag.Int("keys", 64_000, "how many keys all databases have")
	rate := flag.Float64("rate", 0.001, "how often a database is asked in vain")
	flag.Parse()
	directory, err := os.MkdirTemp("", "shard_router")
	if err == nil {
		err = run(context.Background(), os.Stdout, directory, *keys, *rate)
		os.RemoveAll(directory)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, w io.Writer, directory string, keys int, rate float64) error {
	if keys < 1 {
		return errors.New("there has to be a key")
	}
	shards := make([]*Shard, shardCount)
	for i := range shards {
		shard, err := OpenShard(ctx, filepath.Join(directory, fmt.Sprintf("shard%02d.sqlite", i)))
		if err != nil {
			return err
		}
		defer shard.Close()
		shards[i] = shard
	}
	// Some shards have more keys than others, so there is room for half as many again as a shard has on average.
	router, err := NewRouter(shards, keys/shardCount*3/2+100, rate)
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(1, 2))
	for shard, own := range place(random, "key", keys) {
		if err := router.Change(ctx, shard, insert(own)); err != nil {
			return err
		}
	}

	// phase asks for keys, which all have to be found or none, and prints what that took.
	phase := func(name, prefix string, keys int, want bool, most float64) error {
		const queries = 2000
		router.asked.Store(0)
		start := time.Now()
		for range queries {
			key := fmt.Sprint(prefix, random.IntN(keys))
			value, found, err := router.Get(ctx, key)
			if err != nil {
				return err
			}
			if found != want || want && value != "value of "+key {
				return fmt.Errorf("%s: %s: found: %v, %q", name, key, found, value)
			}
		}
		took, asked := time.Since(start)/queries, float64(router.asked.Load())/queries
		fmt.Fprintf(w, "%-45s %6.2f of %d databases, %v each\n", name, asked, shardCount, took.Round(100*time.Nanosecond))
		if asked > most {
			return fmt.Errorf("%s: %.2f databases for each query, more than %.2f", name, asked, most)
		}
		return nil
	}
	// Others that may have a key, twice what is to be expected, and chance.
	vain := 2*rate*shardCount + 0.1
	if err := errors.Join(
		phase("without the matrix, present keys", "key", keys, true, shardCount),
		phase("without the matrix, absent keys", "other", keys, false, shardCount),
	); err != nil {
		return err
	}
	start := time.Now()
	if err := router.RebuildAll(ctx); err != nil {
		return err
	}
	columns := router.state.Load().columns
	fmt.Fprintf(w, "%v, %d KiB, made in %v\n", columns, columns.MemoryUsage()>>10, time.Since(start).Round(time.Millisecond))
	if err := errors.Join(
		phase("with it, present keys", "key", keys, true, 1+vain),
		phase("with it, absent keys", "other", keys, false, vain),
	); err != nil {
		return err
	}

	// Three databases get new keys. Until their columns are rebuilt, they are asked about each key.
	few := max(keys/100, 3)
	for i := range 3 {
		added := make([]string, 0, few)
		for j := i; j < few; j += 3 {
			added = append(added, fmt.Sprint("new", j))
		}
		if err := router.Change(ctx, 20*i, insert(added)); err != nil {
			return err
		}
	}
	if err := errors.Join(
		phase("three have changed, new keys", "new", few, true, 3+vain),
		phase("three have changed, absent keys", "other", keys, false, 3+vain),
	); err != nil {
		return err
	}
	start = time.Now()
	for i := range 3 {
		if err := router.Rebuild(ctx, 20*i); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "three columns, rebuilt in %v\n", time.Since(start).Round(time.Millisecond))
	return errors.Join(
		phase("rebuilt, new keys", "new", few, true, 1+vain),
		phase("rebuilt, present keys", "key", keys, true, 1+vain),
		phase("rebuilt, absent keys", "other", keys, false, vain),
	)
}

// place puts each key into a shard, as years of moving do: no rule finds it again.
func place(random *rand.Rand, prefix string, keys int) map[int][]string {
	placed := map[int][]string{}
	for i := range keys {
		shard := random.IntN(shardCount)
		placed[shard] = append(placed[shard], fmt.Sprint(prefix, i))
	}
	return placed
}

// insert inserts keys, each with a value that says whose it is.
func insert(keys []string) func(tx *sql.Tx) error {
	return func(tx *sql.Tx) error {
		statement, err := tx.Prepare("INSERT INTO items (key, value) VALUES (?, ?)")
		if err != nil {
			return err
		}
		defer statement.Close()
		for _, key := range keys {
			if _, err := statement.Exec(key, "value of "+key); err != nil {
				return err
			}
		}
		return nil
	}
}
