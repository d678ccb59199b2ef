package engine

// The definitions, written as plainly as they can be, one bit and one byte at a time. They
// share nothing with the code under test but the secret of XXPH3, which its goldens fix.

import (
	"math/big"
	"math/bits"
)

// plainHash32 is the 32-bit hash; signed says how the last bytes count.
func plainHash32(key []byte, signed bool) uint32 {
	h := uint32(0xBC9F1D34) ^ uint32(uint64(len(key))*0xC6A4A793)
	i := 0
	for ; i+4 <= len(key); i += 4 {
		h += uint32(key[i]) + uint32(key[i+1])*0x100 + uint32(key[i+2])*0x10000 + uint32(key[i+3])*0x1000000
		h *= 0xC6A4A793
		h ^= h / 65536
	}
	if i == len(key) {
		return h
	}
	for shift := 0; i < len(key); i, shift = i+1, shift+8 {
		value := int64(key[i])
		if signed && value > 127 {
			value -= 256
		}
		h += uint32(value << shift)
	}
	h *= 0xC6A4A793
	return h ^ h>>24
}

func plainWord(bytes []byte, count int) (word uint64) {
	for i := range count {
		word |= uint64(bytes[i]) << (8 * i)
	}
	return word
}

func plainFold(a, b uint64) uint64 {
	product := new(big.Int).Mul(new(big.Int).SetUint64(a), new(big.Int).SetUint64(b))
	high := new(big.Int).Rsh(product, 64).Uint64()
	low := new(big.Int).And(product, new(big.Int).SetUint64(1<<64-1)).Uint64()
	return high ^ low
}

func plainXXPH3(key []byte) uint64 {
	const (
		p1, p2, p3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
		p4, p5     = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
		q1, q2, q3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
	)
	n := len(key)
	s := func(at int) uint64 { return plainWord(secret[at:], 8) }
	avalanche := func(h uint64) uint64 {
		h ^= h >> 37
		h *= p3
		return h ^ h>>32
	}
	mix := func(at, offset int) uint64 {
		return plainFold(plainWord(key[at:], 8)^s(offset), plainWord(key[at+8:], 8)^s(offset+8))
	}
	switch {
	case n == 0:
		return plainFold(s(0), p2)
	case n <= 3:
		c := uint64(key[0]) | uint64(key[n/2])<<8 | uint64(key[n-1])<<16 | uint64(n)<<24
		return avalanche((c ^ plainWord(secret[:], 4)) * p1)
	case n <= 8:
		k := (plainWord(key, 4) | plainWord(key[n-4:], 4)<<32) ^ s(0)
		m := uint64(n) + (k^(k>>51))*q1
		return avalanche((m ^ (m >> 47)) * p2)
	case n <= 16:
		low, high := plainWord(key, 8)^s(0), plainWord(key[n-8:], 8)^s(8)
		return avalanche(uint64(n) + low + high + plainFold(low, high))
	case n <= 128:
		sum := uint64(n) * p1
		for i := 0; i == 0 || n > 32*i; i++ {
			sum += mix(16*i, 32*i) + mix(n-16*(i+1), 32*i+16)
		}
		return avalanche(sum)
	case n <= 240:
		sum := uint64(n) * p1
		for i := range 8 {
			sum += mix(16*i, 16*i)
		}
		sum = avalanche(sum)
		for i := 8; i < n/16; i++ {
			sum += mix(16*i, 16*(i-8)+3)
		}
		return avalanche(sum + mix(n-16, 136-17))
	}
	lanes := []uint64{q3, p1, p2, p3, p4, q2, p5, q1}
	add := func(at, offset int) {
		for i := range 8 {
			value := plainWord(key[at+8*i:], 8)
			keyed := value ^ s(offset+8*i)
			lanes[i] += value + (keyed%(1<<32))*(keyed>>32)
		}
	}
	at := 0
	for block := range n / 1024 {
		for i := range 16 {
			add(1024*block+64*i, 8*i)
		}
		for i := range 8 {
			lanes[i] ^= lanes[i] >> 47
			lanes[i] ^= s(128 + 8*i)
			lanes[i] *= q1
		}
		at += 1024
	}
	for i := 0; at+64 <= n; i, at = i+1, at+64 {
		add(at, 8*i)
	}
	if n%64 != 0 {
		add(n-64, 192-64-7)
	}
	sum := uint64(n) * p1
	for i := range 4 {
		sum += plainFold(lanes[2*i]^s(11+16*i), lanes[2*i+1]^s(19+16*i))
	}
	return avalanche(sum)
}

// plainPlaces are the numbers of a hash's bits in the block.
func plainPlaces(layout Layout, length, lineBytes uint64, k int, hash uint64) (places []uint64) {
	h := uint32(hash)
	for i := range k {
		switch layout {
		case FastLocal:
			line := uint64(h) * (length / 64) / (1 << 32)
			x := uint32(hash >> 32)
			for range i {
				x *= 0x9E3779B9
			}
			places = append(places, 512*line+uint64(x/(1<<23)))
		case Legacy:
			line := uint64(h) % (length / lineBytes)
			x := h + uint32(i)*bits.RotateLeft32(h, -17)
			places = append(places, 8*lineBytes*line+uint64(x)%(8*lineBytes))
		case LevelDB:
			x := h + uint32(i)*bits.RotateLeft32(h, -17)
			places = append(places, uint64(x)%(8*length))
		}
	}
	return places
}

func plainSet(bytes []byte, place uint64)      { bytes[place/8] |= 1 << (place % 8) }
func plainHas(bytes []byte, place uint64) bool { return bytes[place/8]&(1<<(place%8)) != 0 }

func plainHasAll(bytes []byte, places []uint64) bool {
	for _, place := range places {
		if !plainHas(bytes, place) {
			return false
		}
	}
	return true
}

// plainRocksDB is what a filter block of RocksDB says of a hash, and whether it is one that
// is understood; readers' rules in their order.
func plainRocksDB(block []byte, hash uint64) (maybe, understood bool) {
	if len(block) <= 5 {
		return false, true
	}
	n := uint64(len(block) - 5)
	lines, trailer := block[:n], block[n:]
	switch k := int(int8(trailer[0])); {
	case k == -1:
		k := int(trailer[2])
		if k == 0 || k > 30 || trailer[1] != 0 || trailer[3] != 0 || trailer[4] != 0 {
			return true, false
		}
		return n < 64 || plainHasAll(lines, plainPlaces(FastLocal, n, 64, k, hash)), true
	case k < 0:
		return true, false
	case k == 0:
		return true, true
	default:
		count := plainWord(trailer[1:], 4)
		for _, size := range []uint64{64, 128, 256} {
			if count*size == n {
				return plainHasAll(lines, plainPlaces(Legacy, n, size, k, hash)), true
			}
		}
		return true, true
	}
}

func plainLevelDB(block []byte, hash uint64) bool {
	if len(block) < 2 {
		return false
	}
	n := len(block) - 1
	if k := int(block[n]); k <= 30 {
		return plainHasAll(block[:n], plainPlaces(LevelDB, uint64(n), 0, k, hash))
	}
	return true
}
