//go:build !linux && !darwin && !freebsd && !netbsd && !openbsd && !dragonfly && !windows

package host

import (
	"os"
	"runtime"
)

// RenamesOpen is whether a file that is open can be renamed and replaced.
const RenamesOpen = runtime.GOOS != "plan9"

// appending opens a file to read it and to append to it.
const appending = os.O_RDWR | os.O_APPEND

// HasLocks is whether a file can be locked.
const HasLocks = false

// lock does nothing: such a system has no locks that end with the file.
func lock(*os.File) error { return nil }
