package bloomline

// Memory for lines: Go's own, aligned. The one file that needs unsafe for more than a call to
// C, to see where memory lies.

import (
	crand "crypto/rand"
	"encoding/binary"
	"os"
	"unsafe"
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

// newLines returns so many lines of zeros, each in one cache line.
func newLines(count uint64) (all []line, err error) {
	// What can be no length makes make panic; what is only too much ends the program.
	defer func() {
		if recover() != nil {
			all, err = nil, ErrLineCount
		}
	}()
	return linesOf(newBytes(int(count * lineBytes))), nil
}

// newBytes returns zeros for lines.
//
// Of large filters the system is asked for pages of 2 MiB: with small ones, a probe waits for the
// page table as well. Only those that lie in the filter whole are asked for, so that none costs
// memory that the filter does not need; and it begins at one only if the room for that is at most
// a tenth of it.
func newBytes(size int) []byte {
	to := lineBytes
	if hugePages && size >= 10*hugePage {
		to = hugePage
	}
	bytes := aligned(size, to)
	if pages := hugePagesIn(bytes); hugePages && len(pages) > 0 {
		adviseHugePages(pages)
	}
	return bytes
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
