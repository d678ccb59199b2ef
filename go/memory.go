package bloomline

// Memory for lines: Go's own, aligned. The one file that needs unsafe for more than a call to
// C, to see where memory lies.

import (
	crand "crypto/rand"
	"encoding/binary"
	"math"
	"math/bits"
	"os"
	"unsafe"

	"github.com/bloomline/bloomline/go/internal/host"
)

const (
	hugePage = 2 << 20
	// What is longer is no filter's.
	maxLen = maxLines * lineBytes
)

// hugePages is false where BLOOMLINE_HUGE_PAGES=0 asks for none. It is read once.
var hugePages = os.Getenv("BLOOMLINE_HUGE_PAGES") != "0"

// linesOf is bytes as lines, what does not fill one left out; bytesOf the other way. Neither
// copies. A line is as large as its bytes and needs no alignment.
func linesOf(bytes []byte) []line {
	return unsafe.Slice((*line)(unsafe.Pointer(unsafe.SliceData(bytes))), len(bytes)/lineBytes)
}

func bytesOf(all []line) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(all))), len(all)*lineBytes)
}

// bytesOfKey is the bytes of a key where they are: a conversion copies a string of more than 32 bytes to the heap.
// They are for hash functions of this module, which only read them.
func bytesOfKey[K bytesOrString](key K) []byte {
	// A string begins with the pointer to its bytes, as a slice does.
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&key)), len(key))
}

const (
	// What is smaller is not asked for: the runtime takes memory from the system in pieces of 4 MiB.
	leastAsked = 1 << 20
	// The runtime reserves memory in arenas of 64 MiB, of 4 MiB with 32 bits, and keeps tables of it.
	arenaBytes = 4 << 20 << (bits.UintSize / 64 * 4)
)

// room returns what is wrong with taking so many bytes. The runtime ends the program when the system
// refuses memory, and nothing can catch that; so the system is asked first.
//
// It may refuse a filter that would have fitted into what the garbage collector frees, and others may
// take the memory before the runtime does. Memory that a system grants and does not have is no error here.
func room(size int) error {
	switch {
	case size < 0 || uint64(size) > maxLen:
		return ErrLineCount
	case size < leastAsked:
		return nil
	}
	spare := size/256 + arenaBytes
	if size > math.MaxInt-spare || !host.HasRoom(size+spare) {
		return ErrOutOfMemory
	}
	return nil
}

// roomFor is room for a size that an int may not hold.
func roomFor(size uint64) error {
	if size > math.MaxInt {
		return ErrOutOfMemory
	}
	return room(int(size))
}

// newLines returns so many lines of zeros, each in one cache line.
func newLines(count uint64) ([]line, error) {
	if count > maxLines {
		return nil, ErrLineCount
	}
	bytes, err := newBytes(int(count * lineBytes))
	return linesOf(bytes), err
}

// newSlice returns so many zero values.
func newSlice[T any](count int) ([]T, error) {
	var one T
	if count < 0 || count > math.MaxInt/max(int(unsafe.Sizeof(one)), 1) {
		return nil, ErrOutOfMemory
	}
	if err := room(count * int(unsafe.Sizeof(one))); err != nil {
		return nil, err
	}
	return make([]T, count), nil
}

// withRoom is a slice, moved if need be to where it has room for so many values.
func withRoom[T any](values []T, count int) ([]T, error) {
	if count <= cap(values) {
		return values, nil
	}
	larger, err := newSlice[T](count)
	if err != nil {
		return values, err
	}
	return larger[:copy(larger, values)], nil
}

// newBytes returns zeros for lines.
//
// Of large filters the system is asked for pages of 2 MiB: with small ones, a probe waits for the
// page table as well. Only those that lie in the filter whole are asked for, so that none costs
// memory that the filter does not need; and it begins at one only if the room for that is at most
// a tenth of it.
func newBytes(size int) ([]byte, error) {
	if err := room(size); err != nil {
		return nil, err
	}
	to := lineBytes
	if hugePages && size >= 10*hugePage {
		to = hugePage
	}
	bytes := aligned(size, to)
	if pages := hugePagesIn(bytes); hugePages && len(pages) > 0 {
		host.AdviseHugePages(pages)
	}
	return bytes, nil
}

// hugePagesIn is the whole pages of 2 MiB.
func hugePagesIn(bytes []byte) []byte {
	start := -int(uintptr(unsafe.Pointer(unsafe.SliceData(bytes)))) & (hugePage - 1)
	if len(bytes) < start+hugePage {
		return nil
	}
	return bytes[start : start+(len(bytes)-start)&^(hugePage-1)]
}

// aligned returns zeroed bytes that begin at a multiple of to.
func aligned(size, to int) []byte {
	bytes := make([]byte, size+to)
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(bytes)))) & (to - 1)
	return bytes[skip : skip+size : skip+size]
}

// randomSeed is a seed from the operating system. Where that has none, crypto/rand ends the program.
func randomSeed() uint64 {
	var bytes [8]byte
	_, _ = crand.Read(bytes[:])
	return binary.LittleEndian.Uint64(bytes[:])
}
