//go:build !race && (amd64 || 386)

package bloomline

// Memory that the system refuses is an error, where the runtime would end the program: in a process of
// its own, which may have 256 MiB more than it has. The race detector takes more by itself, and emulators
// ignore the limit.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

const (
	limitedProcess = "BLOOMLINE_TEST_LIMITED"
	moreMemory     = 256 << 20
	largeLines     = moreMemory / 4 * 5 / lineBytes
)

func TestOutOfMemory(t *testing.T) {
	if os.Getenv(limitedProcess) != "" {
		testOutOfMemory(t)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestOutOfMemory$", "-test.v")
	cmd.Env = append(os.Environ(), limitedProcess+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: TestOutOfMemory")) {
		t.Errorf("%v\n%.4000s", err, out)
	}
}

func testOutOfMemory(t *testing.T) {
	params := Params{LineCount: largeLines, K: 6}
	zeros := footer{LineCount: largeLines, K: 6, Layout: layoutLines.number}
	window := footer{LineCount: largeLines / 8, K: 6, Layout: layoutWindow.number, Reserved: 8}
	counting := footer{LineCount: largeLines / 5, K: 6, Layout: layoutCounting.number}
	cuckoo := footer{LineCount: largeLines, K: 8, Layout: layoutCuckoo.number}
	classic := footer{LineCount: largeLines, K: 6, Layout: layoutClassic.number}
	// What is there before the memory is limited, to be copied after that.
	plain := orPanic(NewWithParams(params))
	shared := orPanic(NewConcurrentWithParams(params))
	turned := orPanic(NewWindowWithParams(8, Params{LineCount: largeLines / 8, K: 6}))
	grows := orPanic(NewScalable(largeLines*lineBytes/5, 0.01))
	hashes := make([]uint64, largeLines*lineBytes/8)
	data, path := sparse(t, zeros)
	paths := map[uint16]string{}
	growing := footer{LineCount: largeLines, K: 1, Layout: layoutGrowing.number}
	for _, footer := range []footer{window, counting, cuckoo, classic, growing} {
		_, paths[footer.Layout] = sparse(t, footer)
	}

	limitMemory(t)
	calls := map[string]func() error{
		"New":                     func() error { _, err := New(1<<28, 0.01); return err },
		"NewWithParams":           func() error { _, err := NewWithParams(params); return err },
		"NewClassic":              func() error { _, err := NewClassic(1<<28, 0.01); return err },
		"classic":                 func() error { _, err := NewWithParams(params); return err },
		"NewConcurrent":           func() error { _, err := NewConcurrent(1<<28, 0.01); return err },
		"NewConcurrentWithParams": func() error { _, err := NewConcurrentWithParams(params); return err },
		"NewCounting":             func() error { _, err := NewCounting(1<<28, 0.01); return err },
		"NewCountingWithParams":   func() error { _, err := NewCountingWithParams(counting.params()); return err },
		"NewCuckoo":               func() error { _, err := NewCuckoo(1<<28, 0.01); return err },
		"NewCuckooWithParams":     func() error { _, err := NewCuckooWithParams(cuckoo.cuckooParams()); return err },
		"NewScalable":             func() error { _, err := NewScalable(1<<28, 0.01); return err },
		"NewWindow":               func() error { _, err := NewWindow(1<<8, 1<<20, 0.01); return err },
		"many generations":        func() error { _, err := NewWindowWithParams(5<<20, Params{LineCount: 1, K: 1}); return err },
		"BuildStaticWithParams": func() error {
			_, err := BuildStaticWithParams(StaticParams{LineCount: largeLines, Rows: 7}, nil, 2)
			return err
		},
		"many hashes": func() error {
			_, err := BuildStaticWithParams(StaticParams{LineCount: 9, Rows: 7}, hashes, 1)
			return err
		},
		"BuildCascadeHashes": func() error { _, err := BuildCascadeHashes(hashes, nil, 0, 0, 1); return err },
		"NewMatrix":          func() error { _, err := NewMatrix(Params{LineCount: 1 << 7, K: 6}, 1<<16); return err },
		"StaticBuilder": func() error {
			b := orPanic(NewStaticBuilder(0.01))
			b.AddHashes(hashes)
			b.AddUint64(1)
			_, err := b.Build()
			if b.Clear(); err != nil {
				b.AddUint64(1)
				_, second := b.Build()
				return errors.Join(err, second)
			}
			return nil
		},
		"Load":            func() error { _, err := Load(path); return err },
		"Load of classic": func() error { _, err := Load(paths[layoutClassic.number]); return err },
		"LoadCounting":    func() error { _, err := LoadCounting(paths[layoutCounting.number]); return err },
		"LoadCuckoo":      func() error { _, err := LoadCuckoo(paths[layoutCuckoo.number]); return err },
		"LoadGrowing":     func() error { _, err := LoadGrowing(paths[layoutGrowing.number]); return err },
		"LoadWindow":      func() error { _, err := LoadWindow(paths[layoutWindow.number]); return err },
		"ReadFrom":        func() error { _, err := new(Filter).ReadFrom(bytes.NewReader(data)); return err },
		"ReadDelimited": func() error {
			length := le.AppendUint64(nil, uint64(len(data)))
			_, err := new(Filter).ReadDelimited(io.MultiReader(bytes.NewReader(length), bytes.NewReader(data)), math.MaxInt64)
			return err
		},
		"UnmarshalBinary":        func() error { return new(Filter).UnmarshalBinary(data) },
		"MarshalBinary":          func() error { _, err := plain.MarshalBinary(); return err },
		"MarshalText":            func() error { _, err := plain.MarshalText(); return err },
		"GobEncode":              func() error { _, err := plain.GobEncode(); return err },
		"json.Marshal":           func() error { _, err := json.Marshal(plain); return err },
		"window.MarshalBinary":   func() error { _, err := turned.MarshalBinary(); return err },
		"concurrent.WriteTo":     func() error { _, err := shared.WriteTo(io.Discard); return err },
		"concurrent.Save":        func() error { return shared.Save(filepath.Join(t.TempDir(), "x")) },
		"concurrent.MarshalText": func() error { _, err := shared.MarshalText(); return err },
		"Snapshot":               func() error { _, err := shared.Snapshot(); return err },
		"Clone":                  func() error { return panicOf(func() { plain.Clone() }) },
		"concurrent.Clone":       func() error { return panicOf(func() { shared.Clone() }) },
		"window.Clone":           func() error { return panicOf(func() { turned.Clone() }) },
	}
	for name, call := range calls {
		if err := call(); !errors.Is(err, ErrOutOfMemory) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// What takes no memory goes on.
	turned.AddUint64(1)
	if turned.Rotate(); !turned.ContainsUint64(1) || turned.ContainsUint64(2) {
		t.Error("a window that was not copied")
	}
	if n, err := turned.WriteTo(io.Discard); n < largeLines*lineBytes || err != nil {
		t.Errorf("a window is written without a copy: %d bytes, %v", n, err)
	}
	grows.stages[0].filter.view.keyCount = grows.stages[0].capacity
	if grows.AddUint64(1); !grows.ContainsUint64(1) || !grows.Overfull() || len(grows.stages) != 1 {
		t.Errorf("%v: it cannot grow, and keeps its keys", grows)
	}
}

// panicOf is the error that f panics with.
func panicOf(f func()) (err error) {
	defer func() { err, _ = recover().(error) }()
	f()
	return nil
}

// sparse is a file of zeros with a right footer, which takes no room on the disk, and its bytes.
func sparse(t *testing.T, end footer) ([]byte, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), fmt.Sprint("layout-", end.Layout))
	size := int64(orPanic(end.bodyLen(append(viewLayouts, layoutWindow))))
	file := orPanic(os.Create(path))
	defer file.Close()
	if err := file.Truncate(size + footerBytes); err != nil {
		t.Fatal(err)
	}
	var data []byte
	if end.Layout == layoutLines.number { // which is read to its end before memory is taken
		data = orPanic(syscall.Mmap(int(file.Fd()), 0, int(size)+footerBytes, syscall.PROT_READ, syscall.MAP_SHARED))
		t.Cleanup(func() { _ = syscall.Munmap(data) })
		end.LinesChecksum = checksum(data[:size])
	}
	if _, err := file.WriteAt(end.bytes(), size); err != nil {
		t.Fatal(err)
	}
	return data, path
}

// limitMemory leaves the process so much more than it has.
func limitMemory(t *testing.T) {
	t.Helper()
	var pages uint64
	_, err := fmt.Sscan(string(orPanic(os.ReadFile("/proc/self/statm"))), &pages)
	limit := syscall.Rlimit{Cur: pages*uint64(os.Getpagesize()) + moreMemory}
	limit.Max = limit.Cur
	if err == nil {
		err = syscall.Setrlimit(syscall.RLIMIT_AS, &limit)
	}
	if err != nil {
		t.Fatal(err)
	}
}
