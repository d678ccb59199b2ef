package host

import "syscall"

var (
	kernel32     = syscall.NewLazyDLL("kernel32.dll")
	virtualAlloc = kernel32.NewProc("VirtualAlloc")
	virtualFree  = kernel32.NewProc("VirtualFree")
)

// HasRoom reports whether the system grants so many bytes more: by asking for them.
func HasRoom(size int) bool {
	const commitAndReserve, release, readWrite = 0x3000, 0x8000, 4
	at, _, _ := virtualAlloc.Call(0, uintptr(size), commitAndReserve, readWrite)
	if at == 0 {
		return false
	}
	_, _, _ = virtualFree.Call(at, 0, release)
	return true
}
