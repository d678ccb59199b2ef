package bloomline

// Batches of keys in a static filter: what a level bumps is gathered, and is a batch of its own for the
// next.

import (
	"math/bits"
	"runtime"

	"github.com/bloomline/bloomline/go/internal/avx2"
	"github.com/bloomline/bloomline/go/internal/staticline"
)

// bumpedKeys are keys of a batch that are left for the next level: their hashes there, and which they
// are in the batch.
type bumpedKeys struct {
	hashes [hashedAhead]uint64
	places [hashedAhead]uint16
}

// answer answers hashes, a bit each. out is zero. What the first level bumps is gathered, and is a batch
// of its own for the next.
func (s *staticLines) answer(lines []byte, hashes []uint64, out []uint64) {
	if len(hashes) < few {
		for i, hash := range hashes {
			if s.contains(lines, hash) {
				out[0] |= 1 << i
			}
		}
		return
	}
	var left bumpedKeys
	for len(hashes) > 0 {
		part := hashes[:min(hashedAhead, len(hashes))]
		s.answerPart(lines, part, out, &left)
		hashes, out = hashes[len(part):], out[(len(part)+63)/64:]
	}
}

// answerPart answers as many hashes as can be left, all of them.
func (s *staticLines) answerPart(lines []byte, hashes []uint64, out []uint64, left *bumpedKeys) {
	at, n := s.first(lines), 0
	for word := 0; word*touched < len(hashes); word++ {
		part := hashes[word*touched : min((word+1)*touched, len(hashes))]
		hits, bumped := at.answerWord(part)
		out[word] = hits
		for ; bumped != 0; bumped &= bumped - 1 {
			i := bits.TrailingZeros64(bumped)
			left.hashes[n], left.places[n] = staticline.NextHash(part[i]), uint16(word*touched+i)
			n++
		}
	}
	for n > 0 {
		var ok bool
		if at, ok = at.next(); !ok {
			for _, place := range left.places[:n] { // no level rules them out
				out[place/64] |= 1 << (place % 64)
			}
			return
		}
		n = at.answerBumped(left, n, out)
	}
}

// answerBumped answers the first n that are left, and returns how many are left for the next level.
func (l *level) answerBumped(left *bumpedKeys, n int, out []uint64) (kept int) {
	for first := 0; first < n; first += touched {
		end := min(first+touched, n)
		hits, bumped := l.answerWord(left.hashes[first:end])
		for ; hits != 0; hits &= hits - 1 {
			place := left.places[first+bits.TrailingZeros64(hits)]
			out[place/64] |= 1 << (place % 64)
		}
		// They move to the front, where all have been asked.
		for ; bumped != 0; bumped &= bumped - 1 {
			i := first + bits.TrailingZeros64(bumped)
			left.hashes[kept], left.places[kept] = staticline.NextHash(left.hashes[i]), left.places[i]
			kept++
		}
	}
	return kept
}

// answerWord answers at most 64 hashes by one level: a bit for each that it may contain, and for each
// that it has bumped.
func (l *level) answerWord(hashes []uint64) (hits, bumped uint64) {
	l.touch(hashes)
	if avx2.Available {
		return avx2.Static(&l.lines[0], l.count, &l.Vectors, &hashes[0], uint64(len(hashes)))
	}
	for i, hash := range hashes {
		hit, over := l.ask(l.lines, l.count, hash)
		hits |= hit << i
		bumped |= over << i
	}
	return hits, bumped
}

// touch reads a byte of each cache line of at most 64 hashes, if they are far: see [lines.touch].
func (l *level) touch(hashes []uint64) {
	if l.count*l.LineBytes < farFrom*lineBytes {
		return
	}
	sum := byte(0)
	for _, hash := range hashes {
		index, _ := bits.Mul64(hash, l.count)
		sum += l.lines[index*l.LineBytes] + l.lines[index*l.LineBytes+l.LineBytes-1]
	}
	runtime.KeepAlive(sum)
}
