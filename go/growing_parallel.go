package bloomline

// Adds to growing filters by several goroutines: each has a range of prefixes of its own, and the hashes there.

import (
	"sync/atomic"

	"github.com/bloomline/bloomline/go/internal/growing"
)

// AddHashesParallel does what [GrowingFilter.AddHashes] does, on up to so many goroutines, or
// [runtime.GOMAXPROCS] of them if 'goroutines' is 0. The resulting filter is the same, bytes included.
//
// At most 16 take part, another for each 32,768 hashes, and one while the filter has few keys. If AddHashes would
// build the filter anew, one goroutine does so. Otherwise up to 1,048,576 hashes are sorted by range at a time, in 8
// bytes each; answers of the other calls take 4 more, and keys another 8. No other call may use the filter meanwhile.
func (f *GrowingFilter) AddHashesParallel(hashes []uint64, goroutines int) {
	f.mustBeMade()
	if partsFor(len(hashes), goroutines) <= 1 {
		f.AddHashes(hashes)
		return
	}
	if f.builtWith(hashes) {
		return
	}
	for at := 0; at < len(hashes); at += atOnce {
		f.addParallel(hashes[at:min(at+atOnce, len(hashes))], nil, goroutines)
	}
}

// AddHashesIfAbsentParallel is [GrowingFilter.AddHashesIfAbsent] on up to so many goroutines, as
// [GrowingFilter.AddHashesParallel] takes them. Filter and answers become the same, for any number.
func (f *GrowingFilter) AddHashesIfAbsentParallel(hashes []uint64, out Bitmap, goroutines int) Bitmap {
	f.mustBeMade()
	out = out.sized(len(hashes))
	for at := 0; at < len(hashes); at += atOnce {
		f.addAbsentParallel(hashes[at:min(at+atOnce, len(hashes))], out[at/64:], goroutines)
	}
	return out
}

// AddBatchIfAbsentParallel is [GrowingFilter.AddBatchIfAbsent] on up to so many goroutines, which hash the
// keys too: see [GrowingFilter.AddHashesParallel].
func (f *GrowingFilter) AddBatchIfAbsentParallel(keys [][]byte, out Bitmap, goroutines int) Bitmap {
	return addKeysIfAbsentParallel(f, keys, out, goroutines)
}

// AddStringsIfAbsentParallel is [GrowingFilter.AddBatchIfAbsentParallel] for strings.
func (f *GrowingFilter) AddStringsIfAbsentParallel(keys []string, out Bitmap, goroutines int) Bitmap {
	return addKeysIfAbsentParallel(f, keys, out, goroutines)
}

// parts is how many goroutines pay for so many keys.
func (f *GrowingFilter) parts(keys, goroutines int) int {
	f.mustBeMade()
	return partsFor(keys, goroutines)
}

// addAbsentParallel is addAbsent by several goroutines, if that pays. out is zero.
func (f *GrowingFilter) addAbsentParallel(hashes []uint64, out []uint64, goroutines int) {
	if f.parts(len(hashes), goroutines) <= 1 {
		f.addAbsent(hashes, out)
		return
	}
	f.addParallel(hashes, out, goroutines)
}

// addParallel adds hashes by several goroutines; with out only those that are absent, of which it sets the bits.
func (f *GrowingFilter) addParallel(hashes []uint64, out []uint64, goroutines int) {
	tree, first := f.tree(), 0
	for ; first < len(hashes) && !tree.IsParted(); first++ {
		if out == nil {
			f.add(tree, hashes[first])
		} else if f.AddHashIfAbsent(hashes[first]) {
			out[first/64] |= 1 << (first % 64)
		}
	}
	rest := hashes[first:]
	own, numbers, starts := byPart(tree, rest, out != nil)
	var next atomic.Int32
	var failed atomic.Pointer[any]
	// The last hashes of many may be too few for a second goroutine.
	inParallel(max(1, min(partsFor(len(hashes), goroutines), growing.Parts)), func(int) {
		// A program can recover from what the call panics with, and not from a panic in another goroutine.
		defer func() {
			if reason := recover(); reason != nil {
				failed.Store(&reason)
			}
		}()
		for part := next.Add(1) - 1; part < growing.Parts; part = next.Add(1) - 1 {
			from, until := starts[part], starts[part+1]
			if out == nil {
				f.insertOwn(tree, own[from:until], nil)
			} else {
				f.insertOwn(tree, own[from:until], numbers[from:until])
			}
		}
	})
	if reason := failed.Load(); reason != nil {
		// Which hashes are in is not known: the next save is of the whole filter.
		f.changes.forget()
		panic(*reason)
	}
	if out == nil {
		f.view.keyCount = saturatingAdd(f.view.keyCount, uint64(len(rest)))
		f.changes.add(rest...)
		return
	}
	for i, number := range numbers {
		if number < 0 {
			at := first + int(^number)
			out[at/64] |= 1 << (at % 64)
			f.view.keyCount = saturatingAdd(f.view.keyCount, 1)
			f.changes.add(own[i])
		}
	}
}

// byPart returns hashes by the part of the tree that they are in, in order, and where each part starts; if asked, also
// the number that each had before.
func byPart(tree *growing.Tree, hashes []uint64, numbered bool) (own []uint64, numbers []int32, starts [growing.Parts + 1]int) {
	own = make([]uint64, len(hashes))
	if numbered {
		numbers = make([]int32, len(hashes))
	}
	for _, hash := range hashes {
		starts[tree.PartOf(hash)+1]++
	}
	for part := range growing.Parts {
		starts[part+1] += starts[part]
	}
	ends := starts
	for i, hash := range hashes {
		part := tree.PartOf(hash)
		at := ends[part]
		ends[part]++
		own[at] = hash
		if numbered {
			numbers[at] = int32(i)
		}
	}
	return own, numbers, starts
}

// insertOwn inserts hashes of a part that no other goroutine has; with numbers only those that are absent, whose
// numbers it turns over.
func (f *GrowingFilter) insertOwn(tree *growing.Tree, hashes []uint64, numbers []int32) {
	for i, hash := range hashes {
		if i%touched == 0 {
			f.view.touchGrowing(hashes[i:min(i+touched, len(hashes))])
		}
		if numbers == nil {
			tree.Insert(hash)
		} else if !tree.Contains(hash) {
			tree.Insert(hash)
			numbers[i] = ^numbers[i]
		}
	}
}
