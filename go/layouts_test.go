package bloomline

import (
	"bytes"
	"encoding"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bloomline/bloomline/go/internal/format"
)

// layoutReader is what reads bytes, and the layouts that it takes.
type layoutReader struct {
	name  string
	takes []uint16
	read  func(data []byte) error
}

type marshaled interface {
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}

// into reads into a filter that has keys, and keeps it if the bytes are refused.
func into(t *testing.T, name string, filter marshaled) func([]byte) error {
	before, _ := filter.MarshalBinary()
	return func(data []byte) error {
		err := filter.UnmarshalBinary(data)
		if err == nil {
			return filter.UnmarshalBinary(before)
		}
		if after, _ := filter.MarshalBinary(); !bytes.Equal(before, after) {
			t.Fatalf("%s: refused bytes have changed the filter: %v", name, err)
		}
		return err
	}
}

func layoutReaders(t *testing.T) []layoutReader {
	readers := []layoutReader{
		{"view", []uint16{1, 2, 6, 7, 8}, func(data []byte) error { return second(OpenView(data)) }},
		{"unverified", []uint16{1, 2, 6, 7, 8}, func(data []byte) error {
			view, err := OpenViewUnverified(data)
			if err != nil && !view.ContainsHash(1) {
				t.Fatal("what is no filter says no")
			}
			return err
		}},
	}
	all := trusted(t)
	for _, row := range kindRows {
		if filter, ok := all[row.name]; ok {
			readers = append(readers, layoutReader{row.name, row.layouts, into(t, row.name, filter)})
		}
	}
	return readers
}

// layoutSamples are small files of every layout.
var layoutSamples = []string{
	"accepted/k06", "counting/accepted/k06", "scalable/accepted/one-stage", "scalable/accepted/awkward-hashes",
	"window/accepted/key-counts-max", "cuckoo/accepted/bits12-lines3", "classic/accepted/lines003",
	"static/accepted/rows08-seed-nine", "static/accepted/rows12-one-key",
}

// offer gives bytes to all readers. Those that take the layout give want, the unverified view
// unverified, and the others elsewhere.
func offer(t *testing.T, readers []layoutReader, data []byte, layout uint16, want, unverified, elsewhere error, what string, at int) {
	t.Helper()
	for _, reader := range readers {
		expected := want
		if reader.name == "unverified" {
			expected = unverified
		}
		if !slices.Contains(reader.takes, layout) {
			expected = elsewhere
		}
		if err := reader.read(data); !errors.Is(err, expected) {
			t.Fatalf("layout %d, %s %d, %s: %v, want %v", layout, what, at, reader.name, err, expected)
		}
	}
}

// Files of every layout, whole, cut at every length, and with every bit turned, for the readers
// of all kinds.
func TestEveryLayoutDamaged(t *testing.T) {
	readers := layoutReaders(t)
	for _, name := range layoutSamples {
		data := goldenBytes(t, name+".bloomline")
		body := len(data) - footerBytes
		layout := le.Uint16(data[body+format.AtLayout:])
		offer(t, readers, data, layout, nil, nil, ErrLayout, "whole", len(data))
		for left := range len(data) {
			end, elsewhere := ErrNotAFilter, ErrLayout
			if left < footerBytes {
				end, elsewhere = ErrTruncated, ErrTruncated
			}
			offer(t, readers, data[:left], layout, end, end, end, "cut to", left)
			offer(t, readers, data[len(data)-left:], layout, ErrTruncated, ErrTruncated, elsewhere, "the last", left)
		}
		for bit := range 8 * len(data) {
			want, unverified, elsewhere := ErrChecksum, error(nil), ErrLayout
			if at := bit/8 - body; at >= 0 {
				switch at {
				case format.AtVersion, format.AtVersion + 1:
					want = ErrVersion
				}
				if at >= format.AtMagic {
					want = ErrNotAFilter
				}
				unverified, elsewhere = want, want
			}
			data[bit/8] ^= 1 << (bit % 8)
			offer(t, readers, data, layout, want, unverified, elsewhere, "bit", bit)
			data[bit/8] ^= 1 << (bit % 8)
		}
	}
}

// The same files on disk, cut: by whoever loads or maps them.
func TestEveryLayoutCutOnDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "filter")
	opens := map[string]func() error{
		"Open":           func() error { return second(Open(path)) },
		"OpenUnverified": func() error { return second(OpenUnverified(path)) },
		"Load":           func() error { return second(Load(path)) },
		"LoadCounting":   func() error { return second(LoadCounting(path)) },
		"LoadScalable":   func() error { return second(LoadScalable(path)) },
		"LoadCuckoo":     func() error { return second(LoadCuckoo(path)) },
		"LoadStatic":     func() error { return second(LoadStatic(path)) },
	}
	for name, open := range opens {
		if err := open(); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s of no file: %v", name, err)
		}
	}
	for _, sample := range layoutSamples {
		data := goldenBytes(t, sample+".bloomline")
		for _, left := range []int{0, 1, 63, 64, 65, len(data) - 64, len(data) - 1} {
			if err := os.WriteFile(path, data[:left], 0o600); err != nil {
				t.Fatal(err)
			}
			for name, open := range opens {
				if err := open(); !errors.Is(err, ErrTruncated) && !errors.Is(err, ErrNotAFilter) {
					t.Errorf("%s of %d bytes of %s: %v", name, left, sample, err)
				}
			}
		}
	}
}

// Rates that are none, and numbers of keys from none to too many, for everything that is made
// for a number of keys at a rate.
func TestRatesAndCapacities(t *testing.T) {
	for name, make := range map[string]func(keys int, rate float64) error{
		"New":                  func(keys int, rate float64) error { return second(New(keys, rate)) },
		"NewClassic":           func(keys int, rate float64) error { return second(NewClassic(keys, rate)) },
		"NewConcurrent":        func(keys int, rate float64) error { return second(NewConcurrent(keys, rate)) },
		"NewCounting":          func(keys int, rate float64) error { return second(NewCounting(keys, rate)) },
		"NewScalable":          func(keys int, rate float64) error { return second(NewScalable(keys, rate)) },
		"NewCuckoo":            func(keys int, rate float64) error { return second(NewCuckoo(keys, rate)) },
		"NewWindow":            func(keys int, rate float64) error { return second(NewWindow(2, keys, rate)) },
		"ParamsForRate":        func(keys int, rate float64) error { return second(ParamsForRate(keys, rate)) },
		"ClassicParamsForRate": func(keys int, rate float64) error { return second(ClassicParamsForRate(keys, rate)) },
		"CuckooParamsForRate":  func(keys int, rate float64) error { return second(CuckooParamsForRate(keys, rate)) },
		"StaticParamsForRate":  func(keys int, rate float64) error { return second(StaticParamsForRate(keys, rate)) },
	} {
		for _, rate := range []float64{0, math.Copysign(0, -1), 1, 1.5, -1, math.NaN(), math.Inf(1), math.Inf(-1), 1e-300} {
			for _, keys := range []int{0, 1, 1000} {
				if err := make(keys, rate); !errors.Is(err, noRate(rate)) {
					t.Errorf("%s of %d keys, rate %v: %v", name, keys, rate, err)
				}
			}
		}
		for keys, want := range map[int]error{math.MinInt: ErrKeys, -1: ErrKeys, 0: nil, 1: nil, math.MaxInt: ErrLineCount} {
			// Where an int has 32 bits, as many keys can be had.
			if keys == math.MaxInt && math.MaxInt == math.MaxInt32 {
				continue
			}
			if err := make(keys, 0.001); !errors.Is(err, want) {
				t.Errorf("%s of %d keys: %v, want %v", name, keys, err, want)
			}
		}
	}
}
