//go:build unix

package bloomline

import (
	"io/fs"
	"os"
	"runtime"
	"syscall"
)

// mapping is a file in memory, until it is closed or nothing refers to it any more.
type mapping struct {
	bytes   []byte
	cleanup runtime.Cleanup
}

func mapFile(path string) (*mapping, error) {
	file, size, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	bytes, err := syscall.Mmap(int(file.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, &fs.PathError{Op: "mmap", Path: path, Err: err}
	}
	m := &mapping{bytes: bytes}
	m.cleanup = runtime.AddCleanup(m, func(bytes []byte) { _ = syscall.Munmap(bytes) }, bytes)
	return m, nil
}

func (m *mapping) close() error {
	bytes := m.bytes
	if bytes == nil {
		return nil
	}
	m.bytes = nil
	m.cleanup.Stop()
	return os.NewSyscallError("munmap", syscall.Munmap(bytes))
}

// keepOwner gives a file the owner of another, or at least the group, if the system allows it.
func keepOwner(file *os.File, old fs.FileInfo) {
	if stat, ok := old.Sys().(*syscall.Stat_t); ok {
		if file.Chown(int(stat.Uid), int(stat.Gid)) != nil {
			_ = file.Chown(-1, int(stat.Gid))
		}
	}
}
