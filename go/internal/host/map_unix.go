//go:build unix

package host

import (
	"io/fs"
	"os"
	"runtime"
	"syscall"
)

// Mapping is a file in memory, until it is closed or nothing refers to it any more.
type Mapping struct {
	Bytes   []byte
	cleanup runtime.Cleanup
}

// Map maps so many bytes of a file, to be read.
//
// Errors: those of the system; [errors.ErrUnsupported] where it maps no files.
func Map(file *os.File, size int64) (*Mapping, error) {
	bytes, err := syscall.Mmap(int(file.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	m := &Mapping{Bytes: bytes}
	m.cleanup = runtime.AddCleanup(m, func(bytes []byte) { _ = syscall.Munmap(bytes) }, bytes)
	return m, nil
}

// Close gives the memory back.
func (m *Mapping) Close() error {
	bytes := m.Bytes
	if bytes == nil {
		return nil
	}
	m.Bytes = nil
	m.cleanup.Stop()
	// Until here: what is not reachable any more might be cleaned up, and then unmapped twice.
	runtime.KeepAlive(m)
	return os.NewSyscallError("munmap", syscall.Munmap(bytes))
}

// KeepOwner gives a file the owner and group of an old one, or the group alone, if the system
// allows it. It returns the permissions for it: those of the old one, but a group that is another
// may do no more than everybody could.
func KeepOwner(file *os.File, old fs.FileInfo) fs.FileMode {
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
