package bloomline

// The journal of a growing filter in a file: begun at once, appended to, flushed, cut off where it is torn.

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bloomline/bloomline/go/internal/growing"
	"github.com/bloomline/bloomline/go/internal/host"
)

// Journal is a file that holds a growing filter, and takes what changes in it, so that after a crash the filter is
// there as it was when it was last saved.
//
// A journal has one writer: it locks the file, where the system has locks. Anybody may read it meanwhile, by
// [ReplayJournal], but on Windows. It gets longer with each record. [Journal.Restart] makes it as short as it can be.
//
// One goroutine at a time may use it, and its filter.
type Journal struct {
	_      noCopy
	file   *os.File // opened to append; nil if it is closed
	path   string   // absolute, as the working directory may change
	point  growing.Point
	len    int64 // where the last record ends
	broken bool  // something is behind it that could not be cut off
}

// CreateJournal begins a journal with the whole filter. A file that is there is replaced atomically, as
// [GrowingFilter.Save] does. For sequence see [GrowingFilter.SaveWhole]. Close the journal when it is no longer needed.
//
// Errors: those of [GrowingFilter.Save]; [ErrLocked] if the file is a journal that is open, [fs.ErrPermission] if the
// process may not write to it: then nothing says whether it is.
func CreateJournal(path string, filter *GrowingFilter, sequence uint64) (*Journal, error) {
	j := &Journal{path: lasting(path)}
	held, err := hold(path)
	if err != nil {
		return nil, err
	}
	err = j.begin(path, held, filter, sequence)
	if held != nil {
		_ = held.Close()
	}
	if err != nil {
		return nil, err
	}
	return j, nil
}

// OpenJournal opens a journal, and returns the filter as it was at the last whole record. What follows that, a record
// that was being written when the program ended, is cut off.
//
// Everything that was acknowledged is there: compare [Journal.Sequence] with the number that you know of, and add
// again what came after it.
//
// Errors: those of [ReplayJournal]; [ErrNotAFile]; [ErrLocked] if it is open already; those of the system, such as
// [fs.ErrNotExist]. They name the file.
func OpenJournal(path string) (*Journal, *GrowingFilter, error) {
	file, err := host.OpenLocked(path)
	if err != nil {
		return nil, nil, err
	}
	all, err := ReplayJournal(file)
	if err == nil && all.Torn {
		if err = file.Truncate(all.Len); err == nil {
			err = file.Sync()
		}
	}
	if err != nil {
		_ = file.Close()
		return nil, nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	j := &Journal{file: file, path: lasting(path), point: all.Filter.changes.point, len: all.Len}
	return j, all.Filter, nil
}

// SaveChanged appends what changed in the filter since the last record, and flushes it to the disk. Once it has
// returned, sequence may be acknowledged. A filter that is not the one of the last record is written whole: see
// [GrowingFilter.SaveChanged].
//
// Errors: [ErrSequence] if sequence is not above that of the last record; those of the system, such as a full disk;
// [ErrOutOfMemory]. The journal is as before, and the filter knows what changed: try again. If the disk fails
// altogether, or the path leads to another file or to none by now, each further call is an error until
// [Journal.Restart] has written a new file. [fs.ErrClosed] if the journal is closed.
func (j *Journal) SaveChanged(filter *GrowingFilter, sequence uint64) error {
	if sequence <= j.point.Sequence {
		return noSequence(sequence, j.point.Sequence)
	}
	there, err := j.isThere()
	if err == nil && !there {
		// What is written to a file without a name is lost with it.
		err = fs.ErrNotExist
	}
	if err == nil && j.broken {
		err = j.cut()
	}
	if err != nil {
		return j.failed(err)
	}
	// Where the system does not append by itself.
	if _, err = j.file.Seek(j.len, io.SeekStart); err != nil {
		return j.failed(err)
	}
	out := &counted{file: j.file}
	if f := orZero(filter); f.changes.most > 0 && f.changes.point == j.point {
		err = filter.saveChanged(out, sequence, j.file.Sync)
	} else {
		err = filter.saveWhole(out, sequence, j.file.Sync)
	}
	if err != nil {
		j.broken = j.cut() != nil
		return j.failed(err)
	}
	j.point, j.len = filter.changes.point, j.len+out.len
	return nil
}

// Restart replaces the file atomically by one that has the whole filter and no other record. sequence may be the one
// it has.
//
// Errors: those of [GrowingFilter.Save]; [ErrSequence] if sequence is below that of the last record; [ErrLocked] if the
// path leads to another journal, and that is open. The journal is as before. If only the last step failed, flushing the
// directory, the new file is in its place with all that the filter has, and [Journal.SaveChanged] is an error until this
// succeeds. [fs.ErrClosed] if the journal is closed.
func (j *Journal) Restart(filter *GrowingFilter, sequence uint64) error {
	if sequence < j.point.Sequence {
		return noSequence(sequence, j.point.Sequence)
	}
	there, err := j.isThere()
	if err != nil {
		return j.failed(err)
	}
	old, held := j.file, j.file
	was, err := old.Stat()
	if err != nil {
		return j.failed(err)
	}
	if !there {
		if held, err = hold(j.path); err != nil {
			return err
		}
	}
	err = j.begin(j.path, held, filter, sequence)
	switch {
	case err == nil:
		_ = old.Close()
	case there && !host.RenamesOpen:
		j.takeBack(was)
	}
	if held != nil && held != old {
		_ = held.Close()
	}
	return err
}

// takeBack opens the file of the last record again, whose lock ended with what was tried. If another one is in its
// place by now, the journal is closed.
func (j *Journal) takeBack(was fs.FileInfo) {
	file, err := host.OpenLocked(j.path)
	if err != nil {
		return
	}
	if now, err := file.Stat(); err != nil || !os.SameFile(was, now) {
		_ = file.Close()
		return
	}
	j.file = file
}

// Sequence returns the sequence number of the last record.
func (j *Journal) Sequence() uint64 { return j.point.Sequence }

// Len returns how many bytes the file has.
func (j *Journal) Len() int64 { return j.len }

// Close closes the file. What was not saved is not in it.
func (j *Journal) Close() error { return j.file.Close() }

// isThere reports whether the path leads to the file.
func (j *Journal) isThere() (bool, error) { return host.IsAt(j.file, j.path) }

// cut cuts off what is behind the last record.
func (j *Journal) cut() error {
	err := j.file.Truncate(j.len)
	if err == nil {
		err = j.file.Sync()
	}
	j.broken = err != nil
	return err
}

// failed is an error that names the file.
func (j *Journal) failed(err error) error {
	return &fs.PathError{Op: "save", Path: j.path, Err: err}
}

// begin makes the whole filter the content of the file. held is the lock of the old one, if there is one.
func (j *Journal) begin(path string, held *os.File, filter *GrowingFilter, sequence uint64) error {
	record := orZero(filter).whole(sequence)
	if held != nil && !host.RenamesOpen {
		_ = held.Close()
	}
	file, err := host.ReplaceLocked(path, record)
	if err != nil {
		return err
	}
	filter.isSaved(record.point)
	j.file, j.point, j.len, j.broken = file, record.point, record.len(), false
	return nil
}

// hold locks the file that is to be replaced, if there is one, so that it is nobody's open journal.
func hold(path string) (*os.File, error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	return host.OpenLocked(path)
}

// lasting is a path that leads to the same file whatever the working directory will be.
func lasting(path string) string {
	if whole, err := filepath.Abs(path); err == nil && path != "" {
		return whole
	}
	return path
}

// counted is a file, and how many bytes were written to it.
type counted struct {
	file *os.File
	len  int64
}

func (c *counted) Write(data []byte) (int, error) {
	n, err := c.file.Write(data)
	c.len += int64(n)
	return n, err
}
