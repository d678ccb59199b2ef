package bloomline

// Filters as files.

import (
	"encoding"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
)

// Mapped is a filter in a file that is mapped into memory, to be read where it lies. Its pages
// are shared by all processes that map it, and come from the disk as they are needed.
//
// The file must not be changed while it is mapped, but may be replaced, as [Filter.Save] does:
// who has mapped the old one keeps it. Cutting a mapped file short ends the program at the
// next probe of what is gone.
type Mapped struct {
	View
}

// Open maps the filter in a file, and checks all of it: see [OpenView]. Where the system maps
// no files, it is read into memory.
//
// Errors: those of the system, such as [fs.ErrNotExist], and those of [OpenView]; they name
// the file.
func Open(path string) (*Mapped, error) {
	return open(path, true)
}

// OpenUnverified is [Open] without the checksum of the lines: it takes the same short time for
// any size. See [OpenViewUnverified].
func OpenUnverified(path string) (*Mapped, error) {
	return open(path, false)
}

func open(path string, verify bool) (*Mapped, error) {
	mapping, err := mapFile(path)
	if err != nil {
		return nil, err
	}
	view, err := openView(mapping.bytes, verify)
	if err != nil {
		mapping.close()
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	view.owner = mapping
	return &Mapped{view}, nil
}

// Close gives the memory back. No goroutine may be reading meanwhile, and no copy of the View
// be used later; this one then answers true to every key. A Mapped that is not closed is
// once the garbage collector finds that neither it nor a copy of its View is used any more.
func (m *Mapped) Close() error {
	owner := m.owner
	m.View = View{}
	if owner == nil {
		return nil
	}
	return owner.close()
}

// Load reads a filter from a file, to be added to. All of it is checked. Of a [CountingFilter]
// it is the plain filter of its keys: see [LoadCounting].
//
// Errors: as [Open].
func Load(path string) (*Filter, error) {
	return load(path, new(Filter))
}

// load reads a file into a filter.
func load[F encoding.BinaryUnmarshaler](path string, filter F) (F, error) {
	var none F
	mapping, err := mapFile(path)
	if err != nil {
		return none, err
	}
	defer mapping.close()
	if err := filter.UnmarshalBinary(mapping.bytes); err != nil {
		return none, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return filter, nil
}

// Save writes the filter to a file, atomically: beside it under another name, flushed to the
// disk, then renamed. At every moment the file is the old filter or the new one, whole. A
// symbolic link is replaced, not followed.
//
// Errors: those of the system; the old file is then untouched. Only if flushing the directory
// fails, last of all, is the new file in its place, and may not survive a power failure.
func (f *Filter) Save(path string) error {
	return save(path, f)
}

// save is the Save of all filters.
func save(path string, filter io.WriterTo) error {
	file, err := createBeside(path)
	if err != nil {
		return err
	}
	_, err = filter.WriteTo(file)
	if err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		// The error is what matters; the leftover goes if it can be removed.
		_ = os.Remove(file.Name())
		return fmt.Errorf("bloomline: saving a filter: %w", err)
	}
	return syncDir(filepath.Dir(path))
}

var savedFiles atomic.Uint64

// createBeside makes a new file in the same directory, with the permissions that the system
// gives new files.
func createBeside(path string) (*os.File, error) {
	for {
		name := fmt.Sprintf(".bloomline-%d-%d.tmp", os.Getpid(), savedFiles.Add(1))
		file, err := os.OpenFile(filepath.Join(filepath.Dir(path), name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		// The leftover of a process that was killed and had this one's number, as all do
		// that are the first in their container.
		if !errors.Is(err, fs.ErrExist) {
			return file, err
		}
	}
}

// syncDir puts a new name on the disk. Not every directory can be opened by whoever may write
// in it, and not every file system flushes one.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer dir.Close()
	if err := dir.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}
