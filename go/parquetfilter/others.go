package parquetfilter

// Split blocks that are not Parquet's: types of their own, as no byte says whose they are. Inside, both are
// Parquet's blocks, asked by a hash that finds the same bits.

import (
	"math/bits"

	"github.com/bloomline/bloomline/go"
	"github.com/bloomline/bloomline/go/internal/engine"
)

// noText is for what has no encoded form: as that of bloomline.View, an error, where encoding/json would write {}.
type noText struct{}

// MarshalText fails.
func (noText) MarshalText() ([]byte, error) { return bloomline.View{}.MarshalText() }

// UnmarshalText fails.
func (*noText) UnmarshalText(text []byte) error { return new(bloomline.View).UnmarshalText(text) }

// Kudu is the split-block filter of Kudu, Impala or Doris. It is asked by the hashes of 32 bits that the keys were
// added by. The zero Kudu returns true for every key.
type Kudu struct {
	noText
	view bloomline.View
	log2 int
}

// OpenKudu opens the bits of such a filter, which it keeps: the directory of a BlockBloomFilter. Only their length is
// looked at. Bits of Parquet or Velox, opened so, would lose keys.
//
// Errors: [bloomline.ErrLineCount] unless they are a power of two of blocks of 32 bytes, of less than 2 GiB;
// [bloomline.ErrTruncated] for no whole blocks. The Kudu then returns true for every key.
func OpenKudu(data []byte) (Kudu, error) {
	if err := check(len(data)); err != nil {
		return Kudu{}, err
	}
	if len(data)&(len(data)-1) != 0 {
		return Kudu{}, bloomline.ErrLineCount
	}
	view, err := bloomline.OpenParquetBits(data)
	return Kudu{noText{}, view, bits.TrailingZeros(uint(len(data) / engine.SplitBlockBytes))}, err
}

// ContainsHash32 reports whether the key of a hash may be present. False means definitely absent.
func (k Kudu) ContainsHash32(hash uint32) bool {
	return k.view.ContainsHash(engine.KuduHash(hash, k.log2))
}

// ContainsHashes32 is ContainsHash32 of many, and returns their answers, in the memory of out if that is enough.
func (k Kudu) ContainsHashes32(hashes []uint32, out bloomline.Bitmap) bloomline.Bitmap {
	made := make([]uint64, len(hashes))
	for i, hash := range hashes {
		made[i] = engine.KuduHash(hash, k.log2)
	}
	return k.view.ContainsHashes(made, out)
}

// Velox is a split-block filter of Velox, in a copy. It is asked by hashes of 64 bits, which Velox leaves to its
// callers. The zero Velox returns true for every key.
type Velox struct {
	noText
	view bloomline.View
}

// OpenVelox opens blocks, of which each has so many bytes: sizeof(SplitBlockBloomFilter::Block) of the program that
// made them, which is 32 where a register has 8 words. It copies them. Blocks of Parquet or Kudu, opened so, would
// lose keys.
//
// Errors: [bloomline.ErrLayout] unless a block has 32 bytes; [bloomline.ErrLineCount] for none, and for 2 GiB or more;
// [bloomline.ErrTruncated] for no whole blocks. The Velox then returns true for every key.
func OpenVelox(blocks []byte, blockBytes int) (Velox, error) {
	if blockBytes != engine.SplitBlockBytes {
		return Velox{}, bloomline.ErrLayout
	}
	if err := check(len(blocks)); err != nil {
		return Velox{}, err
	}
	view, err := bloomline.OpenParquetBits(engine.FromVelox(blocks))
	return Velox{noText{}, view}, err
}

// ContainsHash reports whether the key of a hash may be present. False means definitely absent.
func (v Velox) ContainsHash(hash uint64) bool { return v.view.ContainsHash(hash) }

// ContainsHashes is ContainsHash of many, and returns their answers, in the memory of out if that is enough.
func (v Velox) ContainsHashes(hashes []uint64, out bloomline.Bitmap) bloomline.Bitmap {
	return v.view.ContainsHashes(hashes, out)
}
