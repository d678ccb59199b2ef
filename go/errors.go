package bloomline

import (
	"errors"

	"github.com/bloomline/bloomline/go/internal/format"
	"github.com/bloomline/bloomline/go/internal/host"
)

// What can be wrong. Errors of this package are these or wrap them: test with [errors.Is].
// Errors of files wrap what the system said, so that errors.Is(err, fs.ErrNotExist) works.
var (
	// ErrRate: a false-positive rate has to lie between 0 and 1.
	ErrRate = format.ErrRate
	// ErrRateTooSmall: the least rates, about; of a standard filter 2e-61.
	ErrRateTooSmall = format.ErrRateTooSmall
	// ErrKeys: a number of keys is negative.
	ErrKeys = errors.New("bloomline: negative number of keys")
	// ErrBitsPerKey: the bits per key have to be a positive finite number.
	ErrBitsPerKey = errors.New("bloomline: the bits per key are not a positive finite number")
	// ErrTooFewBits: a static filter has at least 4 rows.
	ErrTooFewBits = errors.New("bloomline: the bits per key are too few: a static filter takes 4.22, a RocksDB block 0.5")
	// ErrK: a key sets 1 to 16 bits. Of bytes also: the number in the place of k is none that the kind has.
	ErrK = format.ErrK
	// ErrFingerprintBits: a cuckoo filter keeps 8, 12 or 16 bits of a key.
	ErrFingerprintBits = errors.New("bloomline: the fingerprint bits are not 8, 12 or 16")
	// ErrRows: a static filter has 4 to 16 rows.
	ErrRows = errors.New("bloomline: the rows are outside 4 to 16")
	// ErrNoLines: a shape without lines, such as the zero Params, or a zero filter.
	ErrNoLines = errors.New("bloomline: the parameters are not filled in: the line count is 0")
	// ErrLineCount: more lines than the kind or memory can address. Of bytes also: none.
	ErrLineCount = format.ErrLineCount
	// ErrOutOfMemory: the system refuses the memory. Whatever makes, reads or encodes a filter can return
	// it; a method without an error panics with it.
	ErrOutOfMemory = format.ErrOutOfMemory
	// ErrMismatch: two filters differ in line count, k, seed or type.
	ErrMismatch = errors.New("bloomline: filters do not match: line count, k, seed and type must be equal")
	// ErrOddLineCount: only an even number of lines can be halved.
	ErrOddLineCount = errors.New("bloomline: a filter with an odd number of lines cannot be folded")
	// ErrAbsent: a key that is to be removed is definitely absent.
	ErrAbsent = errors.New("bloomline: the key is definitely absent")
	// ErrFull: a cuckoo filter has no room for the key.
	ErrFull = errors.New("bloomline: the filter is full")
	// ErrOverlap: both sets of a cascade have a key, or two keys of one hash, which another seed tells apart.
	ErrOverlap = errors.New("bloomline: both sets have a key of one hash: remove it from one, or change the seed")
	// ErrLayers: only hashes chosen for it need more than 32 layers.
	ErrLayers = errors.New("bloomline: 32 layers do not tell the two sets apart: change the seed")
	// ErrTruncated: there are no bytes, too few, or too many.
	ErrTruncated = format.ErrTruncated
	// ErrNotAFilter: the bytes do not end as a filter does.
	ErrNotAFilter = format.ErrNotAFilter
	// ErrVersion: a filter of a version that this package does not know.
	ErrVersion = format.ErrVersion
	// ErrLayout: a filter, or an engine's filter block, of another kind than the call reads, or of one
	// that this package does not know.
	ErrLayout = errors.New("bloomline: the layout is not one that this operation supports")
	// ErrClassic: the filter is one of NewClassic, or is to be made of such a shape.
	ErrClassic = errors.New("bloomline: the operation needs all bits of a key in one line, and classic filters have them anywhere")
	// ErrChecksum: the bytes are damaged.
	ErrChecksum = format.ErrChecksum
	// ErrGenerations: a window has 1 generation to 2^32 - 1.
	ErrGenerations = errors.New("bloomline: a window needs 1 to 2^32 - 1 generations")
	// ErrColumns: a matrix has 1 column to 2^32 - 1, and as many names, or none.
	ErrColumns = errors.New("bloomline: a matrix needs 1 to 2^32 - 1 columns")
	// ErrColumn: a matrix has no column of the number.
	ErrColumn = errors.New("bloomline: the matrix has no such column")
	// ErrColumnShape: a filter cannot be a column of the matrix. The error says which shape can.
	ErrColumnShape = errors.New("bloomline: the filter is no column of the matrix: it needs its k and seed, and its line count, or that times 2, 4, 8 and so on")
	// ErrUnbounded: a growing filter for an unknown number of keys has prefixes of several lengths.
	ErrUnbounded = errors.New("bloomline: an unbounded growing filter cannot be frozen or subtracted from")
	// ErrSequence: a record of a journal does not follow on the last one, records between them are missing, or it is of
	// another filter. Or a filter that is to be patched has changed by itself.
	ErrSequence = errors.New("bloomline: the record does not follow on the last one of this filter")
	// ErrLocked: a journal is open already, here or in another program.
	ErrLocked = host.ErrLocked
	// ErrTooLong: a stream has more bytes than the reader takes.
	ErrTooLong = errors.New("bloomline: more bytes than the limit")
	// ErrReserved: a field is used that this version knows no use of.
	ErrReserved = format.ErrReserved
	// ErrNotAFile: a path leads to what is no regular file: a directory, a FIFO, a device.
	ErrNotAFile = host.ErrNotAFile
)

// noRate is what is wrong with a rate that no filter is for.
func noRate(rate float64) error {
	if rate > 0 && rate < 1 {
		return ErrRateTooSmall
	}
	return ErrRate
}
