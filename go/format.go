package bloomline

// The format of filters: lines, in layout 2 their counters, then a footer of 64 bytes, as
// docs/FORMAT.md of the project has it.

import (
	"encoding"
	"io"
	"slices"
)

const (
	footerBytes = 64
	version     = 1
	magic       = "BLMLINE\n"

	// What is before the footer.
	layoutLines    = 1
	layoutCounting = 2 // the same, and behind them a counter of 4 bits for each of their bits
	layoutCuckoo   = 7 // lines of fingerprints
	layoutClassic  = 6 // bits anywhere

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

// footer is what a footer says, of any layout.
type footer struct {
	keyCount      uint64
	lineCount     uint64
	seed          uint64
	k             uint32
	layout        uint16
	reserved      uint64
	linesChecksum uint64
}

func checksum(bytes []byte) uint64 {
	return Hash(bytes, 0)
}

// readFooter returns what is before the footer, and what the footer says: the rules that do
// not depend on the layout. What is before it has not been looked at.
func readFooter(data []byte) (body []byte, f footer, err error) {
	if len(data) < footerBytes {
		return nil, f, ErrTruncated
	}
	body, at := data[:len(data)-footerBytes], data[len(data)-footerBytes:]
	switch {
	case string(at[atMagic:]) != magic:
		return nil, f, ErrNotAFilter
	case le.Uint16(at[atVersion:]) != version:
		return nil, f, ErrVersion
	case le.Uint64(at[atFooterChecksum:]) != checksum(at[:atFooterChecksum]):
		return nil, f, ErrChecksum
	}
	return body, footer{
		keyCount:      le.Uint64(at[atKeyCount:]),
		lineCount:     le.Uint64(at[atLineCount:]),
		seed:          le.Uint64(at[atSeed:]),
		k:             le.Uint32(at[atK:]),
		layout:        le.Uint16(at[atLayout:]),
		reserved:      le.Uint64(at[atReserved:]),
		linesChecksum: le.Uint64(at[atLinesChecksum:]),
	}, nil
}

// bytes is the footer as it is written.
func (f *footer) bytes() []byte {
	at := make([]byte, footerBytes)
	le.PutUint64(at[atKeyCount:], f.keyCount)
	le.PutUint64(at[atLineCount:], f.lineCount)
	le.PutUint64(at[atSeed:], f.seed)
	le.PutUint32(at[atK:], f.k)
	le.PutUint16(at[atLayout:], f.layout)
	le.PutUint16(at[atVersion:], version)
	le.PutUint64(at[atReserved:], f.reserved)
	le.PutUint64(at[atLinesChecksum:], f.linesChecksum)
	le.PutUint64(at[atFooterChecksum:], checksum(at[:atFooterChecksum]))
	copy(at[atMagic:], magic)
	return at
}

func (f *footer) params() Params {
	return Params{LineCount: f.lineCount, K: int(f.k), Seed: f.seed}
}

func (f *footer) cuckooParams() CuckooParams {
	return CuckooParams{LineCount: f.lineCount, FingerprintBits: int(f.k), Seed: f.seed}
}

// check returns what is wrong with the shape.
func (f *footer) check() error {
	switch f.layout {
	case layoutCounting:
		return f.params().checkCounting()
	case layoutCuckoo:
		return f.cuckooParams().check()
	default:
		return f.params().check()
	}
}

// ---- reading ----

// parts is an encoded filter, taken apart.
type parts struct {
	footer
	lines    []byte
	counters []byte // none but in layout 2
}

// parse is what a reader does of filters of these layouts, in the order that the page demands.
func parse(data []byte, verify bool, layouts ...uint16) (parts, error) {
	body, footer, err := readFooter(data)
	switch {
	case err != nil:
		return parts{}, err
	case !slices.Contains(layouts, footer.layout):
		return parts{}, ErrLayout
	case footer.reserved != 0:
		return parts{}, ErrReserved
	}
	if err := footer.check(); err != nil {
		return parts{}, err
	}
	lines := footer.lineCount * lineBytes
	size := lines
	if footer.layout == layoutCounting {
		size += footer.lineCount * counterBytes
	}
	if uint64(len(body)) != size {
		return parts{}, ErrTruncated
	}
	p := parts{footer, body[:lines], body[lines:]}
	if verify && (footer.linesChecksum != checksum(body) || !agree(p.lines, p.counters)) {
		return parts{}, ErrChecksum
	}
	return p, nil
}

// openView opens whatever a view can probe.
func openView(data []byte, verify bool) (View, error) {
	p, err := parse(data, verify, layoutLines, layoutCounting, layoutCuckoo, layoutClassic)
	if err != nil {
		return View{}, err
	}
	view := View{seed: p.seed, keyCount: p.keyCount}
	if p.layout == layoutCuckoo {
		view.cuckoo = cuckooLines{linesOf(p.lines), slotSizeOf(int(p.k))}
	} else {
		view.lines = lines{linesOf(p.lines), int(p.k), p.layout == layoutClassic}
	}
	return view, nil
}

// newFilter is a filter with a copy of the lines.
func (p *parts) newFilter() (*Filter, error) {
	filter, err := NewWithParams(p.params())
	if err != nil {
		return nil, err
	}
	copy(bytesOf(filter.view.all), p.lines)
	filter.view.classic = p.layout == layoutClassic
	filter.view.keyCount = p.keyCount
	return filter, nil
}

// readFrom is the ReadFrom of all filters.
func readFrom(r io.Reader, into encoding.BinaryUnmarshaler) (int64, error) {
	data, err := io.ReadAll(r)
	if err == nil {
		err = into.UnmarshalBinary(data)
	}
	return int64(len(data)), err
}

// ---- writing ----

// encoded is an encoded filter in pieces that follow each other, the footer last. The zero
// filters, which have no lines and no encoded form, have no pieces.
type encoded [][]byte

// encode puts the footer behind the pieces of a body.
func encode(f footer, body ...[]byte) encoded {
	if f.lineCount == 0 {
		return nil
	}
	f.linesChecksum = checksumOf(body)
	return append(body, f.bytes())
}

func (e encoded) appendTo(data []byte) ([]byte, error) {
	if e == nil {
		return data, ErrLineCount
	}
	size := 0
	for _, piece := range e {
		size += len(piece)
	}
	data = slices.Grow(data, size)
	for _, piece := range e {
		data = append(data, piece...)
	}
	return data, nil
}

func (e encoded) writeTo(w io.Writer) (written int64, err error) {
	if e == nil {
		return 0, ErrLineCount
	}
	for _, piece := range e {
		n, err := w.Write(piece)
		written += int64(n)
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// ---- plain filters ----

func (f *Filter) encoded() encoded {
	layout := uint16(layoutLines)
	if f.view.classic {
		layout = layoutClassic
	}
	return encode(f.footer(layout), bytesOf(f.view.all))
}

func (f *Filter) footer(layout uint16) footer {
	return footer{
		keyCount:  f.view.keyCount,
		lineCount: uint64(len(f.view.all)),
		seed:      f.view.seed,
		k:         uint32(f.view.k),
		layout:    layout,
	}
}

// AppendBinary appends the encoded filter to data, as [encoding.BinaryAppender]. The zero
// Filter has no encoded form: [ErrLineCount].
func (f *Filter) AppendBinary(data []byte) ([]byte, error) {
	return f.encoded().appendTo(data)
}

// MarshalBinary returns the encoded filter, as [encoding.BinaryMarshaler]. It is the format of
// the C library, and of all languages that Bloomline is used from.
func (f *Filter) MarshalBinary() ([]byte, error) {
	return f.AppendBinary(nil)
}

// UnmarshalBinary makes this the filter that data encodes, as [encoding.BinaryUnmarshaler].
// All of it is checked, and copied. Of a [CountingFilter] it is the plain filter of its keys.
//
// Errors: those of [OpenView], [ErrLayout] also for a [CuckooFilter]; the filter is then as
// before.
func (f *Filter) UnmarshalBinary(data []byte) error {
	p, err := parse(data, true, layoutLines, layoutCounting, layoutClassic)
	if err != nil {
		return err
	}
	filter, err := p.newFilter()
	if err != nil {
		return err
	}
	*f = *filter
	return nil
}

// WriteTo writes the encoded filter, as [io.WriterTo]: the bytes of [Filter.MarshalBinary]
// without a copy of the lines.
func (f *Filter) WriteTo(w io.Writer) (int64, error) {
	return f.encoded().writeTo(w)
}

// ReadFrom makes this the filter that r holds, as [io.ReaderFrom]. It reads r to its end,
// since what the bytes are stands at their end.
//
// Errors: those of [OpenView], and of r; the filter is then as before.
func (f *Filter) ReadFrom(r io.Reader) (int64, error) {
	return readFrom(r, f)
}
