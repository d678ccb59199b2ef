package bloomline

// The format of filters: lines, then a footer of 64 bytes, as docs/FORMAT.md of the project
// has it.

import "io"

const (
	footerBytes = 64
	layoutLines = 1
	version     = 1
	magic       = "BLMLINE\n"

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

func checksum(bytes []byte) uint64 {
	return Hash(bytes, 0)
}

// parse is what a reader does, in the order that the page demands.
func parse(data []byte, verify bool) (View, error) {
	if len(data) < footerBytes {
		return View{}, ErrTruncated
	}
	bytes, footer := data[:len(data)-footerBytes], data[len(data)-footerBytes:]
	switch {
	case string(footer[atMagic:]) != magic:
		return View{}, ErrNotAFilter
	case le.Uint16(footer[atVersion:]) != version:
		return View{}, ErrVersion
	case le.Uint64(footer[atFooterChecksum:]) != checksum(footer[:atFooterChecksum]):
		return View{}, ErrChecksum
	case le.Uint16(footer[atLayout:]) != layoutLines:
		return View{}, ErrLayout
	case le.Uint64(footer[atReserved:]) != 0:
		return View{}, ErrReserved
	}
	k := le.Uint32(footer[atK:])
	if k < 1 || k > maxK {
		return View{}, ErrK
	}
	params := Params{
		LineCount: le.Uint64(footer[atLineCount:]),
		K:         int(k),
		Seed:      le.Uint64(footer[atSeed:]),
	}
	if err := params.check(); err != nil {
		return View{}, err
	}
	if uint64(len(bytes)) != params.Bytes() {
		return View{}, ErrTruncated
	}
	if verify && le.Uint64(footer[atLinesChecksum:]) != checksum(bytes) {
		return View{}, ErrChecksum
	}
	return View{
		lines:    lines{linesOf(bytes), params.K},
		seed:     params.Seed,
		keyCount: le.Uint64(footer[atKeyCount:]),
	}, nil
}

// footer is what goes behind the lines.
func (f *Filter) footer() [footerBytes]byte {
	var footer [footerBytes]byte
	le.PutUint64(footer[atKeyCount:], f.view.keyCount)
	le.PutUint64(footer[atLineCount:], uint64(len(f.view.all)))
	le.PutUint64(footer[atSeed:], f.view.seed)
	le.PutUint32(footer[atK:], uint32(f.view.k))
	le.PutUint16(footer[atLayout:], layoutLines)
	le.PutUint16(footer[atVersion:], version)
	le.PutUint64(footer[atLinesChecksum:], checksum(bytesOf(f.view.all)))
	le.PutUint64(footer[atFooterChecksum:], checksum(footer[:atFooterChecksum]))
	copy(footer[atMagic:], magic)
	return footer
}

// copyOf is a filter of its own with the lines of a view.
func copyOf(view View) (*Filter, error) {
	params, _ := view.Params()
	filter, err := NewWithParams(params)
	if err != nil {
		return nil, err
	}
	copy(filter.view.all, view.all)
	filter.view.keyCount = view.keyCount
	return filter, nil
}

// AppendBinary appends the encoded filter to data, as [encoding.BinaryAppender]. The zero
// Filter has no encoded form: [ErrLineCount].
func (f *Filter) AppendBinary(data []byte) ([]byte, error) {
	if len(f.view.all) == 0 {
		return data, ErrLineCount
	}
	footer := f.footer()
	return append(append(data, bytesOf(f.view.all)...), footer[:]...), nil
}

// MarshalBinary returns the encoded filter, as [encoding.BinaryMarshaler]. It is the format of
// the C library, and of all languages that Bloomline is used from.
func (f *Filter) MarshalBinary() ([]byte, error) {
	return f.AppendBinary(make([]byte, 0, len(f.view.all)*lineBytes+footerBytes))
}

// UnmarshalBinary makes this the filter that data encodes, as [encoding.BinaryUnmarshaler].
// All of it is checked, and copied.
//
// Errors: those of [OpenView]; the filter is then as before.
func (f *Filter) UnmarshalBinary(data []byte) error {
	view, err := OpenView(data)
	if err != nil {
		return err
	}
	filter, err := copyOf(view)
	if err != nil {
		return err
	}
	*f = *filter
	return nil
}

// WriteTo writes the encoded filter, as [io.WriterTo]: the bytes of [Filter.MarshalBinary]
// without a copy of the lines.
func (f *Filter) WriteTo(w io.Writer) (int64, error) {
	if len(f.view.all) == 0 {
		return 0, ErrLineCount
	}
	footer := f.footer()
	n, err := w.Write(bytesOf(f.view.all))
	if err != nil {
		return int64(n), err
	}
	m, err := w.Write(footer[:])
	return int64(n) + int64(m), err
}

// ReadFrom makes this the filter that r holds, as [io.ReaderFrom]. It reads r to its end,
// since what the bytes are stands at their end.
//
// Errors: those of [OpenView], and of r; the filter is then as before.
func (f *Filter) ReadFrom(r io.Reader) (int64, error) {
	data, err := io.ReadAll(r)
	if err == nil {
		err = f.UnmarshalBinary(data)
	}
	return int64(len(data)), err
}
