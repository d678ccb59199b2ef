package growing

// The bytes before the footer: lines, what is beside them, the records.

import (
	"math"
	"math/bits"

	"github.com/zeebo/xxh3"

	"github.com/bloomline/bloomline/go/internal/format"
)

const (
	// Layout is its number in footers.
	Layout = 11

	entryBytes = 16
	zeroOf     = 44 // from there on the record of a filter is zero
	zeroOfPart = 32 // and that of a region
)

// BodyLen is how many bytes are before a footer: what it says has to be in range.
func BodyLen(f format.Footer) (uint64, error) {
	if f.K != 1 && f.K != Regions {
		return 0, format.ErrK
	}
	if most := uint64(math.MaxInt/LineBytes) - uint64(f.K) - 2; f.LineCount == 0 || f.LineCount > most {
		return 0, format.ErrLineCount
	}
	return (f.LineCount + uint64(f.K) + 1) * LineBytes, nil
}

// Open reads what is before a footer, by rule 11, and then by rule 12 if verify. The lines stay in body.
func Open(f format.Footer, body []byte, verify bool) (*Set, error) {
	length, err := BodyLen(f)
	if err != nil {
		return nil, err
	}
	if uint64(len(body)) != length {
		return nil, format.ErrTruncated
	}
	if verify && xxh3.Hash(body) != f.LinesChecksum {
		return nil, format.ErrChecksum
	}
	blocks, records := body[:f.LineCount*LineBytes], body[f.LineCount*LineBytes:]
	if xxh3.Hash(records) != f.Reserved {
		return nil, format.ErrChecksum
	}
	s := &Set{}
	record := records[f.K*LineBytes:]
	if err := s.Shape.read(record); err != nil {
		return nil, err
	}
	lines := uint64(0)
	for number := range int(f.K) {
		g, count, err := s.readRegion(records[number*LineBytes:][:LineBytes], number, int(f.K))
		if err != nil {
			return nil, err
		}
		if le.Uint64(records[number*LineBytes:]) != lines || count > f.LineCount-lines {
			return nil, format.ErrLineCount
		}
		g.lines = blocks[lines*LineBytes:][:count*LineBytes]
		lines += count
		s.Regions = append(s.Regions, g)
	}
	stash, copies := le.Uint64(record[24:]), le.Uint64(record[32:])
	rest := blocks[lines*LineBytes:]
	entries, carry := bits.Add64(stash, copies, 0)
	if carry != 0 || entries > uint64(len(rest))/entryBytes || (entries+3)/4*LineBytes != uint64(len(rest)) {
		return nil, format.ErrLineCount
	}
	s.Stash, rest = readEntries(rest, stash)
	s.Copies, rest = readEntries(rest, copies)
	if verify && !(s.areChains() && s.areBeside() && isZero(rest)) {
		return nil, format.ErrChecksum
	}
	return s, nil
}

func isZero(all []byte) bool {
	for _, each := range all {
		if each != 0 {
			return false
		}
	}
	return true
}

func readEntries(from []byte, count uint64) ([]Entry, []byte) {
	if count == 0 {
		return nil, from
	}
	all := make([]Entry, count)
	for i := range all {
		all[i] = Entry{le.Uint64(from[i*entryBytes:]), le.Uint64(from[i*entryBytes+8:])}
	}
	return all, from[count*entryBytes:]
}

func (s *Shape) read(record []byte) error {
	*s = Shape{
		Prefixes: le.Uint64(record),
		Keys:     le.Uint64(record[8:]),
		Rate:     math.Float64frombits(le.Uint64(record[16:])),
		Lengths:  uint(le.Uint32(record[40:])),
	}
	if !isZero(record[zeroOf:LineBytes]) || s.Prefixes < fewestPrefixes || s.Prefixes > mostPrefixes ||
		s.Prefixes%Regions != 0 || s.Keys > s.Prefixes ||
		s.Lengths > 0 && mostPrefixes/s.Prefixes>>(s.Lengths-1) == 0 {
		return format.ErrReserved
	}
	if !(s.Rate > 0 && s.Rate < 1) {
		return format.ErrRate
	}
	return nil
}

// readRegion returns the region of a record, and how many lines it has.
func (s *Shape) readRegion(record []byte, number, regions int) (g Region, count uint64, err error) {
	count = le.Uint64(record[8:])
	u, r, length := le.Uint64(record[16:]), uint(le.Uint32(record[24:])), uint(le.Uint32(record[28:]))
	if !isZero(record[zeroOfPart:]) || length > s.longer() || r < 1 || r > mostBits || u < fewestOfLine || u > mostPrefixes {
		return g, 0, format.ErrReserved
	}
	values := u << s.mixed()
	if values>>r < 1 || values>>r > 128 || s.mixed() == 1 && values&(1<<r-1) != 0 {
		return g, 0, format.ErrReserved
	}
	g = s.regionOf(number, regions, length)
	g.width = width{u, r}
	if homes := g.homes(); count < homes || count > homes+spare {
		return g, 0, format.ErrLineCount
	}
	return g, count, nil
}

// areChains reports whether the lines of each region are as a writer leaves them: ascending values, each in
// its home or in a line to which all from there on go on.
func (s *Set) areChains() bool {
	for i := range s.Regions {
		g := &s.Regions[i]
		before, unbroken := uint64(0), uint64(0)
		for number := range g.count() {
			line, start := g.line(number), number*g.values()
			all := line.Open(g.r)
			closed, took := Close(all.All[:all.Count], math.MaxInt64, line.GoesOn(), g.r)
			if closed != *line || took != all.Count {
				return false
			}
			for _, value := range all.All[:all.Count] {
				y := start + uint64(value)
				if y < before || y >= g.end() {
					return false
				}
				if home := y / g.values(); home < unbroken || home > number {
					return false
				}
				short := uint(bits.TrailingZeros64(y))
				if s.mixed() == 1 && (short >= g.r || short > g.length) {
					return false
				}
				before = y
			}
			if !line.GoesOn() {
				unbroken = number + 1
			}
		}
		if unbroken != g.count() {
			return false
		}
	}
	return true
}

// areBeside reports whether what is beside the lines is in order, further copies are of prefixes that are
// there, and all counts together are a number of 64 bits.
func (s *Set) areBeside() bool {
	for _, list := range [][]Entry{s.Stash, s.Copies} {
		for i, entry := range list {
			if entry.Count == 0 || entry.Normal >= s.normals() || i > 0 && list[i-1].Normal >= entry.Normal {
				return false
			}
			g := &s.Regions[entry.Normal/(s.normals()/uint64(len(s.Regions)))]
			short := uint(bits.TrailingZeros64(entry.Normal))
			if s.mixed() == 1 && (short < g.short() || short > s.longer()) {
				return false
			}
		}
	}
	there := Set{Shape: s.Shape, Regions: s.Regions, Stash: s.Stash}
	copies, all, carry := s.Copies, uint64(0), uint64(0)
	for normal, count := range there.Runs() {
		if all, carry = bits.Add64(all, count, 0); carry != 0 {
			return false
		}
		if len(copies) > 0 && copies[0].Normal == normal {
			if all, carry = bits.Add64(all, copies[0].Count, 0); carry != 0 {
				return false
			}
			copies = copies[1:]
		}
	}
	return len(copies) == 0
}

// Body is what is before the footer, in pieces, and what the footer says of it: all but checksum, key count and
// seed. The lines are not copied.
func (s *Set) Body() ([][]byte, format.Footer) {
	var body [][]byte
	var records []byte
	first := uint64(0)
	for i := range s.Regions {
		g := &s.Regions[i]
		body = append(body, g.lines)
		var record [LineBytes]byte
		le.PutUint64(record[0:], first)
		le.PutUint64(record[8:], g.count())
		le.PutUint64(record[16:], g.u)
		le.PutUint32(record[24:], uint32(g.r))
		le.PutUint32(record[28:], uint32(g.length))
		records, first = append(records, record[:]...), first+g.count()
	}
	blocks := ((len(s.Stash)+len(s.Copies))*entryBytes + LineBytes - 1) / LineBytes
	beside := make([]byte, 0, blocks*LineBytes)
	for _, list := range [][]Entry{s.Stash, s.Copies} {
		for _, entry := range list {
			beside = le.AppendUint64(le.AppendUint64(beside, entry.Normal), entry.Count)
		}
	}
	var record [LineBytes]byte
	le.PutUint64(record[0:], s.Prefixes)
	le.PutUint64(record[8:], s.Keys)
	le.PutUint64(record[16:], math.Float64bits(s.Rate))
	le.PutUint64(record[24:], uint64(len(s.Stash)))
	le.PutUint64(record[32:], uint64(len(s.Copies)))
	le.PutUint32(record[40:], uint32(s.Lengths))
	records = append(records, record[:]...)
	return append(body, beside[:cap(beside)], records), format.Footer{
		LineCount: first + uint64(blocks), K: uint32(len(s.Regions)), Layout: Layout, Reserved: xxh3.Hash(records),
	}
}
