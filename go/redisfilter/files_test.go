package redisfilter

// Files in and out, and merging.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	bloomline "github.com/bloomline/bloomline/go"
	"github.com/redis/go-redis/v9"
)

// build writes the files of a filter that the library built, and returns their paths.
func build(t testing.TB, params bloomline.Params, shards int, keys []string) []string {
	t.Helper()
	filters := make([]*bloomline.Filter, shards)
	for i := range filters {
		var err error
		if filters[i], err = bloomline.NewWithParams(params); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range keys {
		filters[bloomline.ShardOf(bloomline.HashString(key, params.Seed), shards)].AddString(key)
	}
	paths := ShardFiles(t.TempDir(), shards)
	for i, path := range paths {
		if err := filters[i].Save(path); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

// sameFiles reports files that differ.
func sameFiles(t testing.TB, got, want []string) {
	t.Helper()
	for i := range want {
		a, err := os.ReadFile(got[i])
		b, other := os.ReadFile(want[i])
		if err != nil || other != nil {
			t.Fatal(err, other)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("%s and %s differ", got[i], want[i])
		}
	}
}

// TestImportExport puts files of several chunks in, and takes the same bytes out.
func TestImportExport(t *testing.T) {
	eachPlace(t, fileStores, func(t *testing.T, client redis.UniversalClient, all []Option) {
		ctx := t.Context()
		params := bloomline.Params{LineCount: 40_001, K: 6, Seed: 99}
		keys := texts("k-", 100_000)
		for _, shards := range []int{3, 1} {
			paths := build(t, params, shards, keys)
			f, err := Import(ctx, client, "f", paths, all...)
			if err != nil {
				t.Fatal(err)
			}
			if maybe, err := f.ContainsStrings(ctx, keys, nil); err != nil || maybe.Count() != len(keys) {
				t.Errorf("%d of %d; %v", maybe.Count(), len(keys), err)
			}
			exported, err := f.Export(ctx, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			sameFiles(t, exported, paths)
			if info, err := f.Info(ctx); err != nil || info.Capacity != uint64(len(keys)) {
				t.Errorf("%+v, %v", info, err)
			}
		}
		if left := allKeys(t, client); len(left) != 2 {
			t.Errorf("left behind: %q", left)
		}
	})
}

func TestImportRejects(t *testing.T) {
	client := connect(t, start(t).addr)
	ctx := t.Context()
	params := bloomline.Params{LineCount: 500, K: 6, Seed: 1}
	keys := texts("k-", 1000)
	good := build(t, params, 3, keys)
	f, err := Import(ctx, client, "f", good)
	if err != nil {
		t.Fatal(err)
	}
	broken := func(change func(file []byte) []byte) string {
		file, err := os.ReadFile(good[1])
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "broken")
		if err := os.WriteFile(path, change(file), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	params.Seed = 2
	otherSeed := build(t, params, 3, keys)[1]
	counting, err := bloomline.NewCounting(100, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	countingPath := filepath.Join(t.TempDir(), "counting")
	if err := counting.Save(countingPath); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what, path string
		want       error
	}{
		{"a flipped line", broken(func(b []byte) []byte { b[77] ^= 4; return b }), bloomline.ErrChecksum},
		{"a flipped footer", broken(func(b []byte) []byte { b[len(b)-60] ^= 4; return b }), bloomline.ErrChecksum},
		{"cut at the end", broken(func(b []byte) []byte { return b[:len(b)-64] }), nil},
		{"cut at the start", broken(func(b []byte) []byte { return b[64:] }), bloomline.ErrTruncated},
		{"empty", broken(func(b []byte) []byte { return nil }), bloomline.ErrTruncated},
		{"another seed", otherSeed, ErrMismatch},
		{"another type", countingPath, bloomline.ErrLayout},
		{"a static filter", "../../golden/static/accepted/rows08.bloomline", bloomline.ErrLayout},
		{"a directory", t.TempDir(), bloomline.ErrNotAFile},
		{"not there", filepath.Join(t.TempDir(), "none"), os.ErrNotExist},
	} {
		_, err := Import(ctx, client, "f", []string{good[0], c.path, good[2]})
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.what, err)
		}
		if err := f.MergeFiles(ctx, []string{good[0], c.path, good[2]}); err == nil {
			t.Errorf("%s is merged", c.what)
		}
	}
	if _, err := Import(ctx, client, "f", nil); !errors.Is(err, ErrShards) {
		t.Errorf("no files: %v", err)
	}
	// What was there is as it was, and nothing else is there.
	if left := allKeys(t, client); len(left) != 4 {
		t.Errorf("left behind: %q", left)
	}
	exported, err := f.Export(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	sameFiles(t, exported, good)
	if _, err := f.Export(ctx, "/nowhere"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
}

// TestMerge unites filters in the same slots, in others, of another server, and of files.
func TestMerge(t *testing.T) {
	eachPlace(t, fileStores, func(t *testing.T, client redis.UniversalClient, all []Option) {
		ctx := t.Context()
		all = append(all, WithShards(3), WithSeed(11))
		into, err := Reserve(ctx, client, "a{t}", 20_000, 0.01, all...)
		if err != nil {
			t.Fatal(err)
		}
		parts := [][]string{texts("own-", 3000)}
		if _, err := into.AddStrings(ctx, parts[0], nil); err != nil {
			t.Fatal(err)
		}
		for i, name := range []string{"b{t}", "elsewhere"} {
			from, err := Reserve(ctx, client, name, 20_000, 0.01, all...)
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, texts(fmt.Sprintf("from-%d-", i), 3000))
			if _, err := from.AddStrings(ctx, parts[i+1], nil); err != nil {
				t.Fatal(err)
			}
			if err := into.Merge(ctx, from); err != nil {
				t.Fatal(err)
			}
			if err := from.Delete(ctx); err != nil {
				t.Fatal(err)
			}
		}
		parts = append(parts, texts("file-", 3000))
		if err := into.MergeFiles(ctx, build(t, into.state.Load().params, 3, parts[3])); err != nil {
			t.Fatal(err)
		}
		shards := local(t, into)
		for _, keys := range parts {
			if maybe, err := into.ContainsStrings(ctx, keys, nil); err != nil || maybe.Count() != len(keys) {
				t.Errorf("%s...: %d of %d; %v", keys[0], maybe.Count(), len(keys), err)
			}
			for _, key := range keys {
				hash := bloomline.HashString(key, 11)
				shards[bloomline.ShardOf(hash, 3)].AddHash(hash)
			}
		}
		paths, err := into.Export(ctx, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		for i, path := range paths {
			loaded, err := bloomline.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			if !sameLines(t, loaded, shards[i]) {
				t.Errorf("shard %d is not the union", i)
			}
		}

		// A shard that is gone does not come back with the other's keys alone.
		from, err := Reserve(ctx, client, "b{t}", 20_000, 0.01, all...)
		if err != nil {
			t.Fatal(err)
		}
		if err := client.Unlink(ctx, into.state.Load().keys[2]).Err(); err != nil {
			t.Fatal(err)
		}
		if err := into.Merge(ctx, from); !errors.Is(err, ErrShardLost) {
			t.Errorf("into a lost shard: %v", err)
		}
		if err := from.Merge(ctx, into); !errors.Is(err, ErrShardLost) {
			t.Errorf("from a lost shard: %v", err)
		}
		if _, err := into.Export(ctx, t.TempDir()); !errors.Is(err, ErrShardLost) {
			t.Errorf("exporting a lost shard: %v", err)
		}
		if err := into.ExportShard(ctx, 2, io.Discard); !errors.Is(err, ErrShardLost) {
			t.Errorf("exporting a lost shard alone: %v", err)
		}
		for _, keys := range parts {
			if maybe, _ := into.ContainsStrings(ctx, keys, nil); maybe.Count() != len(keys) {
				t.Errorf("%s...: %d of %d after the loss", keys[0], maybe.Count(), len(keys))
			}
		}
		other, err := Reserve(ctx, client, "c{t}", 20_000, 0.01, append(all, WithSeed(12))...)
		if err != nil {
			t.Fatal(err)
		}
		if err := into.Merge(ctx, other); !errors.Is(err, ErrMismatch) {
			t.Errorf("another seed: %v", err)
		}
		if left := allKeys(t, client); len(left) != 3+3+3+2 {
			t.Errorf("left behind: %q", left)
		}
	})
}

// TestExportFollows exports a filter that another client has replaced.
func TestExportFollows(t *testing.T) {
	eachPlace(t, fileStores, func(t *testing.T, client redis.UniversalClient, all []Option) {
		ctx := t.Context()
		if _, err := Reserve(ctx, client, "f", 1000, 0.01, append(all, WithShards(2))...); err != nil {
			t.Fatal(err)
		}
		backup, err := Open(ctx, client, "f")
		if err != nil {
			t.Fatal(err)
		}
		next, err := Stage(ctx, client, "f", 5000, 0.01, append(all, WithShards(1))...)
		if err != nil {
			t.Fatal(err)
		}
		if err := next.Publish(ctx); err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := backup.ExportShard(ctx, 0, &file); err != nil || int64(file.Len()) != next.state.Load().shardBytes() {
			t.Errorf("%d bytes, %v", file.Len(), err)
		}
		if err := backup.ExportShard(ctx, 1, &file); !errors.Is(err, ErrShards) {
			t.Errorf("a shard that there was: %v", err)
		}
	})
}

// TestUnreadable imports a file that cannot be read: the error is the system's.
func TestUnreadable(t *testing.T) {
	client := connect(t, start(t).addr)
	f, err := Reserve(t.Context(), client, "f", 1000, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	d := f.state.Load().description
	err = uploadFile(t.Context(), client, linesStore{d}, d, "new", t.TempDir())
	if errors.Is(err, bloomline.ErrTruncated) || !errors.Is(err, syscall.EISDIR) {
		t.Errorf("a directory: %v", err)
	}
}

// TestMergeUnderLoad merges while keys are added and probed.
func TestMergeUnderLoad(t *testing.T) {
	eachPlace(t, fileStores, func(t *testing.T, client redis.UniversalClient, all []Option) {
		ctx := t.Context()
		all = append(all, WithShards(2), WithSeed(11))
		into, err := Reserve(ctx, client, "a{t}", 500_000, 0.01, all...)
		if err != nil {
			t.Fatal(err)
		}
		from, err := Reserve(ctx, client, "b{t}", 500_000, 0.01, all...)
		if err != nil {
			t.Fatal(err)
		}
		moved := texts("moved-", 5000)
		if _, err := from.AddStrings(ctx, moved, nil); err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() {
			for range 20 {
				if err := into.Merge(ctx, from); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
		for round := 0; ; round++ {
			keys := texts(fmt.Sprint(round, "-"), 50)
			if _, err := into.AddStrings(ctx, keys, nil); err != nil {
				t.Fatal(err)
			}
			if maybe, err := into.ContainsStrings(ctx, keys, nil); err != nil || maybe.Count() != len(keys) {
				t.Fatalf("%d of %d; %v", maybe.Count(), len(keys), err)
			}
			select {
			case err := <-done:
				if err != nil {
					t.Fatal(err)
				}
				if maybe, err := into.ContainsStrings(ctx, moved, nil); err != nil || maybe.Count() != len(moved) {
					t.Errorf("%d of %d; %v", maybe.Count(), len(moved), err)
				}
				return
			default:
			}
		}
	})
}
