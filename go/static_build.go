package bloomline

// Builds static filters, level after level, on any number of goroutines: sorted hashes are sorted by
// line, so each makes some of the lines of a level.

import (
	"math"
	"math/bits"
	"slices"
	"sort"
	"sync"

	"github.com/bloomline/bloomline/go/internal/order"
	"github.com/bloomline/bloomline/go/internal/staticline"
)

const (
	// The largest share of a next level. Only hashes that are not uniform need more: all but a few of
	// their keys may then be present.
	mostShare = 64
	// Levels after the third, at most.
	mostTail = 5
	// The third level has so many keys to a line as a part of those of the others: so it bumps few.
	thirdLoad = 0.86
	// What a reader accepts.
	maxTail = 15
)

// levelBuilder makes the levels of a filter.
type levelBuilder struct {
	*rowShape
	goroutines int
	hashes     []uint64 // of the keys that are left, in ascending order
	spare      []uint64 // memory that is free
	lines      [][]byte // of each level
}

func newLevelBuilder(shape *rowShape, hashes []uint64, goroutines int) (*levelBuilder, error) {
	goroutines = min(goroutines, len(hashes)/leastEach+1)
	sorted, err := newSlice[uint64](len(hashes))
	if err != nil {
		return nil, err
	}
	order.Hashes(hashes, sorted, goroutines)
	return &levelBuilder{rowShape: shape, goroutines: goroutines, hashes: sorted}, nil
}

// build makes all levels, the first of count lines, and returns how many lines the others have. The same
// hashes make the same lines, in any order, on any number of goroutines.
func (b *levelBuilder) build(count uint64) (sizes levelSizes, err error) {
	for {
		if err := b.level(count); err != nil {
			return sizes, err
		}
		share := b.nextShare(&sizes, count)
		if share == 0 {
			return sizes, nil
		}
		count = shareOf(count, share)
	}
}

// nextShare adds a level to those there are, the last of which has count lines. It returns its share; 0
// if no keys are left, or no level can be added.
func (b *levelBuilder) nextShare(sizes *levelSizes, count uint64) uint64 {
	keys := len(b.hashes)
	if keys == 0 {
		return 0
	}
	// The smallest share for so many lines.
	share := func(keysPerLine float64) uint8 {
		lines := uint64(math.Ceil(float64(keys) / keysPerLine))
		return uint8(min(256*(lines-1)/count+1, mostShare))
	}
	switch {
	case sizes.second == 0:
		sizes.second = share(b.keysPerLine())
		return uint64(sizes.second)
	case sizes.third == 0:
		sizes.third = share(b.keysPerLine() * thirdLoad)
		return uint64(sizes.third)
	case sizes.tail == mostTail:
		return 0
	}
	sizes.tail++
	return 16
}

// level makes a level of count lines. What it bumps are the hashes for the next.
func (b *levelBuilder) level(count uint64) error {
	all, err := newLines(count * (b.LineBytes / lineBytes))
	if err != nil {
		return err
	}
	lines := bytesOf(all)
	b.lines = append(b.lines, lines)
	parts := int(min(uint64(max(b.goroutines, 1)), count))
	bumped := make([][]uint64, parts)
	rest := b.hashes
	var done sync.WaitGroup
	for part := range parts {
		first, end := firstLine(count, part, parts), firstLine(count, part+1, parts)
		own := sort.Search(len(rest), func(i int) bool {
			line, _ := bits.Mul64(rest[i], count)
			return line >= end
		})
		hashes := rest[:own]
		rest = rest[own:]
		done.Add(1)
		do := func() {
			defer done.Done()
			bumped[part] = b.part(hashes, count, first, lines[first*b.LineBytes:end*b.LineBytes])
		}
		if part+1 == parts {
			do()
		} else {
			go do()
		}
	}
	done.Wait()
	left := b.hashes[:0]
	for _, hashes := range bumped {
		left = append(left, hashes...) // to where they are, or before it
	}
	b.sort(left)
	return nil
}

// part makes the lines of sorted hashes, from line number first on. It returns the next hashes of those
// that it bumps, in the memory of the hashes; equal hashes are one key.
func (b *levelBuilder) part(hashes []uint64, count, first uint64, lines []byte) (bumped []uint64) {
	s, n := staticline.System{Rows: &b.rowShape.Rows}, 0
	bumped = hashes[:0]
	for line := first; len(lines) > 0; line++ {
		end := n
		for end < len(hashes) {
			if of, _ := bits.Mul64(hashes[end], count); of != line {
				break
			}
			end++
		}
		n += s.Solve(hashes[n:end], count, lines[:b.LineBytes])
		for ; n < end; n++ {
			// Behind what is done already, so nothing is lost.
			if next := staticline.NextHash(hashes[n]); len(bumped) == 0 || next != bumped[len(bumped)-1] {
				bumped = append(bumped, next)
			}
		}
		lines = lines[b.LineBytes:]
	}
	return bumped
}

// sort sorts what is left, at the start of all memory, into what is free, if that is enough.
func (b *levelBuilder) sort(left []uint64) {
	room := b.hashes[len(left):]
	if len(room) < len(left) {
		room = b.spare
	}
	if len(room) < len(left) {
		slices.Sort(left)
		b.hashes, b.spare = left, nil
		return
	}
	room = room[:len(left):len(left)]
	order.Hashes(left, room, min(b.goroutines, len(left)/leastEach+1))
	b.hashes, b.spare = room, left
}

// encode is the filter of the levels made: their lines and the footer, in one piece.
func (b *levelBuilder) encode(shape footer) ([]byte, error) {
	size := uint64(footerBytes)
	for _, lines := range b.lines {
		size += uint64(len(lines))
	}
	all, err := newLines(size / lineBytes)
	if err != nil {
		return nil, err
	}
	encoded := bytesOf(all)[:0]
	for _, lines := range b.lines {
		encoded = append(encoded, lines...)
	}
	shape.LinesChecksum = checksum(encoded)
	return append(encoded, shape.bytes()...), nil
}
