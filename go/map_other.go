//go:build !unix

package bloomline

import (
	"io/fs"
	"os"
)

// mapping is a file in memory: read, where the system maps none.
type mapping struct {
	bytes []byte
}

func mapFile(path string) (*mapping, error) {
	bytes, err := readFile(path, func(footer []byte, size uint64) error {
		_, f, err := readFooter(footer)
		if err == nil {
			err = f.check(size-footerBytes, viewLayouts)
		}
		return err
	})
	return &mapping{bytes}, err
}

func (m *mapping) close() error {
	m.bytes = nil
	return nil
}

func keepOwner(_ *os.File, old fs.FileInfo) fs.FileMode { return old.Mode().Perm() }
