//go:build gc && (amd64 || arm64)

package prefetch

// Line asks for the cache line of a byte.
//
//go:noescape
func Line(at *byte)
