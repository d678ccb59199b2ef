package bloomline

// The journal of a growing filter in a file: begun at once, appended to, flushed, cut off where it is torn.

import (
	"fmt"
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
	_ noCopy
	noText
	file   *os.File // opened to append; nil if it is closed
	path   string   // absolute, as the working directory may change
	point  growing.Point
	len    int64 // where the last record ends
	broken bool  // something is behind it that could not be cut off
}

// CreateJournal begins a journal with the whole filter. A file that is there is replaced atomically, as
// [GrowingFilter.Save] does. For sequence see [GrowingFilter.SaveWhole]. Close the journal when it is no longer needed.
// If several programs begin one where there is none, one of them does, where the file system has locks and hard links.
//
// Errors: those of [GrowingFilter.Save]; [ErrLocked] if the file is a journal that is open, [fs.ErrPermission] if the
// process may not write to it: then nothing says whether it is.
func CreateJournal(path string, filter *GrowingFilter, sequence uint64) (*Journal, error) {
	j, record := &Journal{path: lasting(path)}, orZero(filter).whole(sequence)
	file, err := host.ReplaceLocked(path, nil, record)
	if err != nil {
		return nil, err
	}
	j.file = file
	j.begins(filter, record)
	return j, nil
}

// OpenJournal opens a journal, and returns the filter as it was at the last whole record. What follows that, a record
// that was being written when the program ended, is cut off.
//
// Everything that was acknowledged is there: compare [Journal.Sequence] with the number that you know of, and add
// again what came after it. What it returns is on the disk.
//
// Errors: those of [ReplayJournal]; [ErrNotAFile]; [ErrLocked] if it is open already; those of the system, such as
// [fs.ErrNotExist]. They name the file.
func OpenJournal(path string) (*Journal, *GrowingFilter, error) {
	return openJournal(path, func(file *os.File) error {
		if err := file.Sync(); err != nil {
			return err
		}
		return host.SyncDirOf(path)
	})
}

func openJournal(path string, flush func(*os.File) error) (*Journal, *GrowingFilter, error) {
	file, err := host.OpenLocked(path)
	if err != nil {
		return nil, nil, err
	}
	all, err := ReplayJournal(file)
	if err == nil && all.Torn {
		err = file.Truncate(all.Len)
	}
	if err == nil {
		// Whoever wrote the last record may have ended before it was on the disk.
		err = flush(file)
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
	err := j.toItsEnd()
	if err != nil {
		return err
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
	record := orZero(filter).whole(sequence)
	if err := j.replace(record); err != nil {
		return err
	}
	j.begins(filter, record)
	return nil
}

// ApplyPatch brings a copy of another filter up to date, and its journal: it appends the records of a patch that the
// filter lacks, flushes them to the disk, and applies them as [GrowingFilter.ApplyPatch] does. If the patch has a whole
// filter, a new file replaces the journal atomically. It returns the sequence number of the last record.
//
// The filter is as the last record of the journal says. The journal begins as a copy of the file or of the records of
// the other filter, which [OpenJournal] opens. One that [CreateJournal] or [Journal.Restart] wrote is of a filter of its
// own, so that only a patch that begins with a whole filter fits.
//
// Errors: those of [GrowingFilter.ApplyPatch] and [Journal.SaveChanged]; [ErrSequence] also if the filter is not that of
// the last record. Both are as before. Except if there is no memory once the patch is on the disk: then both have the
// records before the one that had none. If only flushing the directory failed, it is as in [Journal.Restart].
func (j *Journal) ApplyPatch(filter *GrowingFilter, patch []byte) (uint64, error) {
	mustBeThere(filter)
	if c := &filter.changes; c.most == 0 || c.point != j.point {
		return 0, noSequence(c.point.Sequence, j.point.Sequence)
	}
	steps, err := filter.lacking(patch)
	switch {
	case err != nil:
		return 0, err
	case len(steps) == 0:
		return j.point.Sequence, nil
	case steps[0].whole != nil:
		if err = j.replace(patchRecords(steps)); err == nil {
			j.len, j.broken = 0, false
		}
	default:
		err = j.append(patchRecords(steps))
	}
	if err != nil {
		return 0, err
	}
	for _, step := range steps {
		if err := filter.make(step, true); err != nil {
			j.broken = j.cut() != nil
			return 0, j.failed(err)
		}
		j.point, j.len = step.point, j.len+int64(len(step.record))
	}
	return j.point.Sequence, nil
}

// patchRecords are the bytes of records, to be written.
type patchRecords []*journalStep

func (p patchRecords) WriteTo(to io.Writer) (written int64, err error) {
	for _, step := range p {
		n, err := to.Write(step.record)
		if written += int64(n); err != nil {
			return written, err
		}
	}
	return written, nil
}

// append writes records behind the last one, and flushes them.
func (j *Journal) append(records patchRecords) error {
	if err := j.toItsEnd(); err != nil {
		return err
	}
	_, err := records.WriteTo(j.file)
	if err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		j.broken = j.cut() != nil
		return j.failed(err)
	}
	return nil
}

// replace replaces the file.
func (j *Journal) replace(content io.WriterTo) error {
	there, err := j.isThere()
	if err != nil {
		return j.failed(err)
	}
	was, err := j.file.Stat()
	if err != nil {
		return j.failed(err)
	}
	old, own := j.file, j.file
	if !there {
		own = nil
	}
	file, err := host.ReplaceLocked(j.path, own, content)
	switch {
	case err == nil:
		j.file = file
		_ = old.Close()
	case there && !host.RenamesOpen:
		j.takeBack(was)
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

// String returns the path, the last sequence number and the length, for logs.
func (j *Journal) String() string {
	if j == nil {
		return "bloomline.Journal{nil}"
	}
	return fmt.Sprintf("bloomline.Journal{%s, sequence %d, %d bytes}", j.path, j.Sequence(), j.Len())
}

// Close closes the file. What was not saved is not in it.
//
// Errors: [fs.ErrClosed] if the journal is closed; those of the system. They name the file.
func (j *Journal) Close() error {
	if err := j.file.Close(); err != nil {
		return host.Named("close", j.path, err)
	}
	return nil
}

// toItsEnd readies the file: what is written next comes behind the last record.
func (j *Journal) toItsEnd() error {
	there, err := j.isThere()
	if err == nil && !there {
		// What is written to a file without a name is lost with it.
		err = fs.ErrNotExist
	}
	if err == nil && j.broken {
		err = j.cut()
	}
	if err == nil {
		// Where the system does not append by itself.
		_, err = j.file.Seek(j.len, io.SeekStart)
	}
	if err != nil {
		return j.failed(err)
	}
	return nil
}

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

// failed is an error that names the journal, by no name that its file had before.
func (j *Journal) failed(err error) error { return host.Named("save", j.path, err) }

// begins says that the file has this record, of the whole filter.
func (j *Journal) begins(filter *GrowingFilter, record *wholeRecord) {
	filter.isSaved(record.point)
	j.point, j.len, j.broken = record.point, record.len(), false
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
