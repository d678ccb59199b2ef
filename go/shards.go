package bloomline

import "math/bits"

const (
	s1 = 0xD6E8FEB86659FD93
	s2 = 0xA0761D6478BD642F
)

// ShardOf returns to which of so many shards, 0 to shards-1, the key of a hash belongs, when one
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
// that of shard i. The answers are in out if that is large enough: see [Bitmap].
//
// Without views every key may be present. So it may if the views hash keys differently, by another
// seed or another engine's hash, since one hash cannot be that of all: then every answer is true.
func ShardsContainHashes(views []View, hashes []uint64, out Bitmap) Bitmap {
	out = out.sized(len(hashes))
	agree := len(views) > 0 && hashAlike(views)
	for i, hash := range hashes {
		if !agree || views[ShardOf(hash, len(views))].probe(hash) {
			out[i/64] |= 1 << (i % 64)
		}
	}
	return out
}

// ViewsContain probes many filters for one key: bit i of the answers is that of views[i], in out if
// that is large enough, see [Bitmap]. Each is probed with its own hash of the key, so the views may
// have any seeds, and be of any engines.
func ViewsContain(views []View, key []byte, out Bitmap) Bitmap {
	out = out.sized(len(views))
	var hash uint64
	for i := range views {
		if i == 0 || !views[i].hashesAs(&views[i-1]) {
			hash = views[i].hash(key)
		}
		if views[i].probe(hash) {
			out[i/64] |= 1 << (i % 64)
		}
	}
	return out
}

// ViewsContainHash is [ViewsContain] for the hash of a key. If the views hash keys differently, by another seed
// or another engine's hash, one hash cannot be that of all: then every answer is true.
func ViewsContainHash(views []View, hash uint64, out Bitmap) Bitmap {
	out = out.sized(len(views))
	agree := hashAlike(views)
	for i := range views {
		if !agree || views[i].probe(hash) {
			out[i/64] |= 1 << (i % 64)
		}
	}
	return out
}

// hashAlike reports whether all views make the same hash of each key, those left out that answer
// the same whatever the key is.
func hashAlike(views []View) bool {
	var first *View
	for i := range views {
		view := &views[i]
		switch {
		case !view.denies():
		case first == nil:
			first = view
		case !first.hashesAs(view):
			return false
		}
	}
	return true
}
