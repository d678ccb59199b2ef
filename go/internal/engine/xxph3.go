package engine

// XXPH3: the hash of RocksDB's filters. It is the form that XXH3 had before its first
// release, frozen in RocksDB's files: the same secret and the same ingredients, put together
// a little differently for every length. Neither can stand in for the other.

import (
	"encoding/binary"
	"math/bits"
)

const (
	prime32x1 = 0x9E3779B1
	prime32x2 = 0x85EBCA77
	prime32x3 = 0xC2B2AE3D
	prime64x1 = 0x9E3779B185EBCA87
	prime64x2 = 0xC2B2AE3D27D4EB4F
	prime64x3 = 0x165667B19E3779F9
	prime64x4 = 0x85EBCA77C2B2AE63
	prime64x5 = 0x27D4EB2F165667C5

	stripe  = 64
	stripes = 16 // in a block: the secret moves on by 8 bytes per stripe, up to its end
)

var secret = [192]byte{
	0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,
	0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
	0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
	0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
	0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
	0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
	0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,
	0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
	0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
	0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,
	0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce,
	0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
}

// The first words of the secret.
const (
	secret0 = 0xBE4BA423396CFEB8
	secret8 = 0x1CAD21F72C81017C
)

// XXPH3 returns the hash of a key of RocksDB.
func XXPH3(key []byte) uint64 {
	n := len(key)
	switch {
	case n > 16:
		return xxph3Long(key)
	case n > 8:
		low := binary.LittleEndian.Uint64(key) ^ secret0
		high := binary.LittleEndian.Uint64(key[n-8:]) ^ secret8
		return avalanche(uint64(n) + low + high + fold(low, high))
	case n >= 4:
		low := uint64(binary.LittleEndian.Uint32(key))
		high := uint64(binary.LittleEndian.Uint32(key[n-4:]))
		k := (low | high<<32) ^ secret0
		m := uint64(n) + (k^k>>51)*prime32x1
		return avalanche((m ^ m>>47) * prime64x2)
	case n > 0:
		c := uint32(key[0]) | uint32(key[n>>1])<<8 | uint32(key[n-1])<<16 | uint32(n)<<24
		return avalanche(uint64(c^secret0&0xFFFFFFFF) * prime64x1)
	}
	return fold(secret0, prime64x2)
}

func xxph3Long(key []byte) uint64 {
	n := len(key)
	sum := uint64(n) * prime64x1
	switch {
	case n <= 128:
		// Pairs of 16 bytes from both ends, as many as the length has room for.
		if n > 32 {
			if n > 64 {
				if n > 96 {
					sum += mix16(key[48:], 96) + mix16(key[n-64:], 112)
				}
				sum += mix16(key[32:], 64) + mix16(key[n-48:], 80)
			}
			sum += mix16(key[16:], 32) + mix16(key[n-32:], 48)
		}
		return avalanche(sum + mix16(key, 0) + mix16(key[n-16:], 16))
	case n <= 240:
		for i := 0; i < 128; i += 16 {
			sum += mix16(key[i:], i)
		}
		sum = avalanche(sum)
		for i := 128; i+16 <= n; i += 16 {
			sum += mix16(key[i:], i-128+3)
		}
		return avalanche(sum + mix16(key[n-16:], 136-17))
	}
	lanes := [8]uint64{
		prime32x3, prime64x1, prime64x2, prime64x3, prime64x4, prime32x2, prime64x5, prime32x1,
	}
	rest := key
	for ; len(rest) >= stripe*stripes; rest = rest[stripe*stripes:] {
		for i := range stripes {
			accumulate(&lanes, rest[stripe*i:], 8*i)
		}
		for i := range lanes {
			lane := lanes[i]
			lanes[i] = (lane ^ lane>>47 ^ secretAt(128+8*i)) * prime32x1
		}
	}
	for i := 0; len(rest) >= stripe; i, rest = i+1, rest[stripe:] {
		accumulate(&lanes, rest, 8*i)
	}
	if n%stripe != 0 {
		accumulate(&lanes, key[n-stripe:], len(secret)-stripe-7)
	}
	for i := 0; i < 4; i++ {
		sum += fold(lanes[2*i]^secretAt(11+16*i), lanes[2*i+1]^secretAt(19+16*i))
	}
	return avalanche(sum)
}

func accumulate(lanes *[8]uint64, key []byte, offset int) {
	in := (*[stripe]byte)(key)
	mask := (*[stripe]byte)(secret[offset:])
	for i := range lanes {
		value := binary.LittleEndian.Uint64(in[8*i:])
		keyed := value ^ binary.LittleEndian.Uint64(mask[8*i:])
		lanes[i] += value + keyed&0xFFFFFFFF*(keyed>>32)
	}
}

func mix16(key []byte, offset int) uint64 {
	in := (*[16]byte)(key)
	return fold(
		binary.LittleEndian.Uint64(in[:])^secretAt(offset),
		binary.LittleEndian.Uint64(in[8:])^secretAt(offset+8),
	)
}

func secretAt(offset int) uint64 { return binary.LittleEndian.Uint64(secret[offset:]) }

// fold is both halves of a product, one on the other.
func fold(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}

func avalanche(h uint64) uint64 {
	h = (h ^ h>>37) * prime64x3
	return h ^ h>>32
}
