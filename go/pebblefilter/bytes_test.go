package pebblefilter_test

// Filters and answers against Pebble's own package, without a store.

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/bloomline/bloomline/go/pebblefilter"
	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
)

func build(policy pebble.FilterPolicy, keys [][]byte, buf []byte) []byte {
	w := policy.NewWriter(pebble.TableFilter)
	for _, key := range keys {
		w.AddKey(key)
	}
	return w.Finish(buf)
}

// randomKeys are keys of random bytes, of lengths from 0 to most. One in eight is there
// again, one to three times, as several versions of a key would be.
func randomKeys(count, most int, seed uint64) [][]byte {
	random := rand.New(rand.NewPCG(seed, 2))
	var keys [][]byte
	for len(keys) < count {
		key := make([]byte, random.IntN(most+1))
		for i := range key {
			key[i] = byte(random.Uint32())
		}
		keys = append(keys, key)
		for again := random.IntN(32); again < 4 && len(keys) < count; again++ {
			keys = append(keys, key)
		}
	}
	return keys
}

func TestName(t *testing.T) {
	if got, want := pebblefilter.FilterPolicy(10).Name(), bloom.FilterPolicy(10).Name(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestSameBytes(t *testing.T) {
	check := func(keys [][]byte, bitsPerKey int, what string) {
		t.Helper()
		got := build(pebblefilter.FilterPolicy(bitsPerKey), keys, nil)
		if !bytes.Equal(got, build(bloom.FilterPolicy(bitsPerKey), keys, nil)) {
			t.Fatalf("%d keys %s, %d bits: other bytes than Pebble's", len(keys), what, bitsPerKey)
		}
	}
	for bitsPerKey := range 61 {
		for _, count := range []int{0, 1, 2, 3, 51, 52, 1000, 4095, 4096, 4097, 12_345} {
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

// Of filters that Pebble writes, both say the same of every key.
func TestSameAnswers(t *testing.T) {
	for bitsPerKey := range 61 {
		for _, count := range []int{0, 1, 2, 100, 5000} {
			keys := randomKeys(count, 20, 4)
			builtin, ours := bloom.FilterPolicy(bitsPerKey), pebblefilter.FilterPolicy(bitsPerKey)
			filter := build(builtin, keys, nil)
			for _, key := range keys {
				if !ours.MayContain(pebble.TableFilter, filter, key) {
					t.Fatalf("%d keys, %d bits: %x is lost", count, bitsPerKey, key)
				}
			}
			for _, key := range randomKeys(2000, 20, 5) {
				want := builtin.MayContain(pebble.TableFilter, filter, key)
				if got := ours.MayContain(pebble.TableFilter, filter, key); got != want {
					t.Fatalf("%d keys, %d bits, key %x: %v, want %v", count, bitsPerKey, key, got, want)
				}
			}
		}
	}
}

// A writer serves for several tables, and for a buffer with something in it.
func TestWriterAgain(t *testing.T) {
	w := pebblefilter.FilterPolicy(10).NewWriter(pebble.TableFilter)
	var buf []byte
	for _, count := range []int{10_000, 0, 1, 1, 5000, 0} {
		// The first key is the last of the table before, which must not make it a repetition.
		keys := randomKeys(count, 20, 6)
		if count > 0 {
			keys[0] = keys[count-1]
		}
		for _, key := range keys {
			// A key may change after it is added.
			buf = append(buf[:0], key...)
			w.AddKey(buf)
		}
		got := w.Finish([]byte("front"))
		if want := build(bloom.FilterPolicy(10), keys, []byte("front")); !bytes.Equal(got, want) {
			t.Fatalf("%d keys: other bytes than Pebble's", count)
		}
	}
}

func TestWritersAtOnce(t *testing.T) {
	var group sync.WaitGroup
	for i := range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			for round := range 5 {
				keys := randomKeys(6000, 20, uint64(100*i+round))
				got := build(pebblefilter.FilterPolicy(10), keys, nil)
				if !bytes.Equal(got, build(bloom.FilterPolicy(10), keys, nil)) {
					t.Errorf("writer %d: other bytes than Pebble's", i)
				}
			}
		}()
	}
	group.Wait()
}

// No filter makes a reader panic; and where the bits do not count, the answer is "maybe".
func TestDamagedFilters(t *testing.T) {
	policy := pebblefilter.FilterPolicy(10)
	good := build(policy, randomKeys(200, 20, 7), nil)
	probes := randomKeys(50, 20, 8)
	answers := func(filter []byte) (yes int) {
		for _, key := range probes {
			if policy.MayContain(pebble.TableFilter, filter, key) {
				yes++
			}
		}
		return yes
	}
	trailer := func(lines uint32, bytes ...byte) []byte {
		return append(make([]byte, lines*64), bytes...)
	}
	for _, test := range []struct {
		name   string
		filter []byte
		want   int
	}{
		{"empty", nil, 0},
		{"of no keys", make([]byte, 5), 0},
		{"a part of the trailer", []byte{6, 1}, 0},
		{"no lines", trailer(1, 6, 0, 0, 0, 0), len(probes)}, // Pebble divides by zero
		{"more lines than bytes", trailer(1, 6, 100, 0, 0, 0), len(probes)},
		{"fewer lines than bytes", trailer(3, 6, 2, 0, 0, 0), len(probes)},
		{"no probes", trailer(1, 0, 1, 0, 0, 0), len(probes)},
		{"lines of 64 bytes", trailer(3, 6, 3, 0, 0, 0), 0},
		{"lines of 128 bytes", trailer(6, 6, 3, 0, 0, 0), 0},
		{"lines of 256 bytes", trailer(12, 6, 3, 0, 0, 0), 0},
		{"RocksDB's of format version 5", trailer(3, 0xFF, 0, 6, 0, 0), 0},
		{"RocksDB's Ribbon", trailer(3, 0xFE, 7, 2, 0, 0), len(probes)},
		{"cut in front", good[1:], len(probes)},
		{"cut behind", good[:len(good)-64-5], len(probes)},
	} {
		if got := answers(test.filter); got != test.want {
			t.Errorf("%s: true for %d keys of %d, want %d", test.name, got, len(probes), test.want)
		}
	}
	random := rand.New(rand.NewPCG(9, 9))
	for n := range good {
		answers(good[:n])
		damaged := bytes.Clone(good)
		damaged[random.IntN(len(damaged))] = byte(random.Uint32())
		damaged[len(damaged)-1-random.IntN(5)] ^= byte(random.Uint32())
		answers(damaged)
	}
}

// RocksDB stores filters of format version 5 under the same name.
func TestRocksDBFilter(t *testing.T) {
	// Of "hello" and "world".
	filter, err := hex.DecodeString("0000000100410000000000000200000200020000800000000000000000000000" +
		"0000000000000000020800000000400000000000000040000000080000000000ff00060000")
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]bool{"hello": true, "world": true, "x": false, "foo": false} {
		if got := pebblefilter.FilterPolicy(10).MayContain(pebble.TableFilter, filter, []byte(key)); got != want {
			t.Errorf("%s: %v", key, got)
		}
	}
}

func TestOtherFilterTypes(t *testing.T) {
	policy := pebblefilter.FilterPolicy(10)
	if !policy.MayContain(pebble.TableFilter+1, nil, nil) {
		t.Error("of a filter that is not a table's nothing is known")
	}
	defer func() {
		if recover() == nil {
			t.Error("no filter of another type can be written")
		}
	}()
	policy.NewWriter(pebble.TableFilter + 1)
}
