package engine

// The header of a Parquet filter: a struct in Thrift's compact protocol, of the length of the bits and three
// unions, for algorithm, hash and compression, of which only choice 1 is known.

import "math"

// MaxParquetHeader is the most bytes that a header has which is read.
const MaxParquetHeader = 1024

// HeaderState says what was found instead of a header.
type HeaderState uint8

const (
	HeaderRead    HeaderState = iota
	HeaderCut                 // the bytes end too early
	HeaderNone                // they are something else
	HeaderUnknown             // another algorithm, hash or compression
)

// Structs in structs, so deep.
const maxThriftDepth = 8

const (
	thriftTrue, thriftFalse, thriftByte    = 1, 2, 3
	thriftI16, thriftI32, thriftI64        = 4, 5, 6
	thriftDouble, thriftBinary, thriftList = 7, 8, 9
	thriftSet, thriftMap, thriftStruct     = 10, 11, 12
	thriftUUID                             = 13
)

// thrift reads a struct. After an error all reads return zeros, which end whatever is being read.
type thrift struct {
	data  []byte
	at    int
	state HeaderState
}

// ReadParquetHeader reads the header at the start of data: its length, and that of the bits behind it.
func ReadParquetHeader(data []byte) (header, bits int, state HeaderState) {
	r := thrift{data: data[:min(len(data), MaxParquetHeader)]}
	length, known := r.header()
	switch {
	case r.state == HeaderCut && len(data) >= MaxParquetHeader:
		return 0, 0, HeaderNone
	case r.state != HeaderRead:
		return 0, 0, r.state
	case !known:
		return 0, 0, HeaderUnknown
	case length <= 0 || length%SplitBlockBytes != 0:
		return 0, 0, HeaderNone
	}
	return r.at, int(length), HeaderRead
}

func (r *thrift) fail(state HeaderState) {
	if r.state == HeaderRead {
		r.state = state
	}
}

func (r *thrift) skip(count uint64) {
	if r.state == HeaderRead && count <= uint64(len(r.data)-r.at) {
		r.at += int(count)
		return
	}
	r.fail(HeaderCut)
}

func (r *thrift) byte() byte {
	if r.skip(1); r.state != HeaderRead {
		return 0
	}
	return r.data[r.at-1]
}

func (r *thrift) varint() uint64 {
	value := uint64(0)
	for i := range 10 {
		b := r.byte()
		if i == 9 && b&0x7F > 1 {
			break
		}
		value |= uint64(b&0x7F) << (7 * i)
		if b < 0x80 {
			return value
		}
	}
	r.fail(HeaderNone)
	return 0
}

func (r *thrift) signed() int64 {
	value := r.varint()
	return int64(value>>1) ^ -int64(value&1)
}

// field returns number and type of the field behind that of the last number; type 0 at the end.
func (r *thrift) field(last int64) (number int64, kind byte) {
	b := r.byte()
	if b == 0 {
		return 0, 0
	}
	if number = last + int64(b>>4); b>>4 == 0 {
		number = r.signed()
	}
	if number < math.MinInt16 || number > math.MaxInt16 {
		r.fail(HeaderNone)
	}
	if r.state != HeaderRead {
		return 0, 0
	}
	if kind = b & 15; kind == 0 {
		r.fail(HeaderNone) // the end has no number
	}
	return number, kind
}

func (r *thrift) header() (length int64, known bool) {
	var found [5]bool
	known = true
	for number, kind := r.field(0); kind != 0; number, kind = r.field(number) {
		switch {
		case number < 1 || number > 4:
			r.value(kind, maxThriftDepth)
			continue
		case found[number], number == 1 && kind != thriftI32, number > 1 && kind != thriftStruct:
			r.fail(HeaderNone)
		case number == 1:
			if length = r.signed(); length < math.MinInt32 || length > math.MaxInt32 {
				r.fail(HeaderNone)
			}
		default:
			known = r.choice() == 1 && known
		}
		found[number] = true
	}
	if found != [5]bool{false, true, true, true, true} {
		r.fail(HeaderNone)
	}
	return length, known
}

// choice returns which choice of a union there is; 0 for none or several.
func (r *thrift) choice() (choice int64) {
	count := 0
	for number, kind := r.field(0); kind != 0; number, kind = r.field(number) {
		r.value(kind, maxThriftDepth)
		if choice = 0; kind == thriftStruct {
			choice = number
		}
		count++
	}
	if count != 1 {
		return 0
	}
	return choice
}

// value skips a value. Each takes a byte at least, but those in the header of a field, so the bytes bound the
// work.
func (r *thrift) value(kind byte, depth int) {
	if depth == 0 {
		r.fail(HeaderNone)
		return
	}
	switch kind {
	case thriftTrue, thriftFalse:
	case thriftByte:
		r.skip(1)
	case thriftI16, thriftI32, thriftI64:
		r.varint()
	case thriftDouble:
		r.skip(8)
	case thriftUUID:
		r.skip(16)
	case thriftBinary:
		r.skip(r.varint())
	case thriftList, thriftSet:
		b := r.byte()
		count := uint64(b >> 4)
		if count == 15 {
			count = r.varint()
		}
		r.elements(count, depth-1, b&15)
	case thriftMap:
		if count := r.varint(); count > 0 {
			b := r.byte()
			r.elements(count, depth-1, b>>4, b&15)
		}
	case thriftStruct:
		for number, kind := r.field(0); kind != 0; number, kind = r.field(number) {
			r.value(kind, depth-1)
		}
	default:
		r.fail(HeaderNone)
	}
}

// elements skips those of a list, or the pairs of a map. In these a truth value is a byte.
func (r *thrift) elements(count uint64, depth int, kinds ...byte) {
	for i := uint64(0); i < count && r.state == HeaderRead; i++ {
		for _, kind := range kinds {
			if kind == thriftTrue || kind == thriftFalse {
				r.skip(1)
				continue
			}
			r.value(kind, depth)
		}
	}
}

// AppendParquetHeader appends the header of so many bytes of bits to dst.
func AppendParquetHeader(dst []byte, bits int) []byte {
	dst = append(dst, 1<<4|thriftI32)
	left := 2 * uint64(bits)
	for ; left >= 0x80; left >>= 7 {
		dst = append(dst, byte(left)|0x80)
	}
	dst = append(dst, byte(left))
	for range 3 {
		dst = append(dst, 1<<4|thriftStruct, 1<<4|thriftStruct, 0, 0)
	}
	return append(dst, 0)
}
