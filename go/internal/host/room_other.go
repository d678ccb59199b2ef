//go:build !unix && !windows

package host

import "runtime"

// HasRoom reports whether there is memory for so many bytes more. Such a system is not asked; one of
// WebAssembly has 4 GiB.
func HasRoom(size int) bool {
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	return runtime.GOARCH != "wasm" || uint64(size) <= 4<<30-min(now.Sys, 4<<30)
}
