package engine

// Parquet's hash of values.

import (
	"encoding/binary"
	"math/bits"
)

const (
	xxh64P1 uint64 = 0x9E3779B185EBCA87
	xxh64P2 uint64 = 0xC2B2AE3D27D4EB4F
	xxh64P3 uint64 = 0x165667B19E3779F9
	xxh64P4 uint64 = 0x85EBCA77C2B2AE63
	xxh64P5 uint64 = 0x27D4EB2F165667C5
)

// XXH64 is XXH64 of the bytes, without a seed.
func XXH64(data []byte) uint64 {
	n, h := uint64(len(data)), xxh64P5
	if len(data) >= 32 {
		first := xxh64P1 // a variable, as the sums wrap
		a, b, c, d := first+xxh64P2, xxh64P2, uint64(0), -first
		for ; len(data) >= 32; data = data[32:] {
			a = xxh64Step(a, binary.LittleEndian.Uint64(data))
			b = xxh64Step(b, binary.LittleEndian.Uint64(data[8:]))
			c = xxh64Step(c, binary.LittleEndian.Uint64(data[16:]))
			d = xxh64Step(d, binary.LittleEndian.Uint64(data[24:]))
		}
		h = bits.RotateLeft64(a, 1) + bits.RotateLeft64(b, 7) + bits.RotateLeft64(c, 12) + bits.RotateLeft64(d, 18)
		for _, acc := range [4]uint64{a, b, c, d} {
			h = (h^xxh64Step(0, acc))*xxh64P1 + xxh64P4
		}
	}
	h += n
	for ; len(data) >= 8; data = data[8:] {
		h = bits.RotateLeft64(h^xxh64Step(0, binary.LittleEndian.Uint64(data)), 27)*xxh64P1 + xxh64P4
	}
	if len(data) >= 4 {
		h = bits.RotateLeft64(h^uint64(binary.LittleEndian.Uint32(data))*xxh64P1, 23)*xxh64P2 + xxh64P3
		data = data[4:]
	}
	for _, byte := range data {
		h = bits.RotateLeft64(h^uint64(byte)*xxh64P5, 11) * xxh64P1
	}
	return xxh64End(h)
}

// XXH64Uint64 is XXH64 of the 8 bytes of an integer, little-endian. It is as fast as the hash of a batch
// could be without vectors.
func XXH64Uint64(value uint64) uint64 {
	return xxh64End(bits.RotateLeft64((xxh64P5+8)^xxh64Step(0, value), 27)*xxh64P1 + xxh64P4)
}

// XXH64Uint32 is XXH64 of the 4 bytes of an integer, little-endian.
func XXH64Uint32(value uint32) uint64 {
	return xxh64End(bits.RotateLeft64((xxh64P5+4)^uint64(value)*xxh64P1, 23)*xxh64P2 + xxh64P3)
}

func xxh64End(h uint64) uint64 {
	h = (h ^ h>>33) * xxh64P2
	h = (h ^ h>>29) * xxh64P3
	return h ^ h>>32
}

func xxh64Step(acc, lane uint64) uint64 {
	return bits.RotateLeft64(acc+lane*xxh64P2, 31) * xxh64P1
}
