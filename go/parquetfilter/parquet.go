// Package parquetfilter builds the split-block Bloom filters of Parquet files, byte for byte, with and
// without their header. To read them: [bloomline.OpenParquet] and [bloomline.OpenParquetBits]. It also reads the
// split blocks of Kudu, Impala, Doris and Velox, which have types of their own: [Kudu], [Velox].
//
// A value is hashed in Parquet's plain encoding: byte arrays as they are, numbers as little-endian bytes. So
// the type counts: 42 as an INT32 and as an INT64 are two values. Nulls are not added. A reader that
// takes 0 and -0 for equal asks for both.
package parquetfilter

import (
	"math"
	"math/bits"

	"github.com/bloomline/bloomline/go"
	"github.com/bloomline/bloomline/go/internal/engine"
)

const (
	// MaxBits is the most bytes of bits that are made by default.
	MaxBits = engine.MaxParquetBits
	// MaxHeader is the length of the longest header that is read. Read so many bytes if the file does
	// not say how long a filter is.
	MaxHeader = engine.MaxParquetHeader
)

// Hash returns the hash of a BYTE_ARRAY, of a FIXED_LEN_BYTE_ARRAY, and of the 12 bytes of an INT96.
func Hash(value []byte) uint64 { return engine.XXH64(value) }

// HashInt32 returns the hash of an INT32; that of an unsigned one is of the same bits.
func HashInt32(value int32) uint64 { return engine.XXH64Uint32(uint32(value)) }

// HashInt64 returns the hash of an INT64; that of an unsigned one is of the same bits.
func HashInt64(value int64) uint64 { return engine.XXH64Uint64(uint64(value)) }

// HashFloat returns the hash of a FLOAT.
func HashFloat(value float32) uint64 { return engine.XXH64Uint32(math.Float32bits(value)) }

// HashDouble returns the hash of a DOUBLE.
func HashDouble(value float64) uint64 { return engine.XXH64Uint64(math.Float64bits(value)) }

// HashBool returns the hash of a BOOLEAN. Do not ask filters of such columns that parquet-go wrote: version 0.32 hashes
// truth values eight at a time, so they lack values.
func HashBool(value bool) uint64 {
	if value {
		return engine.XXH64([]byte{1})
	}
	return engine.XXH64([]byte{0})
}

// BitsPerKey returns the bits per key that give a false-positive rate, by Parquet's own advice.
//
// Errors: [bloomline.ErrRate].
func BitsPerKey(rate float64) (float64, error) {
	if !(rate > 0 && rate < 1) {
		return 0, bloomline.ErrRate
	}
	return -8 / math.Log1p(-math.Pow(rate, 1.0/8)), nil
}

// BitsLen returns the length in bytes of the bits for so many different keys: a power of two, from 32 to
// [MaxBits].
//
// Errors: [bloomline.ErrKeys], [bloomline.ErrBitsPerKey].
func BitsLen(keys int, bitsPerKey float64) (int, error) {
	switch {
	case keys < 0:
		return 0, bloomline.ErrKeys
	case !(bitsPerKey > 0) || math.IsInf(bitsPerKey, 1):
		return 0, bloomline.ErrBitsPerKey
	}
	length := min(max(float64(keys)*bitsPerKey/8, engine.SplitBlockBytes), MaxBits)
	return 1 << bits.Len64(uint64(length)-1), nil
}

// Append appends the filter of the keys with these hashes to dst, header and bits.
//
// Errors: [bloomline.ErrBitsPerKey]; dst is then returned as it is.
func Append(dst []byte, hashes []uint64, bitsPerKey float64) ([]byte, error) {
	length, err := BitsLen(len(hashes), bitsPerKey)
	if err != nil {
		return dst, err
	}
	dst = engine.AppendParquetHeader(dst, length)
	header := len(dst)
	dst = append(dst, make([]byte, length)...)
	engine.AddSplitBlock(dst[header:], hashes)
	return dst, nil
}

// ReadHeader reads the header at the start of data, and returns its length and that of the bits behind it,
// which need not be there.
//
// Errors: [bloomline.ErrTruncated] if the header goes on behind the end, [bloomline.ErrNotAFilter] if it is
// none, [bloomline.ErrLayout] if it names another algorithm, hash or compression. At any error, treat
// every key as present.
func ReadHeader(data []byte) (header, bits int, err error) {
	header, bits, state := engine.ReadParquetHeader(data)
	switch state {
	case engine.HeaderCut:
		err = bloomline.ErrTruncated
	case engine.HeaderNone:
		err = bloomline.ErrNotAFilter
	case engine.HeaderUnknown:
		err = bloomline.ErrLayout
	}
	return header, bits, err
}

// AppendHeader appends the header of so many bytes of bits to dst.
//
// Errors: [bloomline.ErrLineCount] and [bloomline.ErrTruncated] as [bloomline.OpenParquetBits].
func AppendHeader(dst []byte, bits int) ([]byte, error) {
	if err := check(bits); err != nil {
		return dst, err
	}
	return engine.AppendParquetHeader(dst, bits), nil
}

// AddHashes adds the keys with these hashes to bits: zeroed, or those of another filter, in any number of
// blocks of 32 bytes.
//
// Errors: as [AppendHeader]; nothing is added then.
func AddHashes(bits []byte, hashes []uint64) error {
	if err := check(len(bits)); err != nil {
		return err
	}
	engine.AddSplitBlock(bits, hashes)
	return nil
}

// Fold folds bits to a half, a quarter and so on, as small as their false-positive rate is at most rate, and
// returns what is left: the first of them. All keys stay. If the rate is higher already, nothing changes.
//
// Errors: [bloomline.ErrRate]; as [AppendHeader]. Nothing is changed then.
func Fold(bits []byte, rate float64) ([]byte, error) {
	if !(rate > 0 && rate < 1) {
		return bits, bloomline.ErrRate
	}
	if err := check(len(bits)); err != nil {
		return bits, err
	}
	return engine.FoldSplitBlock(bits, rate), nil
}

func check(length int) error {
	switch {
	case length <= 0 || length > math.MaxInt32:
		return bloomline.ErrLineCount
	case length%engine.SplitBlockBytes != 0:
		return bloomline.ErrTruncated
	}
	return nil
}
