//go:build !unix

package host

import (
	"errors"
	"io/fs"
	"os"
)

// Mapping is a file in memory.
type Mapping struct {
	Bytes []byte
}

// Map fails: the system maps no files.
func Map(*os.File, int64) (*Mapping, error) {
	return nil, errors.ErrUnsupported
}

// Close lets the memory go.
func (m *Mapping) Close() error {
	m.Bytes = nil
	return nil
}

// KeepOwner returns the permissions of the old file.
func KeepOwner(_ *os.File, old fs.FileInfo) fs.FileMode { return old.Mode().Perm() }
