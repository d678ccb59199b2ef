package bloomline

// What docs/format/ says of the other layouts, bit by bit and slow: which keys may be present in the lines
// of a standard, a cuckoo, a static and a growing filter. The fuzzers hold the filters to it.

import (
	"github.com/bloomline/bloomline/go/internal/format"
)

const (
	definitionC1 = 0x9E3779B97F4A7C15
	definitionC2 = 0xD6E8FEB86659FD93
	definitionC3 = 0xA0761D6478BD642F
)

// definitionAnswer is whether a hash may be present in an encoded filter, whose footer has been checked, of
// a layout that has a view.
func definitionAnswer(data []byte, hash uint64) bool {
	lines, footer := data[:len(data)-footerBytes], data[len(data)-footerBytes:]
	count, k := le.Uint64(footer[format.AtLineCount:]), int(le.Uint32(footer[format.AtK:]))
	switch le.Uint16(footer[format.AtLayout:]) {
	case layoutClassic.number:
		return definitionClassicContains(lines, k, hash)
	case layoutCuckoo.number:
		return definitionCuckooContains(lines, k, hash)
	case layoutStatic.number:
		shape := footer[format.AtReserved:]
		return definitionStaticContains(lines, count, shape[0], shape[1], int(shape[2]), k, hash)
	case layoutGrowing.number:
		return definitionGrowingContains(lines, count, k, hash)
	}
	return definitionContains(lines[:count*64], k, hash)
}

func bitOf(data []byte, at int) uint64 { return uint64(data[at/8] >> (at % 8) & 1) }

func definitionClassicContains(data []byte, k int, hash uint64) bool {
	at, step := hash, hash*definitionC2
	for i := range k {
		if bitOf(data, int(definitionIndex(at, 8*uint64(len(data))))) == 0 {
			return false
		}
		at += step
		step += definitionC1 * uint64(i+1)
	}
	return true
}

func definitionCuckooContains(lines []byte, width int, hash uint64) bool {
	count := uint64(len(lines) / 64)
	buckets := map[int]uint64{8: 16, 12: 10, 16: 8}[width]
	fingerprint := max(hash&(1<<width-1), 1)
	line, bucket := definitionIndex(hash, count), (hash>>16&0xFFFF)*buckets>>16
	// Where the alternate line is: in the page, of which the last one has what is left over, or anywhere.
	start, among := uint64(0), count
	if last := max(int(count-count%64)-64, 0); fingerprint%8 != 0 && line >= uint64(last) {
		start, among = uint64(last), count-uint64(last)
	} else if fingerprint%8 != 0 {
		start, among = line-line%64, 64
	}
	m := uint64(uint32(fingerprint) * 0x9E3779B1)
	other := start + (m*among>>32+among-(line-start))%among
	alternate := ((m&0xFFFF)*buckets>>16 + buckets - bucket) % buckets
	for _, at := range [][2]uint64{{line, bucket}, {other, alternate}} {
		for slot := range 4 {
			first, held := (int(at[0])*64+int(at[1])*width/2)*8+slot*width, uint64(0)
			for bit := range width {
				held |= bitOf(lines, first+bit) << bit
			}
			if held == fingerprint {
				return true
			}
		}
	}
	return false
}

// definitionFields are the widths of the fields of a row behind its first 63 columns.
var definitionFields = map[int][]int{
	4: {60}, 5: {31, 6}, 6: {21}, 7: {9}, 8: {}, 9: {21, 21, 7}, 10: {31, 6}, 11: {21, 7}, 12: {21}, 13: {9, 4},
	14: {9}, 15: {4}, 16: {},
}

func definitionStaticContains(lines []byte, count uint64, second, third byte, tail, rows int, hash uint64) bool {
	size := 64
	if rows > 8 {
		size = 128
	}
	shares := []uint64{}
	if second > 0 {
		shares = append(shares, uint64(second))
	}
	if third > 0 {
		shares = append(shares, uint64(third))
	}
	for range tail {
		shares = append(shares, 16)
	}
	for level := 0; ; level++ {
		line := lines[int(definitionIndex(hash, count))*size:][:size]
		threshold := uint64(0)
		for lane := range 8 {
			threshold |= bitOf(line, 64*lane+63) << lane
		}
		next := hash*definitionC1 + definitionC2
		next = (next ^ next>>32) * definitionC2
		if min(hash*count>>56, 254) < threshold {
			return definitionHolds(line, rows, hash, next)
		}
		if level == len(shares) {
			return true
		}
		lines = lines[int(count)*size:]
		count = (count*shares[level] + 255) / 256
		hash = next
	}
}

// definitionHolds is whether each row of a line has the parity that the fingerprint says.
func definitionHolds(line []byte, rows int, hash, next uint64) bool {
	parity := make([]uint64, rows)
	for row := range rows {
		for column := range 63 {
			parity[row] ^= bitOf(line, 64*row+column) & (next >> 1 >> column)
		}
	}
	columns := 0
	for _, width := range definitionFields[rows] {
		columns += width
	}
	more := next * definitionC3 >> 1 >> (63 - columns)
	lane, bit := rows, 0
	for _, width := range definitionFields[rows] {
		for row := range rows {
			if bit+width > 63 {
				lane, bit = lane+1, 0
			}
			for column := range width {
				parity[row] ^= bitOf(line, 64*lane+bit+column) & (more >> column)
			}
			bit += width
		}
		more >>= width
	}
	fingerprint := hash&(1<<rows-1) | 1
	for row, odd := range parity {
		if odd&1 != fingerprint>>row&1 {
			return false
		}
	}
	return true
}

// definitionValues are those of a line of a growing filter, and whether it goes on.
func definitionValues(line []byte, r int) (all []int64, goesOn bool) {
	field := func(first, bits int) (value int64) {
		for i := range bits {
			value |= int64(bitOf(line, first+i)) << i
		}
		return value
	}
	bucket := field(7, 9)
	if bucket > 255 {
		bucket -= 512
	}
	for at := 16; at < 128; at++ {
		if bitOf(line, at) == 0 {
			bucket++
		} else if int64(len(all)) < min(field(0, 6), int64(496/(r+1))) {
			all = append(all, bucket<<r|field(512-(len(all)+1)*r, r))
		}
	}
	return all, bitOf(line, 6) == 1
}

func definitionGrowingContains(body []byte, blocks uint64, regions int, hash uint64) bool {
	records := body[blocks*64:]
	of := records[64*(int(hash>>60)%regions):]
	record := records[64*regions:]
	first, count, u, r, length := le.Uint64(of), le.Uint64(of[8:]), le.Uint64(of[16:]), int(le.Uint32(of[24:])), uint(le.Uint32(of[28:]))
	prefixes, mixed, longer := le.Uint64(record), uint(0), uint(le.Uint32(record[40:]))
	if longer > 0 {
		mixed, longer = 1, longer-1
	}
	x := definitionIndex(hash, prefixes<<length) - hash>>60%uint64(regions)*(prefixes<<length/uint64(regions))
	line, value := x/u, int64(x%u<<mixed+uint64(mixed))
	for value>>r >= -256 {
		if line == count {
			return true
		}
		all, goesOn := definitionValues(body[(first+line)*64:][:64], r)
		for _, v := range all {
			end := 0
			if mixed == 1 {
				end = 1
				for end <= r && v>>(end-1)&1 == 0 {
					end++
				}
				end = min(end, r)
			}
			if v>>end == value>>end {
				return true
			}
			goesOn = goesOn && v>>r <= value>>r
		}
		if !goesOn {
			break
		}
		line, value = line+1, value-int64(u<<mixed)
	}
	stash := definitionStash(records, body, regions)
	for at := 0; at < len(stash); at += 16 {
		for i := range length + 1 {
			if le.Uint64(stash[at:]) == (definitionIndex(hash, prefixes<<i)<<mixed+uint64(mixed))<<(longer-i) {
				return true
			}
		}
	}
	return false
}

// definitionStash are the entries of the stash of a growing filter.
func definitionStash(records, body []byte, regions int) []byte {
	lines := uint64(0)
	for i := range regions {
		lines += le.Uint64(records[64*i+8:])
	}
	return body[lines*64:][:16*le.Uint64(records[64*regions+24:])]
}

// definitionSays reports whether the page says what damaged bytes answer, whose footer has been checked: not if
// the stash of a growing filter is in no order.
func definitionSays(data []byte) bool {
	body, footer := data[:len(data)-footerBytes], data[len(data)-footerBytes:]
	if le.Uint16(footer[format.AtLayout:]) != layoutGrowing.number {
		return true
	}
	stash := definitionStash(body[64*le.Uint64(footer[format.AtLineCount:]):], body, int(le.Uint32(footer[format.AtK:])))
	for at := 16; at < len(stash); at += 16 {
		if le.Uint64(stash[at-16:]) >= le.Uint64(stash[at:]) {
			return false
		}
	}
	return true
}
