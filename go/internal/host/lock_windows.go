package host

import (
	"math"
	"os"
	"syscall"
	"unsafe"
)

// RenamesOpen is whether a file that is open can be renamed and replaced.
const RenamesOpen = false

// appending opens a file to read it and to append to it. Windows does not cut off what was opened with O_APPEND.
const appending = os.O_RDWR

// HasLocks is whether a file can be locked.
const HasLocks = true

var lockFileEx = kernel32.NewProc("LockFileEx")

// lock locks a file until it is closed. A file system that has no locks is none that fails.
func lock(file *os.File) error {
	const exclusiveAtOnce, violation = 3, syscall.Errno(33)
	var from syscall.Overlapped
	ok, _, err := lockFileEx.Call(file.Fd(), exclusiveAtOnce, 0, math.MaxUint32, math.MaxUint32, uintptr(unsafe.Pointer(&from)))
	if ok == 0 && err == violation {
		return ErrLocked
	}
	return nil
}
