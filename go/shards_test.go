package bloomline

import "testing"

func TestShards(t *testing.T) {
	const keys = 20_000
	for _, shards := range []int{1, 2, 7, 64} {
		views := make([]View, shards)
		filters := make([]*Filter, shards)
		for i := range filters {
			filters[i] = mustNew(t, keys/shards, 0.01)
		}
		hashes := make([]uint64, 3*keys)
		for i := range hashes {
			hashes[i] = HashUint64(uint64(i), 0)
			if i < keys {
				filters[ShardOf(hashes[i], shards)].AddHash(hashes[i])
			}
		}
		for i, filter := range filters {
			if n := int(filter.KeyCount()); n < keys/shards*7/10 || n > keys/shards*13/10 {
				t.Errorf("%d shards: %d keys in one", shards, n)
			}
			views[i] = filter.View()
		}
		answers := ShardsContainHashes(views, hashes, nil)
		wrong := 0
		for i, hash := range hashes {
			if answers.Has(i) != views[ShardOf(hash, shards)].ContainsHash(hash) {
				t.Fatalf("%d shards: key %d", shards, i)
			}
			if i < keys && !answers.Has(i) {
				t.Fatalf("%d shards: key %d is lost", shards, i)
			}
			if i >= keys && answers.Has(i) {
				wrong++
			}
		}
		if rate := float64(wrong) / (2 * keys); rate > 0.0135 {
			t.Errorf("%d shards: rate %v", shards, rate)
		}
	}
	if ShardOf(5, 0) != 0 || ShardOf(5, -1) != 0 || ShardsContainHashes(nil, make([]uint64, 70), nil).Count() != 70 {
		t.Error("no shards")
	}
}

// The numbers that the other languages have.
func TestShardOf(t *testing.T) {
	for _, test := range []struct {
		hash   uint64
		shards int
		want   int
	}{{0, 64, 0}, {1, 64, 32}, {^uint64(0), 64, 55}, {0x9E3779B97F4A7C15, 1000, 132}} {
		if got := ShardOf(test.hash, test.shards); got != test.want {
			t.Errorf("shard of %x in %d: %d, want %d", test.hash, test.shards, got, test.want)
		}
	}
}
