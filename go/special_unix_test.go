//go:build unix

package bloomline

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
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

// Prefetch is a hint: it may be given for memory that cannot be read, or where there are no lines.
func TestPrefetch(t *testing.T) {
	const count = 1000
	bytes, err := syscall.Mmap(-1, 0, count*lineBytes, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Munmap(bytes) }()
	for _, k := range []int{1, 6, 8, 16} {
		for _, classic := range []bool{false, true} {
			view := View{lines: linesWith(linesOf(bytes), k, classic)}
			filter := &Filter{filterData: filterData{view}}
			for _, hash := range randomHashes(100, 5) {
				filter.Prefetch(hash)
				view.Prefetch(hash)
			}
		}
	}
	for _, size := range []int{8, 12, 16} {
		view := View{cuckoo: cuckooLines{linesOf(bytes), slotSizeOf(size)}}
		for _, hash := range randomHashes(100, 5) {
			view.Prefetch(hash)
		}
	}
	var none *Filter
	for _, hash := range awkward {
		none.Prefetch(hash)
		new(Filter).Prefetch(hash)
		View{}.Prefetch(hash)
	}
	filter, want := filterOf(t, count, 6, randomHashes(1000, 6))
	for _, hash := range randomHashes(1000, 7) {
		filter.Prefetch(hash)
	}
	if string(bytesOf(filter.view.all)) != string(want) {
		t.Error("Prefetch changed the filter")
	}
}
