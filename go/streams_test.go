package bloomline

// Filters of all kinds in streams: one behind the other, with limits, and of any bytes.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"testing"
	"testing/iotest"
)

// Filters one behind the other in a stream that stays open.
func TestDelimited(t *testing.T) {
	filters := trusted(t)
	names := slices.Sorted(maps.Keys(filters))
	reader, writer := io.Pipe()
	defer writer.Close() // after all is read: nothing waits for it
	go func() {
		for _, name := range names {
			if _, err := filters[name].WriteDelimited(writer); err != nil {
				t.Error(name, err)
			}
			fmt.Fprint(writer, "between")
		}
	}()
	for _, name := range names {
		back := fresh(filters[name])
		data, _ := filters[name].MarshalBinary()
		n, err := back.ReadDelimited(reader, int64(len(data)))
		if err != nil || n != int64(8+len(data)) {
			t.Fatalf("%s: %d bytes, %v", name, n, err)
		}
		holds(t, name+" in a stream", back, filters[name])
		var between [7]byte
		if _, err := io.ReadFull(reader, between[:]); err != nil || string(between[:]) != "between" {
			t.Fatalf("%s: %q follows, %v", name, between, err)
		}
	}
}

func TestDelimitedErrors(t *testing.T) {
	for name, filter := range trusted(t) {
		var stream bytes.Buffer
		n, err := filter.WriteDelimited(&stream)
		data, _ := filter.MarshalBinary()
		whole := stream.Bytes()
		if err != nil || n != int64(len(whole)) || le.Uint64(whole) != uint64(len(data)) || !bytes.Equal(whole[8:], data) {
			t.Fatalf("%s: %d bytes, %v", name, n, err)
		}
		if _, err := fresh(filter).WriteDelimited(io.Discard); !errors.Is(err, ErrNoLines) {
			t.Errorf("%s, zero: %v", name, err)
		}
		back := cloneOf(filter)
		read := func(data []byte, limit int64) error {
			n, err := back.ReadDelimited(bytes.NewReader(data), limit)
			if n < 0 || n > int64(len(data)) {
				t.Errorf("%s: %d of %d bytes", name, n, len(data))
			}
			return err
		}
		for cut := range whole {
			want := io.ErrUnexpectedEOF
			if cut == 0 {
				want = io.EOF
			}
			if err := read(whole[:cut], 1<<20); err != want {
				t.Fatalf("%s cut to %d of %d: %v", name, cut, len(whole), err)
			}
		}
		for _, limit := range []int64{int64(len(data)) - 1, 0, -1} {
			if err := read(whole, limit); !errors.Is(err, ErrTooLong) {
				t.Errorf("%s, limit %d: %v", name, limit, err)
			}
		}
		whole[8] ^= 1
		if err := read(whole, 1<<20); err == nil {
			t.Errorf("%s: damage is not found", name)
		}
		holds(t, name+" after errors", back, filter)
	}
}

// zeros is a stream of so many zeros that counts what is taken.
type zeros struct{ left, taken int64 }

func (z *zeros) Read(into []byte) (int, error) {
	n := min(int64(len(into)), z.left)
	if n == 0 {
		return 0, io.EOF
	}
	z.left, z.taken = z.left-n, z.taken+n
	clear(into[:n])
	return int(n), nil
}

// Lengths that a stream only claims cost no memory, and a stream without end has one.
func TestStreamLimits(t *testing.T) {
	var before, after runtime.MemStats
	for name, filter := range trusted(t) {
		back := cloneOf(filter)
		runtime.ReadMemStats(&before)
		header := le.AppendUint64(nil, min(1<<40, uint64(maxLen))) // what an int holds
		if _, err := back.ReadDelimited(io.MultiReader(bytes.NewReader(header), &zeros{left: 100}), 1<<50); err != io.ErrUnexpectedEOF {
			t.Errorf("%s: %v", name, err)
		}
		if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 1<<20 {
			t.Errorf("%s: 100 bytes that claim to be 2^40 take %d", name, after.TotalAlloc-before.TotalAlloc)
		}
		stream := &zeros{left: 1 << 40}
		if n, err := back.ReadFrom(io.LimitReader(stream, 1000)); err == nil || n != 1000 || stream.taken > 1000 || !errors.Is(err, ErrTooLong) {
			t.Errorf("%s, limited: %d bytes, %v", name, n, err)
		}
		holds(t, name, back, filter)
	}
	stream := &zeros{left: 1 << 40}
	if _, err := new(Filter).ReadFrom(stream); !errors.Is(err, ErrTooLong) || stream.taken != DefaultReadLimit+1 {
		t.Errorf("%d bytes of zeros were taken: %v", stream.taken, err)
	}
}

// ReadFrom of what has an end looks there first, and of anything else reads all.
func TestReadFrom(t *testing.T) {
	for name, filter := range trusted(t) {
		data, _ := filter.MarshalBinary()
		for kind, reader := range map[string]io.Reader{
			"bytes":       bytes.NewReader(data),
			"buffer":      bytes.NewBuffer(bytes.Clone(data)),
			"one by one":  iotest.OneByteReader(bytes.NewReader(data)),
			"data at EOF": iotest.DataErrReader(bytes.NewReader(data)),
			"limited":     io.LimitReader(bytes.NewReader(data), int64(len(data))),
			"section":     io.NewSectionReader(bytes.NewReader(append([]byte("xx"), data...)), 2, int64(len(data))),
		} {
			back := fresh(filter)
			if n, err := back.ReadFrom(reader); err != nil || n != int64(len(data)) {
				t.Errorf("%s from %s: %d bytes, %v", name, kind, n, err)
			}
			holds(t, name+" from "+kind, back, filter)
		}
		wrong := bytes.NewReader(make([]byte, 1<<20))
		if n, err := fresh(filter).ReadFrom(wrong); !errors.Is(err, ErrNotAFilter) || n != 0 || wrong.Len() != 1<<20 {
			t.Errorf("%s: %d bytes of zeros were read: %v", name, n, err)
		}
	}
}

// Streams of any bytes, for all kinds: what is accepted is written again as it was, in all forms.
func FuzzStreams(f *testing.F) {
	kinds := []anyKind{new(Filter), new(ConcurrentFilter), new(CountingFilter), new(CuckooFilter), new(ScalableFilter), new(Window), new(StaticFilter)}
	params := Params{LineCount: 2, K: 6}
	plain, _ := NewWithParams(params)
	counting, _ := NewCountingWithParams(params)
	cuckoo, _ := NewCuckooWithParams(CuckooParams{LineCount: 2, FingerprintBits: 12})
	scalable, _ := NewScalable(1, 0.1)
	window, _ := NewWindowWithParams(2, params)
	static, _ := BuildStaticWithParams(StaticParams{LineCount: 1, Rows: 8}, splitMix(100, 1), 1)
	for _, filter := range []anyKind{plain, counting, cuckoo, scalable, window, static} {
		var stream bytes.Buffer
		if _, err := filter.WriteDelimited(&stream); err != nil {
			f.Fatal(err)
		}
		f.Add(stream.Bytes())
		f.Add(append(stream.Bytes(), stream.Bytes()...))
		f.Add(stream.Bytes()[:len(stream.Bytes())-1])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, filter := range kinds {
			filter := fresh(filter)
			reader := bytes.NewReader(data)
			n, err := filter.ReadDelimited(reader, 1<<16)
			if n != int64(len(data)-reader.Len()) {
				t.Fatalf("%T: %d bytes were read, not %d", filter, len(data)-reader.Len(), n)
			}
			if err != nil {
				if !equal(filter, fresh(filter)) {
					t.Fatalf("%T: changed by what is no filter", filter)
				}
				continue
			}
			text, _ := filter.MarshalText()
			again := fresh(filter)
			var stream bytes.Buffer
			if err := again.UnmarshalText(text); err != nil || !equal(filter, again) {
				t.Fatalf("%T: as text: %v", filter, err)
			}
			if _, err := again.WriteDelimited(&stream); err != nil {
				t.Fatal(err)
			}
			if _, err := again.ReadDelimited(&stream, 1<<16); err != nil || !equal(filter, again) || stream.Len() != 0 {
				t.Fatalf("%T: once more: %v", filter, err)
			}
		}
	})
}
