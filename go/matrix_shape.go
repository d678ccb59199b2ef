package bloomline

// The shape of matrices, their bytes, layout 10, and answers from single ranges of these.

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/bloomline/bloomline/go/internal/format"
)

const (
	// matrixRows is the rows of a group: one for each bit of a line.
	matrixRows = lineBits
	wordBytes  = 8

	// The reserved field of a footer in layout 10: the number of columns, then these.
	matrixNamed  = 1 << 32
	matrixSummed = 1 << 33
)

// MatrixShape is the shape of a [Matrix]: the Params of its columns, how many they are, and what its encoded
// form has besides. It is all that a reader needs to look keys up in a matrix that lies elsewhere, such as in
// an object store. Read its last 64 bytes once, for [ReadMatrixShape], and then one [MatrixShape.Range] for
// each key.
//
// It has no text or JSON form: those 64 bytes and the length are what to keep.
//
// The zero MatrixShape has no columns, and is asked in vain: [ErrNoLines].
type MatrixShape struct {
	noText
	params        Params
	columns       int
	named, summed bool
}

// ByteRange is a range of the bytes of an encoded matrix: where it begins, and how long it is.
type ByteRange struct {
	Offset, Length int64
}

// End returns where the range ends: the offset of the byte behind it.
func (r ByteRange) End() int64 {
	return r.Offset + r.Length
}

// NewMatrixShape returns the shape of a matrix of so many columns of these Params, without names and
// checksums.
//
// Errors: [ErrNoLines], [ErrK], [ErrLineCount]; [ErrClassic] if the Params are classic; [ErrColumns].
func NewMatrixShape(params Params, columns int) (MatrixShape, error) {
	if err := params.checkInOneLine(); err != nil {
		return MatrixShape{}, err
	}
	return matrixShape(params, uint64(columns))
}

// matrixShape is [NewMatrixShape] for Params that have been checked.
func matrixShape(params Params, columns uint64) (MatrixShape, error) {
	if columns < 1 || columns > math.MaxUint32 {
		return MatrixShape{}, ErrColumns
	}
	// For each line its group, and a checksum; for each column a name; a footer.
	high, size := bits.Mul64(params.LineCount, (columns+63)/64*wordBytes*matrixRows+wordBytes)
	if high != 0 || size > math.MaxInt || size+columns*wordBytes+footerBytes > math.MaxInt {
		return MatrixShape{}, ErrLineCount
	}
	return MatrixShape{params: params, columns: int(columns)}, nil
}

// ReadMatrixShape returns the shape of an encoded matrix of so many bytes, of which footer is the last 64.
//
// Errors: those of [OpenMatrixView], but [ErrChecksum] for the footer only.
func ReadMatrixShape(footer []byte, length int64) (MatrixShape, error) {
	if length < footerBytes {
		return MatrixShape{}, ErrTruncated
	}
	if err := checkFooter(footer, uint64(length), (*Matrix)(nil)); err != nil {
		return MatrixShape{}, err
	}
	_, f, _ := readFooter(footer)
	return f.matrixShape()
}

// Params returns line count, k and seed of the columns.
func (s MatrixShape) Params() Params { return s.params }

// Columns returns the number of columns.
func (s MatrixShape) Columns() int { return s.columns }

// Words returns how many words the answers about one key take: a bit for each column.
func (s MatrixShape) Words() int { return (s.columns + 63) / 64 }

// HasNames reports whether each column has a name.
func (s MatrixShape) HasNames() bool { return s.named }

// HasChecksums reports whether each group has a checksum.
func (s MatrixShape) HasChecksums() bool { return s.summed }

// Bytes returns the size of all groups in bytes.
func (s MatrixShape) Bytes() uint64 { return s.params.LineCount * uint64(s.groupBytes()) }

// EncodedLen returns the length of the encoded matrix in bytes.
func (s MatrixShape) EncodedLen() int64 { return s.ChecksumBytes().End() + footerBytes }

// String describes the shape in a line.
func (s MatrixShape) String() string {
	return fmt.Sprintf("bloomline.MatrixShape{%d columns, %d lines, k %d}", s.columns, s.params.LineCount, s.params.K)
}

func (s *MatrixShape) rowBytes() int { return wordBytes * s.Words() }

func (s *MatrixShape) groupBytes() int { return matrixRows * s.rowBytes() }

// group is the number of the group of a hash.
func (s *MatrixShape) group(hash uint64) uint64 {
	return format.Index(hash, s.params.LineCount)
}

// ---- where it is ----

// Hash returns the hash of a key with the seed of the matrix.
func (s MatrixShape) Hash(key []byte) uint64 {
	return Hash(key, s.params.Seed)
}

// Range returns which bytes of the encoded matrix hold the answers about the key of a hash: a group, which
// has 64 bytes for each column, columns rounded up to a multiple of 64.
func (s MatrixShape) Range(hash uint64) ByteRange {
	return s.groupRange(s.group(hash))
}

func (s *MatrixShape) groupRange(group uint64) ByteRange {
	size := int64(s.groupBytes())
	return ByteRange{int64(group) * size, size}
}

// RowRanges returns which bytes of the encoded matrix are the rows that the key of a hash reads, in ascending
// order: up to k ranges of a bit for each column. They are within its [MatrixShape.Range]; read them in its
// place where columns are many and a range costs little.
func (s MatrixShape) RowRanges(hash uint64) []ByteRange {
	start, size := s.Range(hash).Offset, int64(s.rowBytes())
	ranges := make([]ByteRange, 0, maxK)
	for lane, set := range format.Mask(hash, s.params.K) {
		for ; set != 0; set &= set - 1 {
			row := int64(64*lane + bits.TrailingZeros64(set))
			ranges = append(ranges, ByteRange{start + row*size, size})
		}
	}
	return ranges
}

// Ranges returns the ranges to read for many keys, by their hashes, in ascending order. Those with a gap of
// at most gap bytes are one. The range of each key lies within one of them.
func (s MatrixShape) Ranges(hashes []uint64, gap int64) (ranges []ByteRange) {
	groups := make([]uint64, len(hashes))
	for i, hash := range hashes {
		groups[i] = s.group(hash)
	}
	slices.Sort(groups)
	for i, group := range slices.Compact(groups) {
		next := s.groupRange(group)
		if i > 0 {
			if last := &ranges[len(ranges)-1]; next.Offset-last.End() <= gap {
				last.Length = next.End() - last.Offset
				continue
			}
		}
		ranges = append(ranges, next)
	}
	return ranges
}

// NameBytes returns which bytes of the encoded matrix are the names of the columns, 8 bytes each in their
// order, the lowest byte first; empty if there are none.
func (s MatrixShape) NameBytes() ByteRange {
	names := ByteRange{Offset: int64(s.Bytes())}
	if s.named {
		names.Length = wordBytes * int64(s.columns)
	}
	return names
}

// ChecksumBytes returns which bytes of the encoded matrix are the checksums of the groups, 8 bytes each in
// the order of the groups; empty if there are none.
func (s MatrixShape) ChecksumBytes() ByteRange {
	sums := ByteRange{Offset: s.NameBytes().End()}
	if s.summed {
		sums.Length = wordBytes * int64(s.params.LineCount)
	}
	return sums
}

// ChecksumOf returns which bytes of the encoded matrix are the checksum of the group in a range, which
// [MatrixShape.Range] returned; empty if there are none.
func (s MatrixShape) ChecksumOf(group ByteRange) ByteRange {
	sums := s.ChecksumBytes()
	if s.summed {
		sums = ByteRange{sums.Offset + group.Offset/int64(s.groupBytes())*wordBytes, wordBytes}
	}
	return sums
}

// ---- answers from ranges ----

// ContainsIn probes all columns for the key of a hash, in the bytes of its [MatrixShape.Range]: bit c of the
// answers is that of column c, in out if that is large enough, see [Bitmap].
//
// Errors: [ErrTruncated] if bytes has not the length of the range. The answers are then all true. [ErrNoLines] of
// the zero MatrixShape.
func (s MatrixShape) ContainsIn(bytes []byte, hash uint64, out Bitmap) (Bitmap, error) {
	if err := s.checkLen(bytes, s.groupBytes()); err != nil {
		return s.allTrue(out), err
	}
	var rows [maxK]int
	return s.andRows(bytes, s.rowsOf(hash, &rows), out), nil
}

// ContainsInRows is [MatrixShape.ContainsIn] from the bytes of the [MatrixShape.RowRanges], one behind the
// other.
//
// Errors: as ContainsIn.
func (s MatrixShape) ContainsInRows(bytes []byte, hash uint64, out Bitmap) (Bitmap, error) {
	count := 0
	for _, set := range format.Mask(hash, s.params.K) {
		count += bits.OnesCount64(set)
	}
	if err := s.checkLen(bytes, count*s.rowBytes()); err != nil {
		return s.allTrue(out), err
	}
	var rows [maxK]int
	for i := range count {
		rows[i] = i * s.rowBytes()
	}
	return s.andRows(bytes, rows[:count], out), nil
}

// checkLen returns what is wrong with bytes that are to be so many.
func (s *MatrixShape) checkLen(bytes []byte, size int) error {
	switch {
	case s.columns == 0:
		return ErrNoLines
	case len(bytes) != size:
		return ErrTruncated
	}
	return nil
}

// andRows is the AND of the rows that begin at these bytes.
func (s *MatrixShape) andRows(bytes []byte, rows []int, out Bitmap) Bitmap {
	out = out.sized(s.columns)
	if len(out) > 0 {
		andRows(bytes, rows, out)
		out[len(out)-1] &= s.lastWord()
	}
	return out
}

// lastWord has a bit for each column in the last word of a row.
func (s *MatrixShape) lastWord() uint64 {
	return ^uint64(0) >> (-s.columns & 63)
}

// allTrue is the answer where nothing is known.
func (s *MatrixShape) allTrue(out Bitmap) Bitmap {
	out = out.sized(s.columns)
	for i := range out {
		out[i] = ^uint64(0)
	}
	if len(out) > 0 {
		out[len(out)-1] = s.lastWord()
	}
	return out
}

// VerifyRange verifies the bytes of a [MatrixShape.Range] by the bytes of its checksum, those of
// [MatrixShape.ChecksumOf]. A matrix without checksums has none to verify.
//
// Errors: [ErrTruncated] if one has not its length; [ErrChecksum] if they do not match; [ErrNoLines] of the zero
// MatrixShape.
func (s MatrixShape) VerifyRange(group ByteRange, bytes, checksum []byte) error {
	if err := s.checkLen(bytes, s.groupBytes()); err != nil || !s.summed {
		return err
	}
	switch {
	case len(checksum) != wordBytes:
		return ErrTruncated
	case groupChecksum(uint64(group.Offset)/uint64(s.groupBytes()), bytes) != le.Uint64(checksum):
		return ErrChecksum
	}
	return nil
}

// groupChecksum has the number of the group as the seed, so that a group in the place of another is found.
func groupChecksum(number uint64, group []byte) uint64 {
	return Hash(group, number)
}

// ---- bytes ----

// matrixShape is what a footer of layout 10 says.
func (f *footer) matrixShape() (MatrixShape, error) {
	if f.Reserved&^(matrixNamed|matrixSummed|math.MaxUint32) != 0 {
		return MatrixShape{}, ErrReserved
	}
	params := f.params()
	if f.Reserved&math.MaxUint32 == 0 {
		return MatrixShape{}, ErrColumns
	}
	if err := params.checkRead(); err != nil {
		return MatrixShape{}, err
	}
	shape, err := matrixShape(params, f.Reserved&math.MaxUint32)
	if err == nil {
		shape.named, shape.summed = f.Reserved&matrixNamed != 0, f.Reserved&matrixSummed != 0
	}
	return shape, err
}

// layoutMatrix is lines of many filters transposed, and behind them names and checksums.
var layoutMatrix = layout{10, footer.matrixLen}

func (f footer) matrixLen() (uint64, error) {
	shape, err := f.matrixShape()
	return uint64(shape.ChecksumBytes().End()), err
}

// footer is what the footer of such a matrix says.
func (s *MatrixShape) footer() footer {
	reserved := uint64(s.columns)
	if s.named {
		reserved |= matrixNamed
	}
	if s.summed {
		reserved |= matrixSummed
	}
	return footer{
		LineCount: s.params.LineCount, Seed: s.params.Seed, K: uint32(s.params.K),
		Layout: layoutMatrix.number, Reserved: reserved,
	}
}

// checksums are those of all groups, if the shape has any.
func (s *MatrixShape) checksums(groups []byte) []byte {
	if !s.summed {
		return nil
	}
	size := s.groupBytes()
	sums := make([]byte, 0, len(groups)/size*wordBytes)
	for at := 0; at < len(groups); at += size {
		sums = le.AppendUint64(sums, groupChecksum(uint64(at/size), groups[at:at+size]))
	}
	return sums
}

// isPadded reports whether no row has a bit behind the last column.
func (s *MatrixShape) isPadded(groups []byte) bool {
	size, behind := s.rowBytes(), ^s.lastWord()
	if behind == 0 {
		return true
	}
	all := uint64(0)
	for at := size - wordBytes; at < len(groups); at += size {
		all |= le.Uint64(groups[at:])
	}
	return all&behind == 0
}
