package bloomline

// Matrices in files.

import (
	"io/fs"
)

// MappedMatrix is a [Matrix] in a file that is mapped into memory, to be read where it lies, as a [Mapped] is.
// What is said there of files that change is true here, too.
//
// The zero MappedMatrix has no columns.
type MappedMatrix struct {
	_ noCopy
	MatrixView
}

// OpenMatrix maps the matrix in a file, and checks all of it: see [OpenMatrixView]. Where the system maps no
// files, it is read into memory. The file must not be changed in place while it is mapped: see [Mapped].
//
// Errors: those of the system, such as [fs.ErrNotExist]; [ErrNotAFile]; those of [OpenMatrixView]. They name
// the file.
func OpenMatrix(path string) (*MappedMatrix, error) {
	return openMatrix(path, true)
}

// OpenMatrixUnverified is [OpenMatrix] without the checksum of the groups: it takes the same short time for any
// size. See [OpenMatrixViewUnverified].
func OpenMatrixUnverified(path string) (*MappedMatrix, error) {
	return openMatrix(path, false)
}

func openMatrix(path string, verify bool) (*MappedMatrix, error) {
	mapping, err := mapFile(path, (*Matrix)(nil).layouts())
	if err != nil {
		return nil, err
	}
	view, err := openMatrixView(mapping.Bytes, verify)
	if err != nil {
		mapping.Close()
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	view.owner = mapping
	return &MappedMatrix{MatrixView: view}, nil
}

// Close gives the memory back. No goroutine may be reading meanwhile, and no copy of the MatrixView, nor a view
// of a column, be used later; this one then has no columns. A MappedMatrix that is not closed is once the
// garbage collector finds that neither it nor such a copy or view is used any more.
func (m *MappedMatrix) Close() error {
	if m == nil {
		return nil
	}
	owner := m.owner
	m.MatrixView = MatrixView{}
	if owner == nil {
		return nil
	}
	return owner.Close()
}

// A nil pointer has no MatrixView to promote methods of: these ask the zero MatrixView then.

// Contains is [MatrixView.Contains].
func (m *MappedMatrix) Contains(key []byte, out Bitmap) Bitmap {
	return orZero(m).MatrixView.Contains(key, out)
}

// ContainsString is [MatrixView.ContainsString].
func (m *MappedMatrix) ContainsString(key string, out Bitmap) Bitmap {
	return orZero(m).MatrixView.ContainsString(key, out)
}

// ContainsUint64 is [MatrixView.ContainsUint64].
func (m *MappedMatrix) ContainsUint64(key uint64, out Bitmap) Bitmap {
	return orZero(m).MatrixView.ContainsUint64(key, out)
}

// ContainsHash is [MatrixView.ContainsHash].
func (m *MappedMatrix) ContainsHash(hash uint64, out Bitmap) Bitmap {
	return orZero(m).MatrixView.ContainsHash(hash, out)
}

// Among is [MatrixView.Among].
func (m *MappedMatrix) Among(live Bitmap) MatrixView { return orZero(m).MatrixView.Among(live) }

// ContainsHashes is [MatrixView.ContainsHashes].
func (m *MappedMatrix) ContainsHashes(hashes []uint64, out Bitmap) Bitmap {
	return orZero(m).MatrixView.ContainsHashes(hashes, out)
}

// ContainsBatch is [MatrixView.ContainsBatch].
func (m *MappedMatrix) ContainsBatch(keys [][]byte, out Bitmap) Bitmap {
	return orZero(m).MatrixView.ContainsBatch(keys, out)
}

// ContainsStrings is [MatrixView.ContainsStrings].
func (m *MappedMatrix) ContainsStrings(keys []string, out Bitmap) Bitmap {
	return orZero(m).MatrixView.ContainsStrings(keys, out)
}

// SelectHashes is [MatrixView.SelectHashes].
func (m *MappedMatrix) SelectHashes(hashes []uint64, pairs []MatrixPair) []MatrixPair {
	return orZero(m).MatrixView.SelectHashes(hashes, pairs)
}

// ContainsPairs is [MatrixView.ContainsPairs].
func (m *MappedMatrix) ContainsPairs(columns []uint32, hashes []uint64, out Bitmap) Bitmap {
	return orZero(m).MatrixView.ContainsPairs(columns, hashes, out)
}

// CountHash is [MatrixView.CountHash].
func (m *MappedMatrix) CountHash(hash uint64) int { return orZero(m).MatrixView.CountHash(hash) }

// AnyHash is [MatrixView.AnyHash].
func (m *MappedMatrix) AnyHash(hash uint64) bool { return orZero(m).MatrixView.AnyHash(hash) }

// Prefetch is [MatrixView.Prefetch].
func (m *MappedMatrix) Prefetch(hash uint64) { orZero(m).MatrixView.Prefetch(hash) }

// Hash is [MatrixView.Hash].
func (m *MappedMatrix) Hash(key []byte) uint64 { return orZero(m).MatrixView.Hash(key) }

// ColumnView is [MatrixView.ColumnView].
func (m *MappedMatrix) ColumnView(column int) (View, error) {
	return orZero(m).MatrixView.ColumnView(column)
}

// Shape is [MatrixView.Shape].
func (m *MappedMatrix) Shape() MatrixShape { return orZero(m).MatrixView.Shape() }

// Params is [MatrixView.Params].
func (m *MappedMatrix) Params() Params { return orZero(m).MatrixView.Params() }

// Columns is [MatrixView.Columns].
func (m *MappedMatrix) Columns() int { return orZero(m).MatrixView.Columns() }

// Name is [MatrixView.Name].
func (m *MappedMatrix) Name(column int) (uint64, bool) { return orZero(m).MatrixView.Name(column) }

// String is [MatrixView.String].
func (m *MappedMatrix) String() string { return orZero(m).MatrixView.String() }

// UnmarshalText fails: a MappedMatrix has no text.
func (m *MappedMatrix) UnmarshalText([]byte) error { return errNoText }
