//go:build unix

package host

import "syscall"

// HasRoom reports whether the system grants so many bytes more: by asking for them. Nothing writes to
// them, so it costs the call alone.
func HasRoom(size int) bool {
	bytes, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return false
	}
	_ = syscall.Munmap(bytes)
	return true
}
