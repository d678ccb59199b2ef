//go:build !unix && !windows

package bloomline

import "runtime"

// hasRoom reports whether there is memory for so many bytes more. Such a system is not asked; one of
// WebAssembly has 4 GiB.
func hasRoom(size int) bool {
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	return runtime.GOARCH != "wasm" || uint64(size) <= 4<<30-min(now.Sys, 4<<30)
}
