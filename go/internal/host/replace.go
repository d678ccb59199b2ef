package host

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"syscall"
)

// ErrNotAFile is exported and explained by package bloomline.
var ErrNotAFile = errors.New("bloomline: the path leads to something other than a regular file")

// Replace writes a file, atomically: beside it under another name, flushed to the disk, then renamed. The
// permissions of the old one are kept.
//
// Errors: [ErrNotAFile], [ErrNoPath], and those of the system. All name this path.
func Replace(path string, content io.WriterTo) error {
	_, err := replace(path, os.O_WRONLY, false, content)
	if err != nil {
		return Named("save", path, err)
	}
	return nil
}

// replace returns the file, if it is one to append to: locked, before it gets its name. If that is free, as far as was
// seen, what has it by now keeps it: [fs.ErrExist].
func replace(path string, flags int, free bool, content io.WriterTo) (*os.File, error) {
	if path == "" {
		return nil, ErrNoPath
	}
	old, err := os.Stat(path)
	if err != nil {
		// Nothing, or a link that leads to nothing. What else is wrong with the path shows when a
		// file is created there.
		old = nil
	} else if !old.Mode().IsRegular() {
		return nil, ErrNotAFile
	}
	file, err := createBeside(path, flags, old)
	if err != nil {
		return nil, err
	}
	stays := flags&os.O_APPEND != 0 && RenamesOpen
	if stays {
		err = lock(file)
	}
	if err == nil {
		_, err = content.WriteTo(file)
	}
	if err == nil && old != nil {
		err = file.Chmod(KeepOwner(file, old)) // last, since a new owner may change it
	}
	if err == nil {
		err = file.Sync()
	}
	if !stays {
		if closed := file.Close(); err == nil {
			err = closed
		}
	}
	if err == nil {
		err = nameIt(file.Name(), path, free)
	}
	if err != nil {
		if stays {
			_ = file.Close()
		}
		// The error is what matters; the leftover goes if it can be removed.
		_ = os.Remove(file.Name())
		return nil, err
	}
	if err = SyncDirOf(path); err != nil && stays {
		_ = file.Close()
	}
	return file, err
}

func nameIt(beside, path string, free bool) error {
	// A link that leads nowhere has the name, and is replaced.
	if info, err := os.Lstat(path); free && (err != nil || info.Mode()&fs.ModeSymlink == 0) {
		err := os.Link(beside, path)
		if err == nil {
			_ = os.Remove(beside) // a second name does no harm if it stays
		}
		if err == nil || !hasNoLinks(err) {
			return err
		}
	}
	return os.Rename(beside, path)
}

// hasNoLinks tells whether the file system has no hard links, or allows none. What else fails is no reason to
// replace a file.
func hasNoLinks(err error) bool {
	if errors.Is(err, fs.ErrExist) {
		return false
	}
	for _, none := range []error{fs.ErrPermission, errors.ErrUnsupported, syscall.EINVAL} {
		if errors.Is(err, none) {
			return true
		}
	}
	return runtime.GOOS == "windows" || runtime.GOOS == "js"
}

// ErrNoPath is what the system calls a file that does not exist.
var ErrNoPath = fmt.Errorf("bloomline: the path is empty: %w", fs.ErrNotExist)

// Named is an error that names the path that the caller gave, instead of that of a file beside it or of
// the directory.
func Named(op, path string, err error) error {
	var ofPath *fs.PathError
	var ofLink *os.LinkError
	switch {
	case errors.As(err, &ofPath):
		err = ofPath.Err
	case errors.As(err, &ofLink):
		err = ofLink.Err
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}

var savedFiles atomic.Uint64

// createBeside makes a new file in the same directory, with the permissions that the system
// gives new files, or, until those of the old one are known to fit, for its owner alone.
func createBeside(path string, flags int, old fs.FileInfo) (*os.File, error) {
	mode := fs.FileMode(0o666)
	if old != nil {
		mode = 0o600
	}
	for {
		name := fmt.Sprintf(".bloomline-%d-%d.tmp", os.Getpid(), savedFiles.Add(1))
		file, err := os.OpenFile(filepath.Join(filepath.Dir(path), name), flags|os.O_CREATE|os.O_EXCL, mode)
		// The leftover of a process that was killed and had this one's number, as all do
		// that are the first in their container.
		if !errors.Is(err, fs.ErrExist) {
			return file, err
		}
	}
}

// SyncDirOf puts a new name of a file on the disk, by flushing its directory. Not every directory can be opened by
// whoever may write in it, and not every file system flushes one; Windows flushes none that is open to be read.
func SyncDirOf(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil
	}
	defer dir.Close()
	if err := dir.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}
