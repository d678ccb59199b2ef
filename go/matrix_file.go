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

// UnmarshalText fails: a MappedMatrix has no text.
func (m *MappedMatrix) UnmarshalText([]byte) error { return errNoText }
