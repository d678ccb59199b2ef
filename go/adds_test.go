package bloomline

// Adds of all kinds: one by one, in batches and only if absent.

import (
	"encoding/binary"
	"fmt"
	"testing"
)

// ifAbsent is what all kinds have but one, whose adds can fail.
type ifAbsent interface {
	AddIfAbsent([]byte) bool
	AddStringIfAbsent(string) bool
	AddUint64IfAbsent(uint64) bool
	AddHashIfAbsent(uint64) bool
}

type ifAbsentBatches interface {
	AddBatchIfAbsent([][]byte, Bitmap) Bitmap
	AddStringsIfAbsent([]string, Bitmap) Bitmap
	AddHashesIfAbsent([]uint64, Bitmap) Bitmap
}

type adder interface {
	Add([]byte)
	AddString(string)
	AddUint64(uint64)
	AddHash(uint64)
	AddBatch([][]byte)
	AddStrings([]string)
	AddHashes([]uint64)
}

// cuckooAdds adds to a cuckoo filter in which there is room.
type cuckooAdds struct{ *CuckooFilter }

func (c cuckooAdds) AddIfAbsent(key []byte) bool { return added(c.CuckooFilter.AddIfAbsent(key)) }
func (c cuckooAdds) AddStringIfAbsent(key string) bool {
	return added(c.CuckooFilter.AddStringIfAbsent(key))
}
func (c cuckooAdds) AddUint64IfAbsent(key uint64) bool {
	return added(c.CuckooFilter.AddUint64IfAbsent(key))
}
func (c cuckooAdds) AddHashIfAbsent(hash uint64) bool {
	return added(c.CuckooFilter.AddHashIfAbsent(hash))
}
func (c cuckooAdds) Add(key []byte)             { must(c.CuckooFilter.Add(key)) }
func (c cuckooAdds) AddString(key string)       { must(c.CuckooFilter.AddString(key)) }
func (c cuckooAdds) AddUint64(key uint64)       { must(c.CuckooFilter.AddUint64(key)) }
func (c cuckooAdds) AddHash(hash uint64)        { must(c.CuckooFilter.AddHash(hash)) }
func (c cuckooAdds) AddBatch(keys [][]byte)     { added(c.CuckooFilter.AddBatch(keys)) }
func (c cuckooAdds) AddStrings(keys []string)   { added(c.CuckooFilter.AddStrings(keys)) }
func (c cuckooAdds) AddHashes(hashes []uint64)  { added(c.CuckooFilter.AddHashes(hashes)) }
func added[T any](result T, err error) (same T) { must(err); return result }

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func addsOf(filter any) any {
	if cuckoo, ok := filter.(*CuckooFilter); ok {
		return cuckooAdds{cuckoo}
	}
	return filter
}

// A key is the same key whichever way it goes in, and each way in has the same way out.
func TestWaysIn(t *testing.T) {
	for name, filter := range kindsOf(t) {
		in, out := addsOf(filter).(adder), filter.(Prober)
		bytesOf := func(i uint64) []byte { return binary.LittleEndian.AppendUint64(nil, i) }
		for way, add := range []func(i uint64){
			func(i uint64) { in.Add(bytesOf(i)) },
			func(i uint64) { in.AddString(string(bytesOf(i))) },
			in.AddUint64,
			func(i uint64) { in.AddHash(HashUint64(i, 9)) },
			func(i uint64) { in.AddBatch([][]byte{bytesOf(i)}) },
			func(i uint64) { in.AddStrings([]string{string(bytesOf(i))}) },
			func(i uint64) { in.AddHashes([]uint64{out.Hash(bytesOf(i))}) },
		} {
			key := 1<<63 + uint64(way)
			if out.ContainsUint64(key) {
				t.Fatalf("%s, way %d: is there before", name, way)
			}
			add(key)
			if !out.ContainsUint64(key) || !out.Contains(bytesOf(key)) || !out.ContainsString(string(bytesOf(key))) ||
				!out.ContainsHash(HashUint64(key, 9)) || !out.ContainsBatch([][]byte{bytesOf(key)}, nil).Has(0) ||
				!out.ContainsStrings([]string{string(bytesOf(key))}, nil).Has(0) || !out.ContainsHashes([]uint64{HashUint64(key, 9)}, nil).Has(0) {
				t.Errorf("%s, way %d: not found", name, way)
			}
		}
	}
	// Of another engine's block an integer is hashed as its bytes are.
	for name, block := range map[string][]byte{
		"RocksDB": append(make([]byte, 64), 0xFF, 0, 6, 0, 0), "LevelDB": append(make([]byte, 8), 6),
	} {
		for i := range uint64(64) {
			block[i%8] |= 1 << (i / 8) // some of the bits
			view, err := OpenRocksDB(block)
			if name == "LevelDB" {
				view, err = OpenLevelDB(block)
			}
			if err != nil || view.ContainsUint64(i) != view.Contains(binary.LittleEndian.AppendUint64(nil, i)) {
				t.Errorf("%s: %d, %v", name, i, err)
			}
		}
	}
}

// AddIfAbsent says what Contains said before, and adds; a batch says what single adds say.
func TestAddIfAbsent(t *testing.T) {
	for name, filter := range kindsOf(t) {
		single := addsOf(filter).(ifAbsent)
		batched, hasBatches := cloneOf(filter).(ifAbsentBatches)
		other, _ := cloneOf(filter).(ifAbsentBatches)
		hashed, _ := cloneOf(filter).(ifAbsentBatches)
		count := 0
		for _, n := range []int{0, 1, 63, 64, 65, 511, 513, 600} {
			keys, texts, hashes := make([][]byte, n), make([]string, n), make([]uint64, n)
			want := make([]bool, n)
			for i := range keys {
				// Each key twice, and many of the batch before.
				number := uint64(i/2 + n/3)
				keys[i] = binary.LittleEndian.AppendUint64(nil, number)
				texts[i], hashes[i] = string(keys[i]), HashUint64(number, 9)
				was := filter.(Prober).ContainsHash(hashes[i])
				switch i % 4 {
				case 0:
					want[i] = single.AddIfAbsent(keys[i])
				case 1:
					want[i] = single.AddStringIfAbsent(texts[i])
				case 2:
					want[i] = single.AddUint64IfAbsent(number)
				case 3:
					want[i] = single.AddHashIfAbsent(hashes[i])
				}
				if want[i] == was || !filter.(Prober).ContainsHash(hashes[i]) || i%2 == 1 && want[i] {
					t.Fatalf("%s, key %d of %d: new %v, was present %v", name, i, n, want[i], was)
				}
				if want[i] {
					count++
				}
			}
			if !hasBatches {
				continue
			}
			dirty := Bitmap{^uint64(0), ^uint64(0)}
			for way, got := range []Bitmap{
				batched.AddBatchIfAbsent(keys, dirty), other.AddStringsIfAbsent(texts, nil), hashed.AddHashesIfAbsent(hashes, nil),
			} {
				for i := range want {
					if got.Has(i) != want[i] {
						t.Fatalf("%s, way %d, key %d of %d: new %v", name, way, i, n, got.Has(i))
					}
				}
			}
		}
		if hasBatches && (!equal(filter, batched) || !equal(filter, other) || !equal(filter, hashed)) {
			t.Errorf("%s: batches make another filter", name)
		}
		if counted, ok := filter.(interface{ KeyCount() uint64 }); ok && counted.KeyCount() != uint64(count) {
			t.Errorf("%s: %d keys, %d were new", name, counted.KeyCount(), count)
		}
	}
	// A cuckoo filter without room says so, and has what it had.
	full, err := NewCuckooWithParams(CuckooParams{LineCount: 1, FingerprintBits: 16})
	must(err)
	for i := uint64(0); ; i++ {
		isNew, err := full.AddUint64IfAbsent(i)
		if err != nil {
			if err != ErrFull || isNew || full.KeyCount() < 16 {
				t.Error(isNew, err, full.KeyCount())
			}
			break
		}
		if again, err := full.AddUint64IfAbsent(i); again || err != nil {
			t.Error("a key is added twice")
		}
	}
}

type remover interface {
	Remove([]byte) error
	RemoveString(string) error
	RemoveHash(uint64) error
	RemoveBatch([][]byte, Bitmap) Bitmap
	RemoveStrings([]string, Bitmap) Bitmap
	RemoveHashes([]uint64, Bitmap) Bitmap
}

// Batches of keys do as one by one, at the seams of the loops, where lines are near and where they are far.
func TestBatchesNearAndFar(t *testing.T) {
	const most = 1500
	texts, keys, hashes := make([]string, most), make([][]byte, most), make([]uint64, most)
	for i := range texts {
		texts[i] = fmt.Sprint("key ", i*2/3) // some twice
		keys[i], hashes[i] = []byte(texts[i]), HashString(texts[i], 5)
	}
	for _, lines := range []uint64{60, farFrom + 3} {
		params := Params{LineCount: lines, K: 6, Seed: 5}
		for name, empty := range map[string]anyKind{
			"Filter": orPanic(NewWithParams(params)), "ConcurrentFilter": orPanic(NewConcurrentWithParams(params)),
			"Filter, classic": orPanic(newClassicWithParams(params)), "ConcurrentFilter, classic": orPanic(newClassicWithParams(params)).Share(),
			"CountingFilter": orPanic(NewCountingWithParams(params)),
			"CuckooFilter":   cuckooOf(t, lines, 12, 5), "Window": orPanic(NewWindowWithParams(3, params)),
			"ScalableFilter": mustScalable(t, int(lines)*50, 0.01, WithSeed(5)), "GrowingFilter": orPanic(NewGrowing(int(lines)*50, 0.01, WithSeed(5))),
		} {
			for _, n := range []int{0, 1, 15, 16, 63, 64, 65, 511, 512, 513, most} {
				what := fmt.Sprintf("%s, %d lines, %d keys", name, lines, n)
				one := cloneOf(empty)
				for _, text := range texts[:n/2] {
					addsOf(one).(adder).AddString(text)
				}
				ways := []anyKind{cloneOf(empty), cloneOf(empty), cloneOf(empty)}
				addsOf(ways[0]).(adder).AddStrings(texts[:n/2])
				addsOf(ways[1]).(adder).AddBatch(keys[:n/2])
				addsOf(ways[2]).(adder).AddHashes(hashes[:n/2])
				same := func(done string) {
					for way := range ways {
						if !equal(ways[way], one) {
							t.Fatalf("%s: %s in way %d: another filter", what, done, way)
						}
					}
				}
				same("added")
				probe := one.(Prober)
				answers := []Bitmap{probe.ContainsStrings(texts[:n], nil), probe.ContainsBatch(keys[:n], make(Bitmap, 30)), probe.ContainsHashes(hashes[:n], nil)}
				for i := range n {
					for way, answer := range answers {
						if in := probe.ContainsHash(hashes[i]); answer.Has(i) != in || !in && i < n/2 {
							t.Fatalf("%s: key %d in way %d: want %v", what, i, way, in)
						}
					}
				}
				if _, ok := one.(remover); !ok {
					continue
				}
				removed := []Bitmap{
					ways[0].(remover).RemoveStrings(texts[:n], nil), ways[1].(remover).RemoveBatch(keys[:n], make(Bitmap, 30)),
					ways[2].(remover).RemoveHashes(hashes[:n], nil),
				}
				for i := range n {
					want := one.(remover).RemoveString(texts[i]) == nil
					for way := range removed {
						if removed[way].Has(i) != want {
							t.Fatalf("%s: key %d is removed in way %d: want %v", what, i, way, want)
						}
					}
				}
				same("removed")
			}
		}
	}
}

func TestRemovesIntegers(t *testing.T) {
	filter, counting, growing := orPanic(NewCuckoo(10, 0.0002, WithSeed(9))), orPanic(NewCounting(10, 0.01)), orPanic(NewGrowing(10, 0.01))
	must(filter.AddUint64(5))
	if filter.RemoveUint64(5) != nil || filter.RemoveUint64(5) != ErrAbsent {
		t.Error("an integer is not removed once")
	}
	counting.AddUint64(5)
	if counting.CountUint64(5) != 1 || counting.RemoveUint64(5) != nil || counting.RemoveUint64(5) != ErrAbsent {
		t.Error("an integer is not counted")
	}
	growing.AddUint64(5)
	growing.AddUint64(5)
	if growing.CountUint64(5) != 2 || growing.RemoveUint64(5) != nil || growing.RemoveUint64(5) != nil || growing.RemoveUint64(5) != ErrAbsent {
		t.Error("an integer is not counted")
	}
}
