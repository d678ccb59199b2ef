package host

// Files that one program at a time appends to.

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// ErrLocked is exported and explained by package bloomline.
var ErrLocked = errors.New("bloomline: the file is open elsewhere, and has one writer")

// mostTries is how often a file may be replaced while it is being opened.
const mostTries = 16

// OpenLocked opens a file to read it and to append to it, and locks it against others that do, where the system has
// locks.
//
// Errors: [ErrLocked], [ErrNotAFile], and those of the system. All name this path.
func OpenLocked(path string) (*os.File, error) {
	file, err := openLocked(path)
	if err != nil {
		return nil, Named("open", path, err)
	}
	return file, nil
}

func openLocked(path string) (*os.File, error) {
	// The file may be replaced while it is opened.
	for range mostTries {
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

// ReplaceLocked is [Replace]; the file stays open, as by [OpenLocked]. What is at the path is replaced if it is own, or
// if nobody has it locked: neither what is there, nor what another program puts there meanwhile, where the system has
// locks and hard links. Where the system renames open files, nobody else can lock the new one between; where it does
// not, own is closed.
//
// Errors: those of Replace and OpenLocked.
func ReplaceLocked(path string, own *os.File, content io.WriterTo) (*os.File, error) {
	for tries := mostTries; ; tries-- {
		held := own
		if own == nil {
			var err error
			if held, err = hold(path); err != nil {
				return nil, err
			}
		}
		if held != nil && !RenamesOpen {
			_ = held.Close()
		}
		file, err := replace(path, appending, held == nil, content)
		if held != nil && own == nil {
			_ = held.Close()
		}
		switch {
		case held == nil && errors.Is(err, fs.ErrExist) && tries > 1:
			// Since it was looked for.
		case err != nil:
			return nil, Named("save", path, err)
		case !RenamesOpen:
			return OpenLocked(path)
		default:
			return file, nil
		}
	}
}

// hold locks a file that is to be replaced, if there is one, so that nobody else has it.
func hold(path string) (*os.File, error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	return OpenLocked(path)
}
