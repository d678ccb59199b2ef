//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package host

import (
	"errors"
	"os"
	"syscall"
)

// RenamesOpen is whether a file that is open can be renamed and replaced.
const RenamesOpen = true

// appending opens a file to read it and to append to it.
const appending = os.O_RDWR | os.O_APPEND

// HasLocks is whether a file can be locked.
const HasLocks = true

// lock locks a file until it is closed. A file system that has no locks is none that fails.
func lock(file *os.File) error {
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrLocked
		case !errors.Is(err, syscall.EINTR):
			return nil
		}
	}
}
