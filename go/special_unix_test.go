//go:build unix

package bloomline

import (
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// Neither opened, which would wait for a writer, nor replaced.
func TestFIFOs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	loaders := loaders
	done := make(chan string, len(loaders))
	for name, load := range loaders {
		go func() {
			if !errors.Is(load(path), ErrNotAFile) {
				name += " without an error"
			}
			done <- name
		}()
	}
	for range loaders {
		select {
		case <-done:
		case <-time.After(time.Minute):
			t.Fatal("a FIFO is waited for")
		}
	}
	filter := mustNew(t, 10, 0.1)
	for _, special := range []string{path, filepath.Dir(path)} {
		before, err := os.Stat(special)
		if err != nil {
			t.Fatal(err)
		}
		if err := filter.Save(special); !errors.Is(err, ErrNotAFile) {
			t.Errorf("%s was replaced: %v", special, err)
		}
		if after, err := os.Stat(special); err != nil || after.Mode() != before.Mode() {
			t.Errorf("%s is %v now", special, after)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".bloomline-*")); len(left) > 0 {
		t.Error("left behind:", left)
	}
}

// A file stays its owner's.
func TestOwnersAreKept(t *testing.T) {
	if os.Getuid() != 0 {
		t.Log("only root gives files away")
		return
	}
	path := filepath.Join(t.TempDir(), "filter")
	filter := mustNew(t, 10, 0.1)
	if err := filter.Save(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, 12345, 23456); err != nil {
		t.Fatal(err)
	}
	if err := filter.Save(path); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if stat := info.Sys().(*syscall.Stat_t); stat.Uid != 12345 || stat.Gid != 23456 {
		t.Errorf("the owner is %d:%d now", stat.Uid, stat.Gid)
	}
}

// Prefetch reads the line of the hash: lines that cannot be read say where they were.
func TestPrefetch(t *testing.T) {
	// Some systems tell only the page of the address.
	const count, linesOfPage = 100_000, 4096 / lineBytes
	bytes, err := syscall.Mmap(-1, 0, count*lineBytes, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Munmap(bytes) }()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	start := uintptr(unsafe.Pointer(unsafe.SliceData(bytes)))
	faultOf := func(prefetch func(uint64), hash uint64) (page uint64) {
		defer func() {
			fault, _ := recover().(interface{ Addr() uintptr })
			if fault == nil {
				t.Fatalf("hash %x: nothing was read", hash)
			}
			page = uint64(fault.Addr()-start) / lineBytes / linesOfPage
		}()
		prefetch(hash)
		return 0
	}
	for _, k := range []int{1, 6, 8, 16} {
		view := View{lines: linesWith(linesOf(bytes), k, false)}
		filter := &Filter{filterData: filterData{view}}
		for _, hash := range randomHashes(100, 5) {
			want := definitionIndex(hash, count) / linesOfPage
			if page := faultOf(filter.Prefetch, hash); page != want {
				t.Errorf("hash %x: Filter.Prefetch read page %d, not %d", hash, page, want)
			}
			if page := faultOf(view.Prefetch, hash); page != want {
				t.Errorf("hash %x: View.Prefetch read page %d, not %d", hash, page, want)
			}
		}
	}
	// Where there is no line of a hash, nothing is read.
	var none *Filter
	for _, hash := range awkward {
		none.Prefetch(hash)
		new(Filter).Prefetch(hash)
		View{}.Prefetch(hash)
		View{lines: linesWith(linesOf(bytes), 6, true)}.Prefetch(hash)
	}
}
