package bloomline

// Inserts into plain filters by several goroutines, without atomics: the number of a key's line grows
// with its hash, so each goroutine has a range of lines of its own, and the hashes between two bounds.

import (
	"math/bits"
	"runtime"
	"sync"
)

// leastEach is how many hashes there are for each goroutine, at least: fewer are inserted sooner
// than another has started.
const leastEach = 1 << 15

// AddHashesParallel is [Filter.AddHashes] on up to so many goroutines; 0: on as many as
// [runtime.GOMAXPROCS] says. The filter becomes the same, bytes included.
//
// It takes fewer goroutines if there are few hashes, another for each 32,768, and one for a classic
// filter. Several do the work without C, also with the build tag bloomline_cgo. No other call
// may use the filter meanwhile.
func (f *Filter) AddHashesParallel(hashes []uint64, goroutines int) {
	f.count(len(hashes))
	parts := f.view.parts(len(hashes), goroutines)
	if parts <= 1 {
		f.view.insertAll(hashes)
		return
	}
	inParallel(parts, func(part int) {
		f.view.ownHashes(hashes, part, parts, func(own []uint64, _ []int32) { f.view.insertInGo(own) })
	})
}

// AddHashesIfAbsentParallel is [Filter.AddHashesIfAbsent] on up to so many goroutines, as
// [Filter.AddHashesParallel] takes them. Filter and answers become the same, for any number.
func (f *Filter) AddHashesIfAbsentParallel(hashes []uint64, out Bitmap, goroutines int) Bitmap {
	out = out.sized(len(hashes))
	f.count(0)
	for at := 0; at < len(hashes); at += atOnce {
		f.addAbsentParallel(hashes[at:min(at+atOnce, len(hashes))], out[at/64:], goroutines)
	}
	return out
}

// AddBatchIfAbsentParallel is [Filter.AddBatchIfAbsent] on up to so many goroutines, which hash the
// keys too: see [Filter.AddHashesIfAbsentParallel].
func (f *Filter) AddBatchIfAbsentParallel(keys [][]byte, out Bitmap, goroutines int) Bitmap {
	return addKeysIfAbsentParallel(f, keys, out, goroutines)
}

// AddStringsIfAbsentParallel is [Filter.AddBatchIfAbsentParallel] for strings.
func (f *Filter) AddStringsIfAbsentParallel(keys []string, out Bitmap, goroutines int) Bitmap {
	return addKeysIfAbsentParallel(f, keys, out, goroutines)
}

// atOnce is how many hashes are in memory at a time: see [Filter.addAbsentParallel]. A multiple of
// 64, so that a bitmap's words are not divided.
const atOnce = 1 << 20

// addsInParallel is a filter to which several goroutines add.
type addsInParallel interface {
	seed() uint64
	parts(keys, goroutines int) int // panics if nothing can be added
	addAbsent(hashes []uint64, out []uint64)
	addAbsentParallel(hashes []uint64, out []uint64, goroutines int)
}

func addKeysIfAbsentParallel[K bytesOrString](f addsInParallel, keys []K, out Bitmap, goroutines int) Bitmap {
	parts := f.parts(len(keys), goroutines)
	seed := f.seed()
	if parts <= 1 {
		return bitOfEach(seed, keys, out, f.addAbsent)
	}
	out = out.sized(len(keys))
	hashes := make([]uint64, min(len(keys), atOnce))
	for at := 0; at < len(keys); at += atOnce {
		keys := keys[at:min(at+atOnce, len(keys))]
		hashes = hashes[:len(keys)]
		inParallel(parts, func(part int) {
			for i := part * len(keys) / parts; i < (part+1)*len(keys)/parts; i++ {
				hashes[i] = Hash(bytesOfKey(keys[i]), seed)
			}
		})
		f.addAbsentParallel(hashes, out[at/64:], goroutines)
	}
	return out
}

// addAbsentParallel is addAbsent by several goroutines, if that pays. out is zero. Each goroutine has
// a bitmap of its own, so that no two write a word; a hash is new to one of them at most.
func (f *Filter) addAbsentParallel(hashes []uint64, out []uint64, goroutines int) {
	parts := f.view.parts(len(hashes), goroutines)
	if parts <= 1 {
		f.addAbsent(hashes, out)
		return
	}
	isNew := make([]Bitmap, parts)
	inParallel(parts, func(part int) {
		here := make(Bitmap, (len(hashes)+63)/64)
		f.view.ownHashes(hashes, part, parts, func(own []uint64, numbers []int32) {
			for i, hash := range own {
				if i%touched == 0 {
					f.view.touch(own[i:min(i+touched, len(own))])
				}
				if !f.view.lines.contains(hash) {
					f.view.insert(hash)
					here[numbers[i]/64] |= 1 << (numbers[i] % 64)
				}
			}
		})
		isNew[part] = here
	})
	for _, here := range isNew {
		for i, word := range here {
			out[i] |= word
		}
		f.count(here.Count())
	}
}

// parts is how many goroutines pay for so many keys.
func (f *Filter) parts(keys, goroutines int) int {
	f.count(0)
	return f.view.parts(keys, goroutines)
}

// parts returns how many parts of the lines to work on: as partsFor says, if keys have lines of their own.
func (l *lines) parts(hashes, goroutines int) int {
	if l.classic {
		return 1
	}
	return partsFor(hashes, goroutines)
}

// partsFor is up to so many goroutines, or as many as there are CPUs, as far as that pays for so many hashes.
func partsFor(hashes, goroutines int) int {
	if goroutines <= 0 {
		goroutines = runtime.GOMAXPROCS(0)
	}
	return min(goroutines, hashes/leastEach)
}

// inParallel calls do for each part, in a goroutine of its own, and waits for all.
func inParallel(parts int, do func(part int)) {
	var all sync.WaitGroup
	for part := range parts {
		all.Add(1)
		go func() {
			defer all.Done()
			do(part)
		}()
	}
	all.Wait()
}

// ownHashes calls do with the hashes whose lines are in one of so many parts of all, in order, some
// at a time, and with the number of each.
func (l *lines) ownHashes(hashes []uint64, part, parts int, do func(own []uint64, numbers []int32)) {
	low, high, ok := l.bounds(part, parts)
	if !ok {
		return
	}
	own, numbers, n := new([hashedAhead]uint64), new([hashedAhead]int32), 0
	for i, hash := range hashes {
		own[n], numbers[n] = hash, int32(i)
		if hash-low <= high-low { // no branch: it would be a coin toss
			n++
		}
		if n == len(own) {
			do(own[:], numbers[:])
			n = 0
		}
	}
	do(own[:n], numbers[:n])
}

// bounds returns the lowest and the highest hash whose lines are in a part. Not ok: it has none.
func (l *lines) bounds(part, parts int) (low, high uint64, ok bool) {
	count := uint64(len(l.all))
	first := firstLine(count, part, parts)
	end := firstLine(count, part+1, parts)
	if first == end {
		return 0, 0, false
	}
	high = ^uint64(0)
	if end < count {
		high = lowestHash(end, count) - 1
	}
	return lowestHash(first, count), high, true
}

// firstLine is the number of the first line of a part.
func firstLine(count uint64, part, parts int) uint64 {
	high, low := bits.Mul64(count, uint64(part))
	line, _ := bits.Div64(high, low, uint64(parts))
	return line
}

// lowestHash is the lowest hash of a line: line * 2^64 / count, rounded up.
func lowestHash(line, count uint64) uint64 {
	hash, rest := bits.Div64(line, 0, count)
	if rest != 0 {
		hash++
	}
	return hash
}
