package bloomline

// The lines of a cuckoo filter. docs/format/cuckoo-classic.md of the project defines them. Changes follow the
// library's own code: the same keys in the same order give the same bytes, and the golden files
// hold this code to both.

import (
	"math/bits"
	"runtime"

	"github.com/bloomline/bloomline/go/internal/prefetch"
)

const (
	cuckooSlots = 4          // fingerprints in a bucket
	cuckooStep  = 0x9E3779B1 // spreads fingerprints over lines: 2^32 / golden ratio
	cuckooPage  = 64         // lines, 4 KiB, in which most fingerprints stay
	cuckooFar   = 8          // one of so many goes to any page
	// Two 32-bit products then find a line.
	maxCuckooLines = min(1<<32-1, maxLines)
	// How many fingerprints an insert moves before it gives up and moves them all back.
	maxKicks = 2048
	// How many moves a filter may waste on inserts that fail: see cuckooBudget.
	maxWaste = 16 * maxKicks
	// What an insert may always move, and what each key that is added gives back.
	leastKicks = 8

	// The multiplier of the sequence that says which of four slots is vacated, and its
	// inverse.
	dice     = 0x9E3779B97F4A7C15
	diceBack = 0xF1DE83E19937733D
)

// cuckooLines is all that a probe needs. Of each key a fingerprint, never 0, is in one of the 4
// slots of one of two buckets, each of which lies within a line.
type cuckooLines struct {
	all []line
	*slotSize
}

// slotSize is what follows from the bits of a fingerprint.
type slotSize struct {
	bits    uint64
	buckets uint64 // in a line: as many as fit
	mask    uint64 // all bits of the first slot
	lowest  uint64 // the lowest bit of each slot
	highest uint64
}

var slotSizes = [...]slotSize{slotsOf(8), slotsOf(12), slotsOf(16)}

func slotsOf(bits uint64) slotSize {
	lowest := uint64(1 | 1<<bits | 1<<(2*bits) | 1<<(3*bits))
	return slotSize{bits, lineBits / (cuckooSlots * bits), 1<<bits - 1, lowest, lowest << (bits - 1)}
}

// slotSizeOf is nil if fingerprints cannot have so many bits.
func slotSizeOf(bits int) *slotSize {
	for i := range slotSizes {
		if slotSizes[i].bits == uint64(bits) {
			return &slotSizes[i]
		}
	}
	return nil
}

// bucket is which line, and which bucket of that line.
type bucket struct {
	line, number uint64
}

// fingerprint is what is kept of a hash. 0 is a slot that is free.
func (c *cuckooLines) fingerprint(hash uint64) uint64 {
	return max(hash&c.mask, 1)
}

// first is the bucket where a key is looked for first.
func (c *cuckooLines) first(hash uint64) bucket {
	index, _ := bits.Mul64(hash, uint64(len(c.all)))
	return bucket{index, (hash >> 16 & 0xFFFF) * c.buckets >> 16}
}

// other is the other bucket where the fingerprint may be that is in, or belongs to, a bucket.
// It can be the same one. The other of the other is the first.
func (c *cuckooLines) other(from bucket, fingerprint uint64) bucket {
	m := uint64(uint32(fingerprint) * cuckooStep)
	start, count := c.around(from.line, fingerprint)
	return bucket{
		start + minus(m*count>>32, from.line-start, count),
		minus((m&0xFFFF)*c.buckets>>16, from.number, c.buckets),
	}
}

// around is the lines among which a fingerprint in a line has its other one, the first of them
// and how many: the page of the line, or all. The last page has those that are left over, too.
func (c *cuckooLines) around(line, fingerprint uint64) (start, count uint64) {
	all := uint64(len(c.all))
	if fingerprint%cuckooFar == 0 {
		return 0, all
	}
	last := max(all-all%cuckooPage, cuckooPage) - cuckooPage
	if start = min(line-line%cuckooPage, last); start == last {
		return last, all - last
	}
	return start, cuckooPage
}

// minus is (a - b) mod n, for a and b below n, which is below 2^63. Which of the two is
// larger is a coin toss, so it is not branched on.
func minus(a, b, n uint64) uint64 {
	less := a - b
	negative := uint64(int64(less) >> 63) // all bits, or none
	return less + n&negative
}

// at is the bytes of a bucket, and those that follow it in its line.
func (c *cuckooLines) at(b bucket) []byte {
	return c.all[b.line][b.number*c.bits/2:]
}

// read is the four slots of a bucket as one number, the first in its lowest bits. What lies
// above the fourth, with 12 bits, is no part of it.
func (c *cuckooLines) read(b bucket) uint64 {
	if c.bits == 8 {
		return uint64(le.Uint32(c.at(b)))
	}
	return le.Uint64(c.at(b))
}

// write writes what read has read, with slots changed.
func (c *cuckooLines) write(b bucket, slots uint64) {
	if c.bits == 8 {
		le.PutUint32(c.at(b), uint32(slots))
		return
	}
	le.PutUint64(c.at(b), slots)
}

// find tells which slots of a bucket have a fingerprint: the highest bit is set of the first
// that has, and it may be of others behind that one. It is 0 if none has.
func (c *cuckooLines) find(b bucket, fingerprint uint64) uint64 {
	slots := c.read(b) ^ fingerprint*c.lowest // 0 where it is
	return (slots - c.lowest) &^ slots & c.highest
}

// ---- asking ----

// contains reports whether one of a key's two buckets has its fingerprint.
func (c *cuckooLines) contains(hash uint64) bool {
	return c.found(hash) != 0
}

// found is not 0 if contains is true.
func (c *cuckooLines) found(hash uint64) uint64 {
	fingerprint, first := c.fingerprint(hash), c.first(hash)
	return c.find(first, fingerprint) | c.find(c.other(first, fingerprint), fingerprint)
}

// answerWord answers at most 64 hashes, without a branch on what is found.
func (c *cuckooLines) answerWord(hashes []uint64) (answers uint64) {
	c.touch(hashes)
	for i, hash := range hashes {
		found := c.found(hash)
		answers |= (found | -found) >> 63 << i
	}
	return answers
}

// touch reads a byte of both lines of at most 64 hashes, if they are far: see [lines.touch].
// Where they are is found first, so that nothing but loads stands between the loads.
func (c *cuckooLines) touch(hashes []uint64) {
	if len(c.all) < farFrom {
		return
	}
	var first, other [touched]uint64
	for i, hash := range hashes {
		at := c.first(hash)
		first[i], other[i] = at.line, c.other(at, c.fingerprint(hash)).line
	}
	sum := byte(0)
	for i := range hashes {
		sum += c.all[first[i]][0] + c.all[other[i]][0]
	}
	runtime.KeepAlive(sum)
}

// prefetch asks for both lines of a hash, near or far.
func (c *cuckooLines) prefetch(hash uint64) {
	if len(c.all) != 0 {
		first := c.first(hash)
		prefetch.Line(&c.all[first.line][0])
		prefetch.Line(&c.all[c.other(first, c.fingerprint(hash)).line][0])
	}
}

// ---- changing ----

// insert puts a key's fingerprint into a free slot of one of its buckets. If both are full, it
// takes the place of another one, which goes to its own other bucket, and so on, most times at
// most. If there is no room, all that had to move is back in its place. It returns how many
// moved, also if it was in vain.
func (c *cuckooLines) insert(hash uint64, most uint32) (ok bool, kicks uint32) {
	fingerprint, first := c.fingerprint(hash), c.first(hash)
	at := c.other(first, fingerprint)
	if c.put(first, fingerprint) || c.put(at, fingerprint) {
		return true, 0
	}
	// Copies of one fingerprint would take each other's place.
	if c.isFullOf(first, fingerprint) && c.isFullOf(at, fingerprint) {
		return false, 0
	}
	roll := hash
	for kicks < most {
		kicks++
		roll = roll*dice + 1
		fingerprint = c.swap(at, roll>>62, fingerprint)
		at = c.other(at, fingerprint)
		if c.put(at, fingerprint) {
			return true, kicks
		}
	}
	// The same way back: each step of it can be told from the one after.
	for range most {
		at = c.other(at, fingerprint)
		fingerprint = c.swap(at, roll>>62, fingerprint)
		roll = (roll - 1) * diceBack
	}
	return false, most
}

// isFullOf tells whether all four slots of a bucket have a fingerprint.
func (c *cuckooLines) isFullOf(b bucket, fingerprint uint64) bool {
	return (c.read(b)^fingerprint*c.lowest)&(c.mask*c.lowest) == 0
}

// cuckooBudget bounds what inserts that fail cost a filter that is full. A filter may waste maxWaste
// moves on them; each key added since one failed gives leastKicks back, each key removed maxKicks.
// An insert moves no more than is left, from leastKicks to maxKicks. It is no part of the bytes.
type cuckooBudget struct {
	wasted uint64 // after the last insert that failed
	keys   uint64 // of the filter at that time
}

// kicks is how many fingerprints an insert may move in a filter of so many keys.
func (b *cuckooBudget) kicks(keys uint64) uint32 {
	return uint32(min(max(maxWaste-b.wastedNow(keys), leastKicks), maxKicks))
}

// waste notes an insert that failed and moved so many, in a filter of so many keys.
func (b *cuckooBudget) waste(kicks uint32, keys uint64) {
	b.wasted, b.keys = min(b.wastedNow(keys)+uint64(kicks), maxWaste), keys
}

func (b *cuckooBudget) wastedNow(keys uint64) uint64 {
	// More than maxWaste of either gives back all.
	back := min(keys-b.keys, maxWaste) * leastKicks
	if keys < b.keys {
		back = min(b.keys-keys, maxWaste) * maxKicks
	}
	return b.wasted - min(b.wasted, back)
}

// remove frees one slot that has the key's fingerprint, if there is one.
func (c *cuckooLines) remove(hash uint64) (ok bool) {
	fingerprint, first := c.fingerprint(hash), c.first(hash)
	return c.replace(first, fingerprint, 0) || c.replace(c.other(first, fingerprint), fingerprint, 0)
}

// put puts a fingerprint into a free slot of a bucket, if there is one.
func (c *cuckooLines) put(b bucket, fingerprint uint64) (ok bool) {
	return c.replace(b, 0, fingerprint)
}

// replace puts a fingerprint into the first slot of a bucket that has another one.
func (c *cuckooLines) replace(b bucket, old, by uint64) (ok bool) {
	found := c.find(b, old)
	if found == 0 {
		return false
	}
	c.swap(b, uint64(bits.TrailingZeros64(found))/c.bits, by)
	return true
}

// swap puts a fingerprint into a slot and returns what was there.
func (c *cuckooLines) swap(b bucket, slot, fingerprint uint64) (old uint64) {
	slots, shift := c.read(b), slot*c.bits
	old = slots >> shift & c.mask
	c.write(b, slots^(old^fingerprint)<<shift)
	return old
}

// taken is how many slots are not free.
func (c *cuckooLines) taken() (count uint64) {
	for line := range c.all {
		for number := range c.buckets {
			slots := c.read(bucket{uint64(line), number})
			for range cuckooSlots {
				if slots&c.mask != 0 {
					count++
				}
				slots >>= c.bits
			}
		}
	}
	return count
}
