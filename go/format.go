package bloomline

// The format of filters: lines, in layout 2 their counters, then a footer of 64 bytes, as
// docs/FORMAT.md of the project has it.

import (
	"fmt"
	"io"
	"reflect"
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
	layoutStatic   = 8 // lines of solutions, in levels

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

// bodyLen is how long what is before the footer has to be, which nobody has looked at yet: what
// stands in a footer is checked before memory is taken for it. It returns what is wrong with a
// footer that says what none can.
func (f *footer) bodyLen(layouts []uint16) (uint64, error) {
	if !slices.Contains(layouts, f.layout) {
		return 0, ErrLayout
	}
	switch f.layout {
	case layoutScalable:
		return f.scalableLen()
	case layoutWindow:
		return f.windowLen()
	case layoutStatic:
		return f.staticLen()
	case layoutCascade:
		return f.cascadeLen()
	}
	if f.reserved != 0 {
		return 0, ErrReserved
	}
	switch f.layout {
	case layoutCounting:
		return f.lineCount * (lineBytes + counterBytes), f.params().checkCounting()
	case layoutCuckoo:
		return f.lineCount * lineBytes, f.cuckooParams().check()
	}
	return f.lineCount * lineBytes, f.params().check()
}

func (f *footer) check(body uint64, layouts []uint16) error {
	size, err := f.bodyLen(layouts)
	if err == nil && size != body {
		err = ErrTruncated
	}
	return err
}

// ---- reading ----

// kind is a filter of any kind, to be read and written.
type kind interface {
	encoded() encoded
	// layouts are those that it reads.
	layouts() []uint16
	// decode makes it the filter of a body, whose footer has been checked. If it is to keep the
	// body, that is memory of [newBytes] which nobody else uses.
	decode(body []byte, f footer, keep bool) error
	// reset makes it the zero value.
	reset()
}

// unmarshal is the UnmarshalBinary of all filters.
func unmarshal(data []byte, into kind, keep bool) error {
	mustBeThere(into)
	body, f, err := readFooter(data)
	if err != nil {
		return err
	}
	if err := f.check(uint64(len(body)), into.layouts()); err != nil {
		return err
	}
	return into.decode(body, f, keep)
}

// mustBeThere panics with a message if there is nothing to read into, before anything is read.
func mustBeThere(into kind) {
	if at := reflect.ValueOf(into); at.IsNil() {
		panic(fmt.Sprintf("bloomline: decode into a nil %v", at.Type()))
	}
}

// takeLines is bytes as lines of a filter's own: themselves, or a copy.
func takeLines(bytes []byte, keep bool) ([]line, error) {
	if keep {
		count := len(bytes) / lineBytes
		return linesOf(bytes)[:count:count], nil
	}
	all, err := newLines(uint64(len(bytes) / lineBytes))
	copy(bytesOf(all), bytes)
	return all, err
}

// parts is an encoded filter, taken apart.
type parts struct {
	footer
	lines    []byte
	counters []byte // none but in layout 2
}

// parts takes a body apart whose footer has been checked.
func (f footer) parts(body []byte, verify bool) (parts, error) {
	lines := f.lineCount * lineBytes
	p := parts{f, body[:lines], body[lines:]}
	if verify && (f.linesChecksum != checksum(body) || !agree(p.lines, p.counters)) {
		return parts{}, ErrChecksum
	}
	return p, nil
}

// viewLayouts are those that a view can probe.
var viewLayouts = []uint16{layoutLines, layoutCounting, layoutCuckoo, layoutClassic, layoutStatic}

// openView opens whatever a view can probe.
func openView(data []byte, verify bool) (View, error) {
	body, f, err := readFooter(data)
	if err == nil {
		err = f.check(uint64(len(body)), viewLayouts)
	}
	if err != nil {
		return View{}, err
	}
	if f.layout == layoutStatic {
		if verify && f.linesChecksum != checksum(body) {
			return View{}, ErrChecksum
		}
		return View{static: f.static(), encoded: data, seed: f.seed, keyCount: f.keyCount}, nil
	}
	p, err := f.parts(body, verify)
	if err != nil {
		return View{}, err
	}
	view := View{seed: p.seed, keyCount: p.keyCount}
	if p.layout == layoutCuckoo {
		view.cuckoo = cuckooLines{linesOf(p.lines), slotSizeOf(int(p.k))}
	} else {
		view.lines = linesWith(linesOf(p.lines), int(p.k), p.layout == layoutClassic)
	}
	return view, nil
}

// newFilter is a filter of the lines.
func (p *parts) newFilter(keep bool) (*Filter, error) {
	all, err := takeLines(p.lines, keep)
	if err != nil {
		return nil, err
	}
	filter := new(Filter)
	filter.view = View{
		lines:    linesWith(all, int(p.k), p.layout == layoutClassic),
		seed:     p.seed,
		keyCount: p.keyCount,
	}
	return filter, nil
}

// ---- writing ----

// encoded is an encoded filter in pieces that follow each other, the footer last, or why there is none:
// [ErrLineCount] of the zero filters, which have no lines and no encoded form.
type encoded struct {
	pieces [][]byte
	err    error
}

// encode puts the footer behind the pieces of a body.
func encode(f footer, body ...[]byte) encoded {
	if f.lineCount == 0 {
		return encoded{err: ErrLineCount}
	}
	f.linesChecksum = checksumOf(body)
	return encoded{pieces: append(body, f.bytes())}
}

func (e encoded) len() (size int) {
	for _, piece := range e.pieces {
		size += len(piece)
	}
	return size
}

func (e encoded) appendTo(data []byte) ([]byte, error) {
	if e.err != nil {
		return data, e.err
	}
	size := e.len()
	if cap(data)-len(data) < size {
		if err := room(len(data) + size); err != nil {
			return data, err
		}
	}
	data = slices.Grow(data, size)
	for _, piece := range e.pieces {
		data = append(data, piece...)
	}
	return data, nil
}

func (e encoded) writeTo(w io.Writer) (written int64, err error) {
	for _, piece := range e.pieces {
		n, err := w.Write(piece)
		written += int64(n)
		if err != nil {
			return written, err
		}
	}
	return written, e.err
}

// ---- plain filters ----

func (f filterData) encoded() encoded {
	layout := uint16(layoutLines)
	if f.view.classic {
		layout = layoutClassic
	}
	return encode(f.footer(layout), bytesOf(f.view.all))
}

func (f filterData) footer(layout uint16) footer {
	return footer{
		keyCount:  f.view.keyCount,
		lineCount: uint64(len(f.view.all)),
		seed:      f.view.seed,
		k:         uint32(f.view.k),
		layout:    layout,
	}
}

func (*Filter) layouts() []uint16 {
	return []uint16{layoutLines, layoutCounting, layoutClassic}
}

func (f *Filter) decode(body []byte, footer footer, keep bool) error {
	p, err := footer.parts(body, true)
	if err != nil {
		return err
	}
	filter, err := p.newFilter(keep)
	if err != nil {
		return err
	}
	f.filterData = filter.filterData
	return nil
}
