package avx2

import "unsafe"

// StaticRows is how the rows of a static line lie in it, for one number of rows.
type StaticRows struct {
	mask   uint64 // the bits of a fingerprint
	shift  uint64 // a line has 1 << shift bytes
	extra  uint64 // the extra coefficients are what is left of their product when so many bits are gone
	end    uint64 // bytes of the fields that there are
	fields [3]staticField
}

// staticField is one field of each row.
type staticField struct {
	mask   uint64 // its width, as so many bits
	width  uint64
	groups [4]staticGroup
}

// staticGroup is the field of four rows: the byte of the line at which four lanes begin that have all of
// them, which halves of lanes from there on make up the four, and the lowest bit in each.
type staticGroup struct {
	start  uint64
	halves [8]uint32
	bits   [4]uint64
}

const groupLanes = 4

// NewStaticRows returns those of so many rows, 4 to 16, without a field.
func NewStaticRows(rows int) StaticRows {
	r := StaticRows{mask: 1<<rows - 1, shift: 6, extra: 64}
	if rows > 8 {
		r.shift = 7
	}
	return r
}

// AddField adds the next field, at most the third: its width, and the lane and the lowest bit that it has
// in each row. Rows that there are not may be as any other.
func (r *StaticRows) AddField(width uint, place func(row int) (lane, bit uint8)) {
	field := staticField{mask: 1<<width - 1, width: uint64(width)}
	lastStart := uint8(8<<(r.shift-6) - groupLanes)
	for i := range field.groups {
		group := &field.groups[i]
		first, _ := place(groupLanes * i)
		start := min(first, lastStart)
		group.start = 8 * uint64(start)
		for j := range groupLanes {
			lane, bit := place(groupLanes*i + j)
			half := 2 * uint32(lane-start)
			group.halves[2*j], group.halves[2*j+1], group.bits[j] = half, half+1, uint64(bit)
		}
	}
	const size = uint64(unsafe.Sizeof(field))
	r.fields[r.end/size] = field
	r.end += size
	r.extra -= uint64(width)
}
