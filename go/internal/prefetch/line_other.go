//go:build !gc || !(amd64 || arm64)

package prefetch

// Line does nothing on this CPU.
func Line(*byte) {}
