package bloomline

// Memory for lines: Go's own, aligned. The one file that needs unsafe for more than a call to
// C, to see where memory lies.

import (
	crand "crypto/rand"
	"encoding/binary"
	"unsafe"
)

const hugePage = 2 << 20

// linesOf is bytes as lines, what does not fill one left out; bytesOf the other way. Neither
// copies. A line is as large as its bytes and needs no alignment.
func linesOf(bytes []byte) []line {
	return unsafe.Slice((*line)(unsafe.Pointer(unsafe.SliceData(bytes))), len(bytes)/lineBytes)
}

func bytesOf(all []line) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(all))), len(all)*lineBytes)
}

// newLines returns so many lines of zeros, each in one cache line.
//
// Filters of some size begin at a multiple of 2 MiB and ask the system for pages of that size:
// with small ones, a probe waits for the page table as well.
func newLines(count uint64) (all []line, err error) {
	// What can be no length makes make panic; what is only too much ends the program.
	defer func() {
		if recover() != nil {
			all, err = nil, ErrLineCount
		}
	}()
	size := int(count * lineBytes)
	if size < 2*hugePage {
		return linesOf(aligned(size, lineBytes)), nil
	}
	bytes := aligned(size, hugePage)
	adviseHugePages(bytes)
	return linesOf(bytes), nil
}

// aligned returns zeroed bytes that begin at a multiple of to.
func aligned(size, to int) []byte {
	bytes := make([]byte, size+to)
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(bytes)))) & (to - 1)
	return bytes[skip : skip+size : skip+size]
}

func randomSeed() (uint64, error) {
	var bytes [8]byte
	_, err := crand.Read(bytes[:])
	return binary.LittleEndian.Uint64(bytes[:]), err
}
