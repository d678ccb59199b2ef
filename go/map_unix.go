//go:build unix

package bloomline

import (
	"io/fs"
	"math"
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
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	switch size := info.Size(); {
	case info.IsDir():
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.EISDIR}
	case size < footerBytes: // and the system maps no empty file
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrTruncated}
	case size > math.MaxInt:
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrLineCount}
	default:
		bytes, err := syscall.Mmap(int(file.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
		if err != nil {
			return nil, &fs.PathError{Op: "mmap", Path: path, Err: err}
		}
		m := &mapping{bytes: bytes}
		m.cleanup = runtime.AddCleanup(m, func(bytes []byte) { _ = syscall.Munmap(bytes) }, bytes)
		return m, nil
	}
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
