//go:build !linux && !darwin && !freebsd && !netbsd && !openbsd && !dragonfly && !windows

package host

import (
	"os"
	"runtime"
)

// RenamesOpen is whether a file that is open can be renamed and replaced.
const RenamesOpen = runtime.GOOS != "plan9"

// HasLocks is whether a file can be locked.
const HasLocks = false

// lock does nothing: such a system has no locks that end with the file.
func lock(*os.File) error { return nil }
