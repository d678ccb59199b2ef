package format

import (
	"encoding/binary"
	"errors"

	"github.com/zeebo/xxh3"
)

const (
	// FooterBytes is the size of the footer.
	FooterBytes = 64
	// Version is that of the format.
	Version = 1
	// Magic is how a filter ends.
	Magic = "BLMLINE\n"

	// Where the fields of a footer are.
	AtKeyCount       = 0
	AtLineCount      = 8
	AtSeed           = 16
	AtK              = 24
	AtLayout         = 28
	AtVersion        = 30
	AtReserved       = 32
	AtLinesChecksum  = 40
	AtFooterChecksum = 48
	AtMagic          = 56

	// Lines is the layout that is lines alone. Those of other kinds stand in package bloomline.
	Lines = 1
)

// What can be wrong with bytes, and with what they are made of, as far as packages share it. Package bloomline
// exports and explains these errors.
var (
	ErrRate         = errors.New("bloomline: the false-positive rate is not between 0 and 1")
	ErrRateTooSmall = errors.New("bloomline: the false-positive rate is too small: plain filters reach 3e-24, scalable 1e-15, cuckoo 0.000116, static 2^-16")
	ErrK            = errors.New("bloomline: k is outside its range, which is 1 to 16 in a Bloom filter")
	ErrOutOfMemory  = errors.New("bloomline: out of memory")
	ErrLineCount    = errors.New("bloomline: the line count is outside 1 to 2^57 - 2 (fewer in some types of filter, and on 32 bits)")
	ErrReserved     = errors.New("bloomline: a reserved field is not zero")
	ErrTruncated    = errors.New("bloomline: wrong data length: empty, truncated, or extra bytes")
	ErrNotAFilter   = errors.New("bloomline: the data is not a Bloomline filter, or its end is missing")
	ErrVersion      = errors.New("bloomline: the filter has an unknown format version")
	ErrChecksum     = errors.New("bloomline: the filter is damaged: a checksum does not match")
)

// Footer is what a footer says, of any layout.
type Footer struct {
	KeyCount      uint64
	LineCount     uint64
	Seed          uint64
	K             uint32
	Layout        uint16
	Reserved      uint64
	LinesChecksum uint64
}

var le = binary.LittleEndian

// Read returns what the footer at the end of data says: the rules that do not depend on the layout. What is
// before it is not looked at.
func Read(data []byte) (f Footer, err error) {
	if len(data) < FooterBytes {
		return f, ErrTruncated
	}
	at := data[len(data)-FooterBytes:]
	switch {
	case string(at[AtMagic:]) != Magic:
		return f, ErrNotAFilter
	case le.Uint16(at[AtVersion:]) != Version:
		return f, ErrVersion
	case le.Uint64(at[AtFooterChecksum:]) != xxh3.Hash(at[:AtFooterChecksum]):
		return f, ErrChecksum
	}
	return Footer{
		KeyCount:      le.Uint64(at[AtKeyCount:]),
		LineCount:     le.Uint64(at[AtLineCount:]),
		Seed:          le.Uint64(at[AtSeed:]),
		K:             le.Uint32(at[AtK:]),
		Layout:        le.Uint16(at[AtLayout:]),
		Reserved:      le.Uint64(at[AtReserved:]),
		LinesChecksum: le.Uint64(at[AtLinesChecksum:]),
	}, nil
}

// Bytes is the footer as it is written.
func (f *Footer) Bytes() []byte {
	at := make([]byte, FooterBytes)
	le.PutUint64(at[AtKeyCount:], f.KeyCount)
	le.PutUint64(at[AtLineCount:], f.LineCount)
	le.PutUint64(at[AtSeed:], f.Seed)
	le.PutUint32(at[AtK:], f.K)
	le.PutUint16(at[AtLayout:], f.Layout)
	le.PutUint16(at[AtVersion:], Version)
	le.PutUint64(at[AtReserved:], f.Reserved)
	le.PutUint64(at[AtLinesChecksum:], f.LinesChecksum)
	le.PutUint64(at[AtFooterChecksum:], xxh3.Hash(at[:AtFooterChecksum]))
	copy(at[AtMagic:], Magic)
	return at
}
