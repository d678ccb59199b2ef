package bloomline

// Batches, as far as they are the same with and without C: keys to hashes, and the loops
// without C.

import (
	"runtime"
	"sync"

	"github.com/bloomline/bloomline/go/internal/avx2"
	"github.com/bloomline/bloomline/go/internal/prefetch"
)

const (
	// Keys are hashed so many at a time. A multiple of 64, so that a bitmap's words are not
	// divided.
	hashedAhead = 512
	// Lines that are far are touched before they are used, so many at a time, so that the
	// waits for them overlap.
	touched = 64
	// Fewer hashes than this take the shortest way: C gains nothing for them.
	few = 16
)

// backendInGo is the backend of single keys, and without C of batches.
func backendInGo() string {
	if avx2.Available {
		return "go/avx2"
	}
	return "go"
}

// bytesOrString is what a key can be.
type bytesOrString interface{ []byte | string }

// hashAhead returns the hashes of the first keys, up to hashedAhead of them, in the memory of
// ahead.
func hashAhead[K bytesOrString](seed uint64, keys []K, ahead *[hashedAhead]uint64) []uint64 {
	hashes := ahead[:min(len(keys), hashedAhead)]
	for i := range hashes {
		hashes[i] = Hash(bytesOfKey(keys[i]), seed)
	}
	return hashes
}

// viewHashAhead is hashAhead, as the view's format hashes keys.
func viewHashAhead[K bytesOrString](v *View, keys []K, ahead *[hashedAhead]uint64) []uint64 {
	if !v.isBlock() {
		return hashAhead(v.seed, keys, ahead)
	}
	hashes := ahead[:min(len(keys), hashedAhead)]
	for i := range hashes {
		hashes[i] = v.block.Hash(bytesOfKey(keys[i]))
	}
	return hashes
}

// containsKeys answers keys, a bit each.
func containsKeys[K bytesOrString](v *View, keys []K, out Bitmap) Bitmap {
	out = out.sized(len(keys))
	var ahead [hashedAhead]uint64
	for at := 0; at < len(keys); at += hashedAhead {
		v.answerAny(viewHashAhead(v, keys[at:], &ahead), out[at/64:])
	}
	runtime.KeepAlive(v.owner)
	return out
}

// hashRooms keeps memory for the hashes of a batch, for use again. Functions that are values take them, so
// they cannot be on the stack.
var hashRooms = sync.Pool{New: func() any { return new([hashedAhead]uint64) }}

// eachBatch calls do with the hashes of keys, hashedAhead at a time.
func eachBatch[K bytesOrString](seed uint64, keys []K, do func(hashes []uint64)) {
	room := hashRooms.Get().(*[hashedAhead]uint64)
	for at := 0; at < len(keys); at += hashedAhead {
		do(hashAhead(seed, keys[at:], room))
	}
	hashRooms.Put(room)
}

// bitOfEach returns a bit for each key, in the memory of out if that is enough. set takes hashedAhead hashes
// at a time, and sets their bits in words that are zero.
func bitOfEach[K bytesOrString](seed uint64, keys []K, out Bitmap, set func(hashes []uint64, out []uint64)) Bitmap {
	out = out.sized(len(keys))
	at := 0
	eachBatch(seed, keys, func(hashes []uint64) {
		set(hashes, out[at/64:])
		at += len(hashes)
	})
	return out
}

// answerInGo answers hashes without C. out is zero.
func (v *View) answerInGo(hashes []uint64, out []uint64) {
	if v.static.rowShape != nil {
		v.static.answer(v.encoded, hashes, out)
		return
	}
	for word := 0; len(hashes) > 0; word++ {
		part := hashes[:min(touched, len(hashes))]
		switch {
		case len(v.all) != 0:
			out[word] = v.lines.answerWord(part)
		case len(v.cuckoo.all) != 0:
			out[word] = v.cuckoo.answerWord(part)
		case v.column.isThere():
			out[word] = v.column.answerWord(part)
		case v.growing != nil:
			v.touchGrowing(part)
			for i, hash := range part {
				if v.growing.Contains(hash) {
					out[word] |= 1 << i
				}
			}
		default:
			for i, hash := range part {
				if v.block.Contains(hash) {
					out[word] |= 1 << i
				}
			}
		}
		hashes = hashes[len(part):]
	}
}

// answerWord answers at most 64 hashes.
func (l *lines) answerWord(hashes []uint64) (answers uint64) {
	if l.classic {
		return l.classicAnswerWord(hashes)
	}
	l.touch(hashes)
	if l.rows != nil && len(hashes) > 0 {
		return avx2.ContainsWord(l.first(), uint64(len(l.all)), l.rows, &hashes[0], uint64(len(hashes)))
	}
	for i, hash := range hashes {
		in := uint64(0)
		if l.contains(hash) {
			in = 1
		}
		answers |= in << i
	}
	return answers
}

// insertInGo inserts hashes without C.
func (l *lines) insertInGo(hashes []uint64) {
	for len(hashes) > 0 {
		part := hashes[:min(touched, len(hashes))]
		hashes = hashes[len(part):]
		l.touch(part)
		if l.rows != nil {
			avx2.InsertAll(l.first(), uint64(len(l.all)), l.rows, &part[0], uint64(len(part)))
			continue
		}
		for _, hash := range part {
			l.insert(hash)
		}
	}
}

// touch asks for the lines of at most 64 hashes if lines are far. Without AVX2 it reads a byte of
// each: loads that do not wait for each other.
func (l *lines) touch(hashes []uint64) {
	if len(l.all) < farFrom || l.classic || len(hashes) == 0 {
		return
	}
	if l.rows != nil {
		avx2.Prefetch(l.first(), uint64(len(l.all)), &hashes[0], uint64(len(hashes)))
		return
	}
	sum := byte(0)
	for _, hash := range hashes {
		sum += l.at(hash)[0]
	}
	runtime.KeepAlive(sum)
}

// prefetch asks for the line of a hash, near or far; for both of a cuckoo filter.
func (v *View) prefetch(hash uint64) {
	v.lines.prefetch(hash)
	v.cuckoo.prefetch(hash)
	v.static.prefetch(v.encoded, hash)
	v.column.prefetch(hash)
	if v.growing != nil {
		v.touchGrowing([]uint64{hash})
	}
	v.prefetchWhole(hash)
}

// touchGrowing asks for the lines of hashes in a growing filter.
func (v *View) touchGrowing(hashes []uint64) {
	if v.growing == nil {
		return
	}
	for _, hash := range hashes {
		if line := v.growing.Line(hash); line != nil {
			prefetch.Line(line)
		}
	}
}

// prefetch asks for the line of a hash, near or far.
func (l *lines) prefetch(hash uint64) {
	if len(l.all) != 0 && !l.classic {
		prefetch.Line(&l.at(hash)[0])
	}
}
