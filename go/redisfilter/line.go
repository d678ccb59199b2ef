package redisfilter

// The line and the footer of docs/FORMAT.md, as bytes of a Redis string. The tests hold this file
// to package bloomline.

import (
	"encoding/binary"
	"math/bits"

	bloomline "github.com/bloomline/bloomline/go"
)

var le = binary.LittleEndian

const (
	lineBytes   = 64
	lineBits    = 512
	lanes       = 8
	footerBytes = 64

	c1 = 0x9E3779B97F4A7C15
	c2 = 0xD6E8FEB86659FD93
)

// lineOf is the number of the line of a hash.
func lineOf(hash, lineCount uint64) int64 {
	index, _ := bits.Mul64(hash, lineCount)
	return int64(index)
}

// maskOf is the bits that a hash sets in its line, by lanes.
func maskOf(hash uint64, k int) (mask [lanes]uint64) {
	round := func(g uint64, count int) {
		for i := range lanes {
			if (i+int(g>>61))%lanes < count {
				mask[i] |= 1 << (g >> (13 + 6*i) & 63)
			}
		}
	}
	round(hash*c1, min(k, lanes))
	if k > lanes {
		round(hash*c2, k-lanes)
	}
	return mask
}

// bitOffsets appends where the bits of a hash are in the string, as Redis numbers them: from the
// highest bit of each byte, where a lane has its bytes from the lowest.
func bitOffsets(to []int64, hash uint64, params bloomline.Params) []int64 {
	first := lineOf(hash, params.LineCount) * lineBits
	for i, lane := range maskOf(hash, params.K) {
		for ; lane != 0; lane &= lane - 1 {
			to = append(to, first+int64(64*i+bits.TrailingZeros64(lane)^7))
		}
	}
	return to
}

// lineContains reports whether a line of 64 bytes has all bits of a hash.
func lineContains(line string, hash uint64, k int) bool {
	missing := uint64(0)
	for i, lane := range maskOf(hash, k) {
		missing |= lane &^ le.Uint64([]byte(line[8*i:8*i+8]))
	}
	return missing == 0
}

// ---- the footer ----

const (
	magic         = "BLMLINE\n"
	formatVersion = 1
	layoutLines   = 1

	atKeyCount       = 0
	atLineCount      = 8
	atSeed           = 16
	atK              = 24
	atLayout         = 28
	atVersion        = 30
	atReserved       = 32
	atLinesChecksum  = 40
	atFooterChecksum = 48
	atMagic          = 56
)

// footer is what stands behind the lines of a file, and of a shard's string.
type footer struct {
	params        bloomline.Params
	keyCount      uint64
	linesChecksum uint64
}

// bytes is the footer as it is written.
func (f footer) bytes() []byte {
	at := make([]byte, footerBytes)
	le.PutUint64(at[atKeyCount:], f.keyCount)
	le.PutUint64(at[atLineCount:], f.params.LineCount)
	le.PutUint64(at[atSeed:], f.params.Seed)
	le.PutUint32(at[atK:], uint32(f.params.K))
	le.PutUint16(at[atLayout:], layoutLines)
	le.PutUint16(at[atVersion:], formatVersion)
	le.PutUint64(at[atLinesChecksum:], f.linesChecksum)
	le.PutUint64(at[atFooterChecksum:], bloomline.Hash(at[:atFooterChecksum], 0))
	copy(at[atMagic:], magic)
	return at
}

// readFooter reads the footer of a plain filter.
//
// Errors: those of package bloomline for bytes that are none.
func readFooter(at []byte) (f footer, err error) {
	switch {
	case len(at) != footerBytes:
		return f, bloomline.ErrTruncated
	case string(at[atMagic:]) != magic:
		return f, bloomline.ErrNotAFilter
	case le.Uint16(at[atVersion:]) != formatVersion:
		return f, bloomline.ErrVersion
	case le.Uint64(at[atFooterChecksum:]) != bloomline.Hash(at[:atFooterChecksum], 0):
		return f, bloomline.ErrChecksum
	case le.Uint16(at[atLayout:]) != layoutLines:
		return f, bloomline.ErrLayout
	case le.Uint64(at[atReserved:]) != 0:
		return f, bloomline.ErrReserved
	}
	f = footer{
		params: bloomline.Params{
			LineCount: le.Uint64(at[atLineCount:]),
			K:         int(le.Uint32(at[atK:])),
			Seed:      le.Uint64(at[atSeed:]),
		},
		keyCount:      le.Uint64(at[atKeyCount:]),
		linesChecksum: le.Uint64(at[atLinesChecksum:]),
	}
	if f.params.K < 1 || f.params.K > 16 {
		return f, bloomline.ErrK
	}
	if f.params.LineCount < 1 || f.params.LineCount > 1<<57 {
		return f, bloomline.ErrLineCount
	}
	return f, nil
}

// isFooterOf reports whether bytes are the footer of a shard of this shape.
func isFooterOf(at string, params bloomline.Params) bool {
	f, err := readFooter([]byte(at))
	return err == nil && f.params == params
}
