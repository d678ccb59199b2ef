package growing

// Records of journals: a whole filter, or what changed since the record before. docs/format/growing.md of the project has
// their bytes.

import (
	"math"
	"math/bits"

	"github.com/zeebo/xxh3"

	"github.com/bloomline/bloomline/go/internal/format"
)

const (
	// HeaderBytes is how many stand before the content of a record.
	HeaderBytes = 64

	journalMagic   = "BLMJRNL\n"
	journalVersion = 1
	kindWhole      = 1
	kindChanges    = 2
	journalStep    = 8  // records begin at multiples of it
	numbersBytes   = 24 // before the lists of a record of changes
)

// Point is where a filter stands: the record that it is as.
type Point struct {
	Sequence uint64 // the writer's number
	ID       uint64 // the checksum of the record's header, which covers that of its content and the record before
	Origin   uint64 // the same of the whole filter from which it is counted
}

// Header is what stands before the content of a record.
type Header struct {
	Len             uint64 // of the content
	Sequence        uint64
	Base, Origin    uint64 // of changes; 0 of a whole filter
	ContentChecksum uint64
	Changes         bool // it is of what changed, and not of a whole filter
}

// Seal writes the header to the first bytes of a record, and returns where a filter stands with it.
func (h *Header) Seal(record []byte) Point {
	kind := uint64(kindWhole)
	if h.Changes {
		kind = kindChanges
	}
	copy(record, journalMagic)
	words := [...]uint64{journalVersion | kind<<16, h.Len, h.Sequence, h.Base, h.Origin, h.ContentChecksum}
	for i, word := range words {
		le.PutUint64(record[8+8*i:], word)
	}
	id := xxh3.Hash(record[:HeaderBytes-8])
	le.PutUint64(record[HeaderBytes-8:], id)
	return h.point(id)
}

func (h *Header) point(id uint64) Point {
	if h.Changes {
		return Point{h.Sequence, id, h.Origin}
	}
	return Point{h.Sequence, id, id}
}

// ReadHeader reads the first 64 bytes of a record, by rules 2 to 5.
func ReadHeader(record []byte) (Header, Point, error) {
	var h Header
	word := func(number int) uint64 { return le.Uint64(record[8+8*number:]) }
	id := word(6)
	switch {
	case string(record[:8]) != journalMagic:
		return h, Point{}, format.ErrNotAFilter
	case xxh3.Hash(record[:HeaderBytes-8]) != id:
		return h, Point{}, format.ErrChecksum
	case uint16(word(0)) != journalVersion:
		return h, Point{}, format.ErrVersion
	}
	h = Header{Len: word(1), Sequence: word(2), Base: word(3), Origin: word(4), ContentChecksum: word(5)}
	switch kind := word(0) >> 16; {
	case kind == kindChanges:
		h.Changes = true
	case kind != kindWhole, h.Base != 0, h.Origin != 0:
		return h, Point{}, format.ErrReserved
	}
	if h.Len%journalStep != 0 {
		return h, Point{}, format.ErrReserved
	}
	return h, h.point(id), nil
}

// Matches reports whether the content is what was written.
func (h *Header) Matches(content []byte) bool {
	return uint64(len(content)) == h.Len && xxh3.Hash(content) == h.ContentChecksum
}

// HasRecord reports whether a record begins somewhere in bytes that begin at a multiple of 8.
func HasRecord(data []byte) bool {
	for ; len(data) >= HeaderBytes; data = data[journalStep:] {
		if _, _, err := ReadHeader(data); err != format.ErrNotAFilter && err != format.ErrChecksum {
			return true
		}
	}
	return false
}

// FirstRecord takes the first record off bytes. Its content is not checked.
func FirstRecord(data []byte) (header Header, point Point, content, rest []byte, err error) {
	if len(data) < HeaderBytes {
		return header, point, nil, nil, format.ErrTruncated
	}
	header, point, err = ReadHeader(data)
	if rest = data[HeaderBytes:]; err == nil && header.Len > uint64(len(rest)) {
		err = format.ErrTruncated
	}
	if err != nil {
		return header, point, nil, nil, err
	}
	return header, point, rest[:header.Len], rest[header.Len:], nil
}

// ---- what changed ----

// Changes is what a record says that is not of a whole filter.
type Changes struct {
	KeyCount uint64 // of the filter, then
	// Longest prefixes, ascending, each as often as a key of it was added, or removed.
	Added, Removed []uint64
}

// LongestCount is how many prefixes of the longest length there are.
func (s *Shape) LongestCount() uint64 { return s.Prefixes << s.longer() }

// Longest is the longest prefix of a hash.
func (s *Shape) Longest(hash uint64) uint64 { return format.Index(hash, s.LongestCount()) }

// HashOfLongest is the first hash of such a prefix. All its hashes have the same prefixes of each length.
func (s *Shape) HashOfLongest(prefix uint64) uint64 {
	quotient, remainder := bits.Div64(prefix, 0, s.LongestCount())
	return quotient + min(remainder, 1)
}

// Cancel leaves out what was added and removed.
func (c *Changes) Cancel() {
	a, b := c.Added, c.Removed
	added, removed := a[:0], b[:0]
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] == b[0]:
			a, b = a[1:], b[1:]
		case a[0] < b[0]:
			added, a = append(added, a[0]), a[1:]
		default:
			removed, b = append(removed, b[0]), b[1:]
		}
	}
	c.Added, c.Removed = append(added, a...), append(removed, b...)
}

// lowBits are those of a gap that are written as they are, in a list of so many of all prefixes.
func lowBits(all uint64, count int) uint {
	return uint(bits.Len64(max(all/max(uint64(count), 1), 1))) - 1
}

// EncodedLen is how many bytes Append writes at most.
func (c *Changes) EncodedLen(all uint64) int {
	size := 0
	for _, list := range [][]uint64{c.Added, c.Removed} {
		// Beside the low bits less than three: the ones, and below two zeros.
		size += len(list) * int(lowBits(all, len(list))+3) / 8
	}
	return numbersBytes + size + 4*journalStep
}

// Append appends the content of a record, where there are so many prefixes of the longest length.
func (c *Changes) Append(data []byte, all uint64) []byte {
	for _, number := range []uint64{c.KeyCount, uint64(len(c.Added)), uint64(len(c.Removed))} {
		data = le.AppendUint64(data, number)
	}
	word, used := uint64(0), uint(0)
	put := func(value uint64, count uint) {
		word |= value << used
		if used+count < 64 {
			used += count
			return
		}
		data = le.AppendUint64(data, word)
		word = value >> (64 - used)
		used += count - 64
	}
	for _, list := range [][]uint64{c.Added, c.Removed} {
		r, last := lowBits(all, len(list)), uint64(0)
		for _, prefix := range list {
			gap := prefix - last
			last = prefix
			for zeros := gap >> r; zeros > 0; {
				part := min(zeros, 32)
				put(0, uint(part))
				zeros -= part
			}
			put(1, 1)
			put(gap&(1<<r-1), r)
		}
	}
	if used > 0 {
		data = le.AppendUint64(data, word)
	}
	return data
}

// ReadChanges reads what Append wrote. newList makes a list, or says why it cannot be.
func ReadChanges(content []byte, all uint64, newList func(count int) ([]uint64, error)) (*Changes, error) {
	if len(content) < numbersBytes {
		return nil, format.ErrTruncated
	}
	from := bitReader{content[numbersBytes:], 0}
	var lists [2][]uint64
	for i := range lists {
		count := le.Uint64(content[8+8*i:])
		// Each takes a bit at least.
		if count > from.left() {
			return nil, format.ErrReserved
		}
		if count > math.MaxInt {
			// Of 32 bits, which cannot address as many.
			return nil, format.ErrOutOfMemory
		}
		list, err := newList(int(count))
		if err != nil {
			return nil, err
		}
		r, last := lowBits(all, len(list)), uint64(0)
		for j := range list {
			high, ok := from.zeros()
			low, whole := from.take(r)
			gap := high<<r | low
			// Those left are below all, and no high part is so great that it loses bits.
			if !ok || !whole || high > all>>r || gap >= all-last {
				return nil, format.ErrReserved
			}
			last += gap
			list[j] = last
		}
		lists[i] = list
	}
	behind := from.left()
	if _, more := from.zeros(); more || behind >= 8*journalStep {
		return nil, format.ErrReserved
	}
	return &Changes{le.Uint64(content), lists[0], lists[1]}, nil
}

// bitReader reads bits, the lowest of a byte first.
type bitReader struct {
	bytes []byte
	at    uint64 // the number of the next
}

func (r *bitReader) left() uint64 {
	all := uint64(len(r.bytes)) * 8
	return all - min(r.at, all)
}

// ahead is the bits from the next one on, at least 57 of them. Behind the end they are 0.
func (r *bitReader) ahead() uint64 {
	from := r.bytes[min(r.at/8, uint64(len(r.bytes))):]
	if len(from) >= 8 {
		return le.Uint64(from) >> (r.at % 8)
	}
	var word [8]byte
	copy(word[:], from)
	return le.Uint64(word[:]) >> (r.at % 8)
}

// zeros reads zeros up to a 1, and that. It reports false if there is no 1.
func (r *bitReader) zeros() (uint64, bool) {
	for from := r.at; r.left() > 0; r.at += 57 {
		if ahead := r.ahead(); ahead != 0 {
			r.at += uint64(bits.TrailingZeros64(ahead)) + 1
			return r.at - from - 1, true
		}
	}
	return 0, false
}

// take reads so many bits, at most 59. It reports false if there are fewer.
func (r *bitReader) take(count uint) (uint64, bool) {
	if uint64(count) > r.left() {
		return 0, false
	}
	low := min(count, 32)
	first := r.ahead() & (1<<low - 1)
	r.at += uint64(low)
	second := r.ahead() & (1<<(count-low) - 1)
	r.at += uint64(count - low)
	return first | second<<low, true
}
