package bloomline

// The bytes and files of all kinds: what is written is read again, whole or not at all.

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/bloomline/bloomline/go/internal/format"
)

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestKindsBinary(t *testing.T) {
	asked := randomHashes(20, 5)
	for name, filter := range trusted(t) {
		data := orPanic(filter.MarshalBinary())
		if appended, err := filter.AppendBinary([]byte("before")); err != nil || string(appended) != "before"+string(data) {
			t.Errorf("%s: append: %v", name, err)
		}
		var stream bytes.Buffer
		if n, err := filter.WriteTo(&stream); err != nil || n != int64(len(data)) || !bytes.Equal(stream.Bytes(), data) {
			t.Errorf("%s: write: %d, %v", name, n, err)
		}
		if _, err := filter.WriteTo(failing{}); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%s: write: %v", name, err)
		}
		back := fresh(filter)
		must(back.UnmarshalBinary(data))
		holds(t, name, back, filter)
		// What fails leaves everything as it was.
		rejected := func(what string, at int, data []byte) {
			if back.UnmarshalBinary(data) == nil || second(OpenView(data)) == nil {
				t.Fatalf("%s, %s %d: accepted", name, what, at)
			}
			// Where only the footer is looked at, any lines are probed, within their bytes.
			if view, err := OpenViewUnverified(data); err == nil {
				view.ContainsHashes(asked, nil)
			}
		}
		for cut := range data {
			rejected("cut to", cut, data[:cut])
			rejected("cut after", cut, data[cut+1:])
		}
		for bit := range 8 * len(data) {
			data[bit/8] ^= 1 << (bit % 8)
			rejected("bit", bit, data)
			data[bit/8] ^= 1 << (bit % 8)
		}
		if _, err := back.ReadFrom(iotest.ErrReader(io.ErrUnexpectedEOF)); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: read: %v", name, err)
		}
		holds(t, name+" after what was rejected", back, filter)
	}
}

// The kinds are not mixed up in files. The lines of a counting filter are a plain one, and shared ones are
// written as such.
func TestKindsOfFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "filter")
	viewed := []uint16{1, 2, 6, 7, 8, 11}
	for name, filter := range trusted(t) {
		must(filter.(interface{ Save(string) error }).Save(path))
		data := orPanic(filter.MarshalBinary())
		layout := le.Uint16(data[len(data)-footerBytes+format.AtLayout:])
		for _, row := range kindRows {
			var want error
			if !slices.Contains(row.layouts, layout) {
				want = ErrLayout
			}
			loaded, err := row.load(path)
			if !errors.Is(err, want) || want == nil && err != nil {
				t.Errorf("%s as %s: %v", name, row.name, err)
			} else if row.name == name {
				holds(t, name+" loaded", loaded.(anyKind), filter)
			}
		}
		mapped, err := Open(path)
		if views := slices.Contains(viewed, layout); views != (err == nil) {
			t.Errorf("%s mapped: %v", name, err)
		} else if views {
			if !mapped.ContainsString("apple") || mapped.ContainsString("quince") {
				t.Errorf("%s mapped: other answers", name)
			}
			must(mapped.Close())
		}
	}
}

func TestKindsAtAnyAddress(t *testing.T) {
	asked := append(randomHashes(200, 4), randomHashes(200, 5)...)
	for name, filter := range trusted(t) {
		data, probed := orPanic(filter.MarshalBinary()), filter.(Prober)
		for offset := range 64 {
			view, err := OpenView(append(make([]byte, offset), data...)[offset:])
			if errors.Is(err, ErrLayout) {
				break // it has none
			}
			must(err)
			answers := view.ContainsHashes(asked, nil)
			for i, hash := range asked {
				if answers.Has(i) != probed.ContainsHash(hash) || view.ContainsHash(hash) != answers.Has(i) {
					t.Fatalf("%s, offset %d, hash %x", name, offset, hash)
				}
			}
		}
	}
}

// What is read may stay in the memory of its bytes, but not a part of it, for which all of that would stay.
func TestPartsDoNotHoldTheWhole(t *testing.T) {
	hashes := randomHashes(900, 8)
	filter, counting, scalable := mustNew(t, 900, 0.01), orPanic(NewCounting(900, 0.01)), orPanic(NewScalable(100, 0.01))
	filter.AddHashes(hashes)
	counting.AddHashes(hashes)
	scalable.AddHashes(hashes)
	plain, shared, detached, cleared, only := new(Filter), new(ConcurrentFilter), new(CountingFilter), new(ScalableFilter), new(ScalableFilter)
	counted := new(CountingFilter)
	for _, part := range []struct {
		name  string
		from  storedKind
		into  kind
		lines func() []line
		stays bool
	}{
		{"a plain filter", filter, plain, func() []line { return plain.view.all }, true},
		{"the only stage", orPanic(NewScalable(9, 0.1)), only, func() []line { return only.stages[0].filter.view.all }, true},
		{"a plain filter of a counting one", counting, plain, func() []line { return plain.view.all }, false},
		{"a shared filter of a counting one", counting, shared, func() []line { return shared.view.all }, false},
		{"the lines of a counting filter", counting, counted, func() []line { return counted.filter.view.all }, true},
		{"the counters of a counting filter", counting, counted, func() []line { return linesOf(counted.counters) }, true},
		{"a counting filter, detached", counting, detached, func() []line { return detached.Detach().view.all }, false},
		{"a scalable filter, cleared", scalable, cleared, func() []line { cleared.Clear(); return cleared.stages[0].filter.view.all }, false},
	} {
		data := orPanic(part.from.MarshalBinary())
		must(unmarshal(data, part.into, true))
		lines := part.lines()
		before := lines[0]
		for i := range data {
			data[i] ^= 1
		}
		if stays := lines[0] != before; stays != part.stays {
			t.Errorf("%s is in the memory of all: %v", part.name, stays)
		}
	}
}
