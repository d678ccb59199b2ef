package pebblefilter

// Building: hashes are kept until the number of keys is known, which decides the size.

import (
	"sync"

	"github.com/bloomline/bloomline/go/filterblock"
)

// none is no hash.
const none = 1 << 32

// chunk holds hashes. Chunks go from table to table, so that a filter makes no garbage.
type chunk [4096]uint32

var chunks = sync.Pool{New: func() any { return new(chunk) }}

type writer struct {
	bitsPerKey int
	last       uint64 // hash of the key before, or none
	count      int    // of hashes in the chunk
	chunk      *chunk // nil before the first key
	full       []*chunk
}

// AddKey adds a key, which may change afterwards.
func (w *writer) AddKey(key []byte) {
	hash := filterblock.PebbleHash(key)
	if uint64(hash) == w.last {
		// The same key again, as a rule: of several versions, or prefixes. The size of the
		// filter depends on it.
		return
	}
	w.last = uint64(hash)
	if w.chunk == nil || w.count == len(w.chunk) {
		w.next()
	}
	w.chunk[w.count] = hash
	w.count++
}

func (w *writer) next() {
	if w.chunk != nil {
		w.full = append(w.full, w.chunk)
	}
	w.chunk = chunks.Get().(*chunk)
	w.count = 0
}

// Finish appends the filter to buf. The writer can then be used for another table.
func (w *writer) Finish(buf []byte) []byte {
	if w.chunk == nil {
		// No keys. Pebble's own code leaves the trailer empty.
		return append(buf, 0, 0, 0, 0, 0)
	}
	keys := len(w.full)*len(w.chunk) + w.count
	buf, filter := filterblock.StartPebble(buf, keys, float64(w.bitsPerKey))
	for i, chunk := range w.full {
		filterblock.AddPebble(filter, chunk[:])
		chunks.Put(chunk)
		w.full[i] = nil
	}
	filterblock.AddPebble(filter, w.chunk[:w.count])
	chunks.Put(w.chunk)
	*w = writer{bitsPerKey: w.bitsPerKey, last: none, full: w.full[:0]}
	return buf
}
