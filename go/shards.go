package bloomline

import "math/bits"

const (
	s1 = 0xD6E8FEB86659FD93
	s2 = 0xA0761D6478BD642F
)

// ShardOf tells which of shards shards, 0 to shards-1, the key of a hash belongs to, when one
// set is split over several filters, files or machines. It does not depend on the line and the
// bits that the hash has in a filter, so that the filter of a shard is one like any other. For
// 0 shards or less the result is 0. It is the same in all languages.
func ShardOf(hash uint64, shards int) int {
	mixed := hash * s1
	mixed = (mixed ^ mixed>>32) * s2
	shard, _ := bits.Mul64(mixed^mixed>>29, uint64(max(shards, 0)))
	return int(shard)
}

// ShardsContainHashes answers many hashes at once, each by the filter of its shard: views[i] is
// that of shard i. The answers are in out if that is large enough: see [Bitmap]. The views must
// agree on the hash. Without views every key may be in.
func ShardsContainHashes(views []View, hashes []uint64, out Bitmap) Bitmap {
	out = out.sized(len(hashes))
	for i, hash := range hashes {
		if len(views) == 0 || views[ShardOf(hash, len(views))].ContainsHash(hash) {
			out[i/64] |= 1 << (i % 64)
		}
	}
	return out
}
