package bloomline

import (
	"errors"
	"fmt"
)

// What can be wrong. Errors of this package are these or wrap them: test with [errors.Is].
// Errors of files wrap what the system said, so that errors.Is(err, fs.ErrNotExist) works.
var (
	// ErrRate: a false-positive rate has to lie between 0 and 1, and above about 3e-24; that of
	// a cuckoo filter above 0.000116.
	ErrRate = errors.New("bloomline: the false-positive rate is not between 0 and 1, or is too small")
	// ErrKeys: a number of keys is negative.
	ErrKeys = errors.New("bloomline: negative number of keys")
	// ErrBitsPerKey: the bits per key have to be a positive finite number.
	ErrBitsPerKey = errors.New("bloomline: bits per key not a positive number")
	// ErrK: a key sets 1 to 16 bits, and a cuckoo filter keeps 8, 12 or 16 bits of it.
	ErrK = errors.New("bloomline: k not between 1 and 16, or fingerprint bits not 8, 12 or 16")
	// ErrLineCount: no line, or more than memory can address.
	ErrLineCount = errors.New("bloomline: line count is 0 or cannot be addressed")
	// ErrMismatch: two filters differ in line count, k, seed or type.
	ErrMismatch = errors.New("bloomline: filters do not match: line count, k, seed and type must be equal")
	// ErrOddLineCount: only an even number of lines can be halved.
	ErrOddLineCount = errors.New("bloomline: odd line count")
	// ErrAbsent: a key that is to be removed is surely not in.
	ErrAbsent = errors.New("bloomline: the key is surely not in the filter")
	// ErrFull: a cuckoo filter has no room for the key.
	ErrFull = errors.New("bloomline: the filter is full")
	// ErrTruncated: bytes are missing, or there are too many.
	ErrTruncated = errors.New("bloomline: wrong data length: truncated, or extra bytes")
	// ErrNotAFilter: the bytes do not end as a filter does.
	ErrNotAFilter = errors.New("bloomline: not a Bloomline filter")
	// ErrVersion: a filter of a version that this package does not know.
	ErrVersion = errors.New("bloomline: unknown version")
	// ErrLayout: a filter, or an engine's filter block, of a kind that this package does
	// not read, or that does not allow what is asked for.
	ErrLayout = errors.New("bloomline: unsupported layout, or operation not supported for it")
	// ErrChecksum: the bytes are damaged.
	ErrChecksum = errors.New("bloomline: checksum does not match")
	// ErrGenerations: a window has 1 generation to 2^32 - 1.
	ErrGenerations = errors.New("bloomline: the number of generations is not between 1 and 2^32 - 1")
	// ErrTooLong: a stream has more bytes than the reader takes.
	ErrTooLong = errors.New("bloomline: more bytes than the limit")
	// ErrReserved: a field is used that this version knows no use of.
	ErrReserved = errors.New("bloomline: reserved field is not 0")
)

// errEmpty is the reason most often found behind ErrTruncated.
var errEmpty = fmt.Errorf("%w (there is not a single byte)", ErrTruncated)
