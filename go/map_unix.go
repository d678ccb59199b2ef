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

// keepOwner gives a file the owner and group of an old one, or the group alone, if the system
// allows it. It returns the permissions for it: those of the old one, but a group that is another
// may do no more than everybody could.
func keepOwner(file *os.File, old fs.FileInfo) fs.FileMode {
	mode := old.Mode().Perm()
	was, ok := old.Sys().(*syscall.Stat_t)
	if !ok {
		return mode
	}
	if file.Chown(int(was.Uid), int(was.Gid)) != nil {
		_ = file.Chown(-1, int(was.Gid))
	}
	if info, err := file.Stat(); err == nil {
		if is, ok := info.Sys().(*syscall.Stat_t); ok && is.Gid == was.Gid {
			return mode
		}
	}
	return mode&^0o070 | mode&0o070&(mode&0o007<<3)
}
