//go:build !linux

package bloomline

func adviseHugePages([]byte) {}
