package bloomline

// Inserts by several goroutines, without atomics: the number of a key's line grows with its hash,
// so each goroutine has a range of lines of its own, and the hashes between two bounds.

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
	if goroutines <= 0 {
		goroutines = runtime.GOMAXPROCS(0)
	}
	parts := min(goroutines, len(hashes)/leastEach)
	if parts <= 1 || f.view.classic {
		f.view.insertAll(hashes)
		return
	}
	var all sync.WaitGroup
	for part := range parts {
		all.Add(1)
		go func() {
			defer all.Done()
			f.view.insertPart(hashes, part, parts)
		}()
	}
	all.Wait()
}

// insertPart inserts the hashes whose lines are in one of so many parts of all.
func (l *lines) insertPart(hashes []uint64, part, parts int) {
	low, high, ok := l.bounds(part, parts)
	if !ok {
		return
	}
	own, n := new([hashedAhead]uint64), 0
	for _, hash := range hashes {
		own[n] = hash
		if hash-low <= high-low { // no branch: it would be a coin toss
			n++
		}
		if n == len(own) {
			l.insertInGo(own[:])
			n = 0
		}
	}
	l.insertInGo(own[:n])
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
