package goleveldbfilter_test

// Filters and answers against goleveldb's own package, without a store.

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/bloomline/bloomline/go/goleveldbfilter"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/util"
)

func build(f filter.Filter, keys [][]byte) []byte {
	g := f.NewGenerator()
	for _, key := range keys {
		g.Add(key)
	}
	var buf util.Buffer
	g.Generate(&buf)
	return buf.Bytes()
}

// randomKeys are keys of random bytes, of lengths from 0 to most. Some are there again.
func randomKeys(count, most int, seed uint64) [][]byte {
	random := rand.New(rand.NewPCG(seed, 2))
	keys := make([][]byte, count)
	for i := range keys {
		if i > 0 && random.IntN(8) == 0 {
			keys[i] = keys[i-1]
			continue
		}
		keys[i] = make([]byte, random.IntN(most+1))
		for j := range keys[i] {
			keys[i][j] = byte(random.Uint32())
		}
	}
	return keys
}

func TestName(t *testing.T) {
	if got, want := goleveldbfilter.NewBloomFilter(10).Name(), filter.NewBloomFilter(10).Name(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestSameBytes(t *testing.T) {
	check := func(keys [][]byte, bitsPerKey int, what string) {
		t.Helper()
		got := build(goleveldbfilter.NewBloomFilter(bitsPerKey), keys)
		if !bytes.Equal(got, build(filter.NewBloomFilter(bitsPerKey), keys)) {
			t.Fatalf("%d keys %s, %d bits: other bytes than goleveldb's", len(keys), what, bitsPerKey)
		}
	}
	for bitsPerKey := range 61 {
		for _, count := range []int{0, 1, 2, 3, 6, 7, 20, 64, 1000, 12_345} {
			check(randomKeys(count, 30, uint64(count)), bitsPerKey, "to 30 bytes")
		}
	}
	for _, most := range []int{0, 1, 2, 3, 4, 8, 100, 5000} {
		check(randomKeys(2000, most, uint64(most)), 10, fmt.Sprintf("to %d bytes", most))
	}
	for _, kind := range keyKinds {
		for _, bitsPerKey := range []int{1, 10, 20, 30} {
			check(kind.make(100_000, 3), bitsPerKey, kind.name)
		}
	}
}

// Of filters that goleveldb writes, both say the same of every key.
func TestSameAnswers(t *testing.T) {
	for bitsPerKey := range 61 {
		for _, count := range []int{0, 1, 2, 20, 100, 5000} {
			keys := randomKeys(count, 20, 4)
			builtin, ours := filter.NewBloomFilter(bitsPerKey), goleveldbfilter.NewBloomFilter(bitsPerKey)
			bits := build(builtin, keys)
			for _, key := range keys {
				if !ours.Contains(bits, key) {
					t.Fatalf("%d keys, %d bits: %x is lost", count, bitsPerKey, key)
				}
			}
			for _, key := range randomKeys(2000, 20, 5) {
				if got, want := ours.Contains(bits, key), builtin.Contains(bits, key); got != want {
					t.Fatalf("%d keys, %d bits, key %x: %v, want %v", count, bitsPerKey, key, got, want)
				}
			}
		}
	}
}

// One generator makes all filters of a table, one behind the other, and a buffer may have
// been used before.
func TestGeneratorAgain(t *testing.T) {
	g := goleveldbfilter.NewBloomFilter(10).NewGenerator()
	var got util.Buffer
	_, _ = got.Write(bytes.Repeat([]byte{0xEE}, 1<<15))
	got.Reset()
	var want []byte
	var key []byte
	for _, count := range []int{1000, 1, 0, 20, 7} {
		keys := randomKeys(count, 20, 6)
		for i := range keys {
			// A key may change after it is added.
			key = append(key[:0], keys[i]...)
			g.Add(key)
		}
		g.Generate(&got)
		want = append(want, build(filter.NewBloomFilter(10), keys)...)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Error("other bytes than goleveldb's")
	}
}

// Any bytes for a filter: goleveldb's rules, and no panic.
func TestDamagedFilters(t *testing.T) {
	builtin, ours := filter.NewBloomFilter(10), goleveldbfilter.NewBloomFilter(10)
	good := build(builtin, randomKeys(100, 20, 7))
	probes := randomKeys(50, 20, 8)
	check := func(bits []byte) {
		t.Helper()
		for _, key := range probes {
			if got, want := ours.Contains(bits, key), builtin.Contains(bits, key); got != want {
				t.Fatalf("filter %x, key %x: %v, want %v", bits, key, got, want)
			}
		}
	}
	random := rand.New(rand.NewPCG(9, 9))
	check(nil)
	for n := range good {
		check(good[:n])
		check(good[n:])
		damaged := bytes.Clone(good)
		damaged[random.IntN(len(damaged))] = byte(random.Uint32())
		check(damaged)
	}
	for k := range 256 {
		check(append(bytes.Clone(good[:len(good)-1]), byte(k)))
	}
}
