package engine

// Parquet's split blocks: 32 bytes, eight words of 32 bits, in each of which a key has a bit.

import (
	"encoding/binary"
	"math"
	"math/bits"
)

const (
	// SplitBlockBytes is the size of a block.
	SplitBlockBytes = 32
	// MaxParquetBits is the most bytes of bits that writers make by default.
	MaxParquetBits = 128 << 20
)

// salts are the factors of the words. No byte of a filter says that they are these.
var salts = [8]uint32{
	0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31,
}

// AreSplitBlocks reports whether bits can be so long: whole blocks, as many as a header can state.
func AreSplitBlocks(length int) bool {
	return length > 0 && length%SplitBlockBytes == 0 && length <= math.MaxInt32
}

// OpenParquetBits opens bits for which [AreSplitBlocks] holds.
func OpenParquetBits(bits []byte) Block {
	return Block{Bits: bits, lines: uint32(len(bits) / SplitBlockBytes), k: 8, layout: SplitBlock, hash: hashXXH64}
}

// ParquetMaybe is a filter of which nothing is known.
func ParquetMaybe() Block { return Block{hash: hashXXH64} }

func splitBlock(bits []byte, count uint32, hash uint64) *[SplitBlockBytes]byte {
	at := (hash >> 32) * uint64(count) >> 32 * SplitBlockBytes
	return (*[SplitBlockBytes]byte)(bits[at:])
}

func splitBlockContains(bits []byte, count uint32, hash uint64) bool {
	block, x := splitBlock(bits, count, hash), uint32(hash)
	// No branch between the words: it would be mispredicted for half of the keys.
	set := binary.LittleEndian.Uint32(block[0:]) >> (x * salts[0] >> 27)
	set &= binary.LittleEndian.Uint32(block[4:]) >> (x * salts[1] >> 27)
	set &= binary.LittleEndian.Uint32(block[8:]) >> (x * salts[2] >> 27)
	set &= binary.LittleEndian.Uint32(block[12:]) >> (x * salts[3] >> 27)
	set &= binary.LittleEndian.Uint32(block[16:]) >> (x * salts[4] >> 27)
	set &= binary.LittleEndian.Uint32(block[20:]) >> (x * salts[5] >> 27)
	set &= binary.LittleEndian.Uint32(block[24:]) >> (x * salts[6] >> 27)
	set &= binary.LittleEndian.Uint32(block[28:]) >> (x * salts[7] >> 27)
	return set&1 != 0
}

// AddSplitBlock adds keys with these hashes to bits for which [AreSplitBlocks] holds.
func AddSplitBlock(bits []byte, hashes []uint64) {
	count := uint32(len(bits) / SplitBlockBytes)
	for _, hash := range hashes {
		block, x := splitBlock(bits, count, hash), uint32(hash)
		for i, salt := range salts {
			word := block[4*i : 4*i+4]
			binary.LittleEndian.PutUint32(word, binary.LittleEndian.Uint32(word)|1<<(x*salt>>27))
		}
	}
}

// FoldSplitBlock makes bits as small as their rate is at most that, and returns the first of them.
func FoldSplitBlock(all []byte, rate float64) []byte {
	blocks, group := len(all)/SplitBlockBytes, 1
	// A block's index is that in a filter of half as many, and one more bit.
	for blocks%(2*group) == 0 && splitBlockRate(all, 2*group) <= rate {
		group *= 2
	}
	for i := range blocks / group {
		folded := foldedBlock(all[i*group*SplitBlockBytes:], group)
		copy(all[i*SplitBlockBytes:], folded[:])
	}
	return all[:blocks/group*SplitBlockBytes]
}

// foldedBlock is all bits of the first blocks in one.
func foldedBlock(blocks []byte, count int) (all [SplitBlockBytes]byte) {
	for i, b := range blocks[:count*SplitBlockBytes] {
		all[i%SplitBlockBytes] |= b
	}
	return all
}

// splitBlockRate is the false-positive rate, with so many blocks folded into one.
func splitBlockRate(all []byte, group int) float64 {
	sum, size := 0.0, group*SplitBlockBytes
	for at := 0; at < len(all); at += size {
		folded, rate := foldedBlock(all[at:], group), 1.0
		for word := folded[:]; len(word) > 0; word = word[4:] {
			rate *= float64(bits.OnesCount32(binary.LittleEndian.Uint32(word))) / 32
		}
		sum += rate
	}
	return sum * float64(size) / float64(len(all))
}
