package host

// Files that one program at a time appends to.

import (
	"errors"
	"io"
	"os"
)

// ErrLocked is exported and explained by package bloomline.
var ErrLocked = errors.New("bloomline: the file is open elsewhere, and has one writer")

// OpenLocked opens a file to read it and to append to it, and locks it against others that do, where the system has
// locks.
//
// Errors: [ErrLocked], [ErrNotAFile], and those of the system. All name this path.
func OpenLocked(path string) (*os.File, error) {
	file, err := openLocked(path)
	if err != nil {
		return nil, named("open", path, err)
	}
	return file, nil
}

func openLocked(path string) (*os.File, error) {
	// The file may be replaced while it is opened.
	for range 16 {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() {
			return nil, ErrNotAFile
		}
		file, err := os.OpenFile(path, appending, 0)
		if err != nil {
			return nil, err
		}
		err = lock(file)
		there := false
		if err == nil {
			// Whoever held the lock may have replaced the file since it was opened.
			there, err = IsAt(file, path)
		}
		if there && err == nil {
			return file, nil
		}
		_ = file.Close()
		if err != nil {
			return nil, err
		}
	}
	return nil, ErrLocked
}

// IsAt reports whether a path leads to this open file, and not to another or to none.
func IsAt(file *os.File, path string) (bool, error) {
	own, err := file.Stat()
	if err != nil {
		return false, err
	}
	there, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(own, there), err
}

// ReplaceLocked is [Replace]; the file stays open, as by [OpenLocked]. Where the system renames open files, nobody else
// can lock it between.
//
// Errors: those of Replace and, where the system does not rename open files, of OpenLocked.
func ReplaceLocked(path string, content io.WriterTo) (*os.File, error) {
	file, err := replace(path, appending, content)
	if err != nil {
		return nil, named("save", path, err)
	}
	if !RenamesOpen {
		return OpenLocked(path)
	}
	return file, nil
}
