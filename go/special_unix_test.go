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
