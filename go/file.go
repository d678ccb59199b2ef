package bloomline

// Filters as files.

import (
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"

	"github.com/bloomline/bloomline/go/internal/host"
)

// Mapped is a filter in a file that is mapped into memory, to be read where it lies. Its pages
// are shared by all processes that map it, and come from the disk as they are needed.
//
// Replace a mapped file by rename, as [Filter.Save] does; whoever has mapped the old one keeps it.
// Never change it in place. If it is overwritten, probes may miss keys that are present: a false
// negative, which no checksum finds after opening. If it is truncated, the next probe of a line
// that is gone ends the program (SIGBUS), and recover does not catch that. Where you cannot rule
// out either, as with files that others write, read the file with [Load].
//
// A nil Mapped returns true for every key, as the zero one does.
type Mapped struct {
	_ noCopy
	View
}

// Open maps the filter in a file, and checks all of it: see [OpenView]. Where the system maps
// no files, it is read into memory. The file must not be changed in place while it is mapped: see
// [Mapped].
//
// Errors: those of the system, such as [fs.ErrNotExist]; [ErrNotAFile]; those of [OpenView]. They
// name the file.
func Open(path string) (*Mapped, error) {
	return open(path, true)
}

// OpenUnverified is [Open] without the checksum of the lines: it takes the same short time for
// any size. See [OpenViewUnverified].
func OpenUnverified(path string) (*Mapped, error) {
	return open(path, false)
}

func open(path string, verify bool) (*Mapped, error) {
	mapping, err := mapFile(path, viewLayouts)
	if err != nil {
		return nil, err
	}
	view, err := openView(mapping.Bytes, verify)
	if err != nil {
		mapping.Close()
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	view.owner = mapping
	return &Mapped{View: view}, nil
}

// mapFile maps a file, or reads it where the system maps none, if it has one of these layouts.
func mapFile(path string, layouts []layout) (*host.Mapping, error) {
	file, size, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	mapping, err := host.Map(file, size)
	if errors.Is(err, errors.ErrUnsupported) {
		bytes, err := readFile(path, func(footer []byte, size uint64) error {
			_, f, err := readFooter(footer)
			if err == nil {
				err = f.check(size-footerBytes, layouts)
			}
			return err
		})
		return &host.Mapping{Bytes: bytes}, err
	}
	if err != nil {
		return nil, &fs.PathError{Op: "mmap", Path: path, Err: err}
	}
	return mapping, nil
}

// Close gives the memory back. No goroutine may be reading meanwhile, and no copy of the View
// be used later; this one then returns true for every key. A Mapped that is not closed is
// once the garbage collector finds that neither it nor a copy of its View is used any more.
func (m *Mapped) Close() error {
	if m == nil {
		return nil
	}
	owner := m.owner
	m.View = View{}
	if owner == nil {
		return nil
	}
	return owner.Close()
}

// Contains is [View.Contains].
func (m *Mapped) Contains(key []byte) bool {
	return m.ContainsHash(m.Hash(key))
}

// ContainsString is [View.ContainsString].
func (m *Mapped) ContainsString(key string) bool {
	return m.Contains(bytesOfKey(key))
}

// ContainsUint64 is [View.ContainsUint64].
func (m *Mapped) ContainsUint64(key uint64) bool {
	return m.ContainsHash(orZero(m).View.hashUint64(key))
}

// ContainsHash is [View.ContainsHash].
func (m *Mapped) ContainsHash(hash uint64) bool {
	return m == nil || m.View.probe(hash)
}

// Prefetch is [View.Prefetch].
func (m *Mapped) Prefetch(hash uint64) {
	if m != nil {
		m.View.Prefetch(hash)
	}
}

// Params is [View.Params].
func (m *Mapped) Params() (Params, bool) { return orZero(m).View.Params() }

// CuckooParams is [View.CuckooParams].
func (m *Mapped) CuckooParams() (CuckooParams, bool) { return orZero(m).View.CuckooParams() }

// StaticParams is [View.StaticParams].
func (m *Mapped) StaticParams() (StaticParams, bool) { return orZero(m).View.StaticParams() }

// GrowingParams is [View.GrowingParams].
func (m *Mapped) GrowingParams() (GrowingParams, bool) { return orZero(m).View.GrowingParams() }

// Prefixes is [View.Prefixes].
func (m *Mapped) Prefixes() iter.Seq2[uint64, uint64] { return orZero(m).View.Prefixes() }

// UnmarshalText fails: a Mapped has no text.
func (m *Mapped) UnmarshalText([]byte) error { return errNoText }

// Hash is [View.Hash].
func (m *Mapped) Hash(key []byte) uint64 {
	return orZero(m).View.hash(key)
}

// String is [View.String].
func (m *Mapped) String() string {
	return orZero(m).View.String()
}

// load reads a file into a filter.
func load[F kind](path string, filter F) (F, error) {
	var none F
	data, err := readFile(path, func(footer []byte, size uint64) error {
		return checkFooter(footer, size, filter)
	})
	if err != nil {
		return none, err
	}
	if err := unmarshal(data, filter, true); err != nil {
		return none, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return filter, nil
}

// readFile reads a file whose footer is accepted. That it is not mapped is what makes it safe
// from those who change the file meanwhile.
func readFile(path string, accept func(footer []byte, size uint64) error) ([]byte, error) {
	file, size, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	wrong := func(err error) error { return &fs.PathError{Op: "open", Path: path, Err: err} }
	var footer [footerBytes]byte
	if _, err := file.ReadAt(footer[:], size-footerBytes); err == io.EOF {
		return nil, wrong(ErrTruncated) // since a moment ago
	} else if err != nil {
		return nil, err
	}
	if err := accept(footer[:], uint64(size)); err != nil {
		return nil, wrong(err)
	}
	data, err := newBytes(int(size))
	if err != nil {
		return nil, wrong(err)
	}
	if _, err := io.ReadFull(file, data); errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return nil, wrong(ErrTruncated) // since a moment ago
	} else if err != nil {
		return nil, err
	}
	return data, nil
}

// openRegular opens a file that a filter can be in. Whether it is one is asked before it is
// opened, since opening a FIFO waits for whoever writes to it.
func openRegular(path string) (*os.File, int64, error) {
	if path == "" {
		return nil, 0, &fs.PathError{Op: "open", Path: path, Err: host.ErrNoPath}
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	wrong := func(err error) error { return &fs.PathError{Op: "open", Path: path, Err: err} }
	if !info.Mode().IsRegular() {
		return nil, 0, wrong(ErrNotAFile)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	if info, err = file.Stat(); err == nil {
		switch size := info.Size(); {
		case !info.Mode().IsRegular():
			err = wrong(ErrNotAFile)
		case size < footerBytes:
			err = wrong(ErrTruncated)
		case size > maxLen:
			err = wrong(ErrLineCount)
		default:
			return file, size, nil
		}
	}
	file.Close()
	return nil, 0, err
}
