package bloomline

// The format of filters: lines, in layout 2 their counters, then a footer of 64 bytes, as
// docs/FORMAT.md of the project has it.

import (
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/bloomline/bloomline/go/internal/format"
	"github.com/bloomline/bloomline/go/internal/growing"
)

const (
	footerBytes   = format.FooterBytes
	classicNumber = 6
)

// layout is what is before a footer. Kinds that are not plain have theirs in their files.
type layout struct {
	number uint16
	// bodyLen is how long it has to be, which nobody has looked at yet: what stands in a footer is checked
	// before memory is taken for it. It returns what is wrong with a footer that says what none can.
	bodyLen func(f footer) (uint64, error)
}

var (
	layoutLines   = layout{format.Lines, func(f footer) (uint64, error) { return f.linesLen() }}
	layoutClassic = layout{classicNumber, layoutLines.bodyLen} // bits anywhere in them
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
	return Params{LineCount: f.LineCount, K: int(f.K), Classic: f.Layout == classicNumber, Seed: f.Seed}
}

func (f *footer) cuckooParams() CuckooParams {
	return CuckooParams{LineCount: f.LineCount, FingerprintBits: int(f.K), Seed: f.Seed}
}

// linesLen is the length of lines alone.
func (f *footer) linesLen() (uint64, error) {
	return f.eachLen(lineBytes, f.params().checkRead())
}

// eachLen is so many bytes for each line, where the reserved field is zero, or what is wrong with the rest.
func (f *footer) eachLen(each uint64, err error) (uint64, error) {
	if f.Reserved != 0 {
		return 0, ErrReserved
	}
	return f.LineCount * each, err
}

// bodyLen is that of the layout of these which the footer names.
func (f *footer) bodyLen(layouts []layout) (uint64, error) {
	for _, each := range layouts {
		if each.number == f.Layout {
			return each.bodyLen(*f)
		}
	}
	return 0, ErrLayout
}

func (f *footer) check(body uint64, layouts []layout) error {
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
	layouts() []layout
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
var viewLayouts = []layout{layoutLines, layoutCounting, layoutCuckoo, layoutClassic, layoutStatic, layoutGrowing}

// viewLen is bodyLen of these, by direct calls: a block of a table is opened for each probe.
func (f *footer) viewLen() (uint64, error) {
	switch f.Layout {
	case layoutLines.number, classicNumber:
		return f.linesLen()
	case layoutStatic.number:
		return f.staticLen()
	case layoutCuckoo.number:
		return f.cuckooLen()
	case layoutCounting.number:
		return f.countingLen()
	case layoutGrowing.number:
		return growing.BodyLen(format.Footer(*f))
	}
	return 0, ErrLayout
}

// openView opens whatever a view can probe.
func openView(data []byte, verify bool) (View, error) {
	body, f, err := readFooter(data)
	if err != nil {
		return View{}, err
	}
	if size, err := f.viewLen(); err != nil {
		return View{}, err
	} else if size != uint64(len(body)) {
		return View{}, ErrTruncated
	}
	if f.Layout == layoutStatic.number {
		if verify && f.LinesChecksum != checksum(body) {
			return View{}, ErrChecksum
		}
		return View{static: f.static(), encoded: data, seed: f.Seed, keyCount: f.KeyCount}, nil
	}
	if f.Layout == layoutGrowing.number {
		set, err := growing.Open(format.Footer(f), body, verify)
		if err != nil {
			return View{}, err
		}
		return View{growing: growing.Of(set), seed: f.Seed, keyCount: f.KeyCount}, nil
	}
	p, err := f.parts(body, verify)
	if err != nil {
		return View{}, err
	}
	view := View{seed: p.Seed, keyCount: p.KeyCount}
	if p.Layout == layoutCuckoo.number {
		view.cuckoo = cuckooLines{linesOf(p.lines), slotSizeOf(int(p.K))}
	} else {
		view.lines = linesWith(linesOf(p.lines), int(p.K), p.Layout == layoutClassic.number)
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
		lines:    linesWith(all, int(p.K), p.Layout == layoutClassic.number),
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
	of := layoutLines
	if f.view.classic {
		of = layoutClassic
	}
	return encode(f.footer(of), bytesOf(f.view.all))
}

func (f filterData) footer(of layout) footer {
	return footer{
		KeyCount:  f.view.keyCount,
		LineCount: uint64(len(f.view.all)),
		Seed:      f.view.seed,
		K:         uint32(f.view.k),
		Layout:    of.number,
	}
}

func (f *Filter) decode(body []byte, footer footer, keep bool) error {
	p, err := footer.parts(body, true)
	if err != nil {
		return err
	}
	// The counters of a counting filter would stay in memory with the lines.
	filter, err := p.newFilter(keep && len(p.counters) == 0)
	if err != nil {
		return err
	}
	f.filterData = filter.filterData
	return nil
}
