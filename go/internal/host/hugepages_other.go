//go:build !linux

package host

// AdviseHugePages does nothing: the system has no such wish.
func AdviseHugePages([]byte) {}
