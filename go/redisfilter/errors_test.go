package redisfilter

// What goes wrong: bad input, servers that are gone or lack memory, replicas.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

func TestErrors(t *testing.T) {
	server := start(t)
	client := connect(t, server.addr)
	ctx := t.Context()
	if _, err := Open(ctx, client, "none"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a filter that is not there: %v", err)
	}
	if _, err := Open(ctx, client, "a}"); !errors.Is(err, ErrName) {
		t.Errorf("a bad name: %v", err)
	}
	if _, err := Reserve(ctx, client, "", 1, 0.01); !errors.Is(err, ErrName) {
		t.Errorf("no name: %v", err)
	}
	if err := client.Set(ctx, "text", "x", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(ctx, client, "text"); !errors.Is(err, ErrMetadata) {
		t.Errorf("a string: %v", err)
	}
	if _, err := Reserve(ctx, client, "text", 1, 0.01); !errors.Is(err, ErrExists) {
		t.Errorf("over a string: %v", err)
	}
	if _, err := Reserve(ctx, client, "bl", 1, 0.01, WithStore(StoreModule)); !errors.Is(err, ErrModule) {
		t.Errorf("without the module: %v", err)
	}
	if _, err := Reserve(ctx, client, "bf", 1, 0.01, WithStore(StoreBF)); !errors.Is(err, ErrModule) {
		t.Errorf("without a module: %v", err)
	}
	for _, none := range []int{0, -1} {
		if _, err := Reserve(ctx, client, "f", none, 0.01); !errors.Is(err, ErrKeys) {
			t.Errorf("for %d keys: %v", none, err)
		}
		if _, err := Stage(ctx, client, "f", none, 0.01); !errors.Is(err, ErrKeys) {
			t.Errorf("for %d keys, staged: %v", none, err)
		}
	}
	f, err := Reserve(ctx, client, "f", 1, 0.01)
	if err != nil || f.state.Load().description.store != StoreLines {
		t.Fatalf("%+v, %v", f, err)
	}
	if _, err := Reserve(ctx, client, "f", 1, 0.01); !errors.Is(err, ErrExists) {
		t.Errorf("twice: %v", err)
	}
	if err := f.Publish(ctx); !errors.Is(err, ErrPublished) {
		t.Errorf("published twice: %v", err)
	}
	if left := len(allKeys(t, client)); left != 3 { // the string, the name, its shard
		t.Errorf("%d keys: failures left some behind: %q", left, allKeys(t, client))
	}
	// Memory that the server does not have.
	if err := client.ConfigSet(ctx, "maxmemory", "2mb").Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := Reserve(ctx, client, "large", 10_000_000, 0.01); err == nil {
		if _, err = Reserve(ctx, client, "larger", 10_000_000, 0.01); err == nil {
			t.Error("two filters of 12 MB where there are 2")
		}
	}
	if err := client.ConfigSet(ctx, "maxmemory", "0").Err(); err != nil {
		t.Fatal(err)
	}
	replicas := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{server.addr}, ReadOnly: true})
	defer replicas.Close()
	if _, err := Open(ctx, replicas, "f"); !errors.Is(err, ErrReplicaReads) {
		t.Errorf("reading from replicas: %v", err)
	}

	// Of files that cannot be written, the one that was meant is named.
	none := filepath.Join(t.TempDir(), "none")
	var ofPath *fs.PathError
	if _, err := f.Export(ctx, none); !errors.As(err, &ofPath) || ofPath.Path != ShardFiles(none, 1)[0] || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("into no directory: %v", err)
	}

	// What cannot be answered may be.
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if maybe, err := f.ContainsString(cancelled, "x"); !maybe || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, %v", maybe, err)
	}
	server.stop()
	maybe, err := f.ContainsStrings(ctx, texts("", 100), nil)
	var partial *PartialError
	if maybe.Count() != 100 || !errors.As(err, &partial) || len(partial.Keys) != 100 {
		t.Errorf("no server: %d, %v", maybe.Count(), err)
	}
	if added, err := f.AddString(ctx, "x"); added || err == nil {
		t.Errorf("no server: %v, %v", added, err)
	}
}

// TestOnReplica connects to a replica: what it lacks yet would be denied.
func TestOnReplica(t *testing.T) {
	master := start(t)
	client := connect(t, master.addr)
	ctx := t.Context()
	f, err := Reserve(ctx, client, "f", 1000, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	files := []string{writeShard(t, f)}
	replica := connect(t, start(t, "--replicaof", fmt.Sprint("127.0.0.1 ", master.port)).addr)
	eventually(t, "the filter on the replica", func() bool { return replica.Exists(ctx, "f").Val() == 1 })
	for what, call := range map[string]func() (*Filter, error){
		"Open":    func() (*Filter, error) { return Open(ctx, replica, "f") },
		"Reserve": func() (*Filter, error) { return Reserve(ctx, replica, "g", 1000, 0.01) },
		"Stage":   func() (*Filter, error) { return Stage(ctx, replica, "f", 1000, 0.01) },
		"Import":  func() (*Filter, error) { return Import(ctx, replica, "f", files) },
	} {
		if _, err := call(); !errors.Is(err, ErrReplicaReads) {
			t.Errorf("%s: %v", what, err)
		}
	}
	// Who may not ask for the role is trusted.
	if err := client.Do(ctx, "acl", "setuser", "modest", "on", ">secret", "~*", "+@all", "-role").Err(); err != nil {
		t.Fatal(err)
	}
	options := *client.Options()
	options.Username, options.Password = "modest", "secret"
	modest := redis.NewClient(&options)
	defer modest.Close()
	if _, err := Open(ctx, modest, "f"); err != nil {
		t.Errorf("without the role: %v", err)
	}
}

// TestReplicas waits for a replica, and fails where there is none.
func TestReplicas(t *testing.T) {
	master := start(t)
	client := connect(t, master.addr)
	ctx := t.Context()
	f, err := Reserve(ctx, client, "f", 1000, 0.01, WithShards(3), WithReplicas(1, 200*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	if added, err := f.AddString(ctx, "early"); !added || !errors.Is(err, ErrReplicas) {
		t.Errorf("without a replica: %v, %v", added, err)
	}
	// One with more patience than it takes to see that there is none.
	f, err = Open(ctx, client, "f", WithReplicas(1, 20*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	replica := start(t, "--replicaof", fmt.Sprint("127.0.0.1 ", master.port))
	eventually(t, "a replica", func() bool {
		_, err := f.AddString(ctx, "first")
		return err == nil
	})
	keys := texts("", 1000)
	if _, err := f.AddStrings(ctx, keys, nil); err != nil {
		t.Fatal(err)
	}
	master.stop()
	second := connect(t, replica.addr)
	if err := second.Do(ctx, "replicaof", "no", "one").Err(); err != nil {
		t.Fatal(err)
	}
	f, err = Open(ctx, second, "f")
	if err != nil {
		t.Fatal(err)
	}
	if maybe, err := f.ContainsStrings(ctx, keys, nil); err != nil || maybe.Count() != len(keys) {
		t.Errorf("%d of %d survive; %v", maybe.Count(), len(keys), err)
	}
}
