package bloomline

// The format of filters: lines, in layout 2 their counters, then a footer of 64 bytes, as
// docs/FORMAT.md of the project has it.

import (
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/bloomline/bloomline/go/internal/format"
)

const (
	footerBytes = format.FooterBytes

	// Layouts: what is before the footer.
	layoutLines    = format.Lines
	layoutCounting = 2  // the same, and behind them a counter of 4 bits for each of their bits
	layoutScalable = 3  // the lines of all stages, and behind them a record for each
	layoutWindow   = 4  // the lines of all generations, and behind them their state
	layoutClassic  = 6  // bits anywhere
	layoutCuckoo   = 7  // lines of fingerprints
	layoutStatic   = 8  // lines of solutions, in levels
	layoutCascade  = 9  // the lines of all layers, and behind them a record for each
	layoutMatrix   = 10 // lines of many filters transposed, and behind them names and checksums
)

// footer is what a footer says, and below what it means in each layout.
type footer format.Footer

func checksum(bytes []byte) uint64 {
	return Hash(bytes, 0)
}

// readFooter returns what is before the footer, which has not been looked at, and what the footer says.
func readFooter(data []byte) (body []byte, f footer, err error) {
	read, err := format.Read(data)
	if err != nil {
		return nil, f, err
	}
	return data[:len(data)-footerBytes], footer(read), nil
}

func (f *footer) bytes() []byte {
	return (*format.Footer)(f).Bytes()
}

func (f *footer) params() Params {
	return Params{LineCount: f.LineCount, K: int(f.K), Classic: f.Layout == layoutClassic, Seed: f.Seed}
}

func (f *footer) cuckooParams() CuckooParams {
	return CuckooParams{LineCount: f.LineCount, FingerprintBits: int(f.K), Seed: f.Seed}
}

// bodyLen is how long what is before the footer has to be, which nobody has looked at yet: what
// stands in a footer is checked before memory is taken for it. It returns what is wrong with a
// footer that says what none can.
func (f *footer) bodyLen(layouts []uint16) (uint64, error) {
	if !slices.Contains(layouts, f.Layout) {
		return 0, ErrLayout
	}
	switch f.Layout {
	case layoutScalable:
		return f.scalableLen()
	case layoutWindow:
		return f.windowLen()
	case layoutStatic:
		return f.staticLen()
	case layoutCascade:
		return f.cascadeLen()
	case layoutMatrix:
		return f.matrixLen()
	}
	if f.Reserved != 0 {
		return 0, ErrReserved
	}
	switch f.Layout {
	case layoutCounting:
		return f.LineCount * (lineBytes + counterBytes), f.params().checkCounting()
	case layoutCuckoo:
		return f.LineCount * lineBytes, f.cuckooParams().checkRead()
	}
	return f.LineCount * lineBytes, f.params().checkRead()
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
	lines := f.LineCount * lineBytes
	p := parts{f, body[:lines], body[lines:]}
	if verify && (f.LinesChecksum != checksum(body) || !agree(p.lines, p.counters)) {
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
	if f.Layout == layoutStatic {
		if verify && f.LinesChecksum != checksum(body) {
			return View{}, ErrChecksum
		}
		return View{static: f.static(), encoded: data, seed: f.Seed, keyCount: f.KeyCount}, nil
	}
	p, err := f.parts(body, verify)
	if err != nil {
		return View{}, err
	}
	view := View{seed: p.Seed, keyCount: p.KeyCount}
	if p.Layout == layoutCuckoo {
		view.cuckoo = cuckooLines{linesOf(p.lines), slotSizeOf(int(p.K))}
	} else {
		view.lines = linesWith(linesOf(p.lines), int(p.K), p.Layout == layoutClassic)
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
		lines:    linesWith(all, int(p.K), p.Layout == layoutClassic),
		seed:     p.Seed,
		keyCount: p.KeyCount,
	}
	return filter, nil
}

// ---- writing ----

// encoded is an encoded filter in pieces that follow each other, the footer last, or why there is none:
// [ErrNoLines] of the zero filters, which have no lines and no encoded form.
type encoded struct {
	pieces [][]byte
	err    error
}

// encode puts the footer behind the pieces of a body.
func encode(f footer, body ...[]byte) encoded {
	if f.LineCount == 0 {
		return encoded{err: ErrNoLines}
	}
	f.LinesChecksum = checksumOf(body)
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
		KeyCount:  f.view.keyCount,
		LineCount: uint64(len(f.view.all)),
		Seed:      f.view.seed,
		K:         uint32(f.view.k),
		Layout:    layout,
	}
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
