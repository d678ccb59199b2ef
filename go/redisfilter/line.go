package redisfilter

// The line and the footer of package format, as bytes of a Redis string.

import (
	"encoding/binary"
	"math/bits"

	bloomline "github.com/bloomline/bloomline/go"
	"github.com/bloomline/bloomline/go/internal/format"
)

var le = binary.LittleEndian

const (
	lineBytes   = format.LineBytes
	footerBytes = format.FooterBytes
)

// lineOf is the number of the line of a hash.
func lineOf(hash, lineCount uint64) int64 {
	return int64(format.Index(hash, lineCount))
}

// bitOffsets appends where the bits of a hash are in the string, as Redis numbers them: from the
// highest bit of each byte, where a lane has its bytes from the lowest.
func bitOffsets(to []int64, hash uint64, params bloomline.Params) []int64 {
	first := lineOf(hash, params.LineCount) * format.LineBits
	for i, lane := range format.Mask(hash, params.K) {
		for ; lane != 0; lane &= lane - 1 {
			to = append(to, first+int64(64*i+bits.TrailingZeros64(lane)^7))
		}
	}
	return to
}

// lineContains reports whether a line of 64 bytes has all bits of a hash.
func lineContains(line string, hash uint64, k int) bool {
	missing := uint64(0)
	for i, lane := range format.Mask(hash, k) {
		missing |= lane &^ le.Uint64([]byte(line[8*i:8*i+8]))
	}
	return missing == 0
}

// footer is that of a plain filter, behind the lines of a file, and of a shard's string.
type footer struct {
	params        bloomline.Params
	keyCount      uint64
	linesChecksum uint64
}

// bytes is the footer as it is written.
func (f footer) bytes() []byte {
	end := format.Footer{
		KeyCount:      f.keyCount,
		LineCount:     f.params.LineCount,
		Seed:          f.params.Seed,
		K:             uint32(f.params.K),
		Layout:        format.Lines,
		LinesChecksum: f.linesChecksum,
	}
	return end.Bytes()
}

// readFooter reads the footer of a plain filter.
//
// Errors: those of package bloomline for bytes that are none.
func readFooter(at []byte) (footer, error) {
	if len(at) != footerBytes {
		return footer{}, bloomline.ErrTruncated
	}
	end, err := format.Read(at)
	switch {
	case err != nil:
		return footer{}, err
	case end.Layout != format.Lines:
		return footer{}, bloomline.ErrLayout
	case end.Reserved != 0:
		return footer{}, bloomline.ErrReserved
	case end.K < 1 || end.K > format.MaxK:
		return footer{}, bloomline.ErrK
	case end.LineCount < 1 || end.LineCount > 1<<57:
		return footer{}, bloomline.ErrLineCount
	}
	params := bloomline.Params{LineCount: end.LineCount, K: int(end.K), Seed: end.Seed}
	return footer{params, end.KeyCount, end.LinesChecksum}, nil
}

// isFooterOf reports whether bytes are the footer of a shard of this shape.
func isFooterOf(at string, params bloomline.Params) bool {
	f, err := readFooter([]byte(at))
	return err == nil && f.params == params
}
