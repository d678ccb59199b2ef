//go:build !unix

package bloomline

import "os"

// mapping is a file in memory: read, where the system maps none.
type mapping struct {
	bytes []byte
}

func mapFile(path string) (*mapping, error) {
	bytes, err := os.ReadFile(path)
	return &mapping{bytes}, err
}

func (m *mapping) close() error {
	m.bytes = nil
	return nil
}
