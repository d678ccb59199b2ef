//! The journal of a growing filter in a file: begun at once, appended to, flushed, cut off where it is torn.

use super::GrowingFilter;
use super::journal::Replayed;
use super::patch::{self, Patched, Step};
use crate::error::Error;
use crate::format::journal::Point;
use crate::os::{file, flush};
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A file that holds a growing filter, and takes what changes in it, so that after a crash the filter is
/// there as it was when it was last saved.
///
/// ```
/// use bloomline::{GrowingFilter, Journal};
///
/// let path = std::env::temp_dir().join(format!("{}.journal", std::process::id()));
/// let mut filter = GrowingFilter::new(1_000_000, 0.01, 0)?;
/// let mut journal = Journal::create(&path, &mut filter, 0)?;
/// filter.insert("apple")?;
/// journal.save_changed(&mut filter, 1)?; // 1 is on the disk
///
/// // After a restart.
/// # drop(journal);
/// let (journal, filter) = Journal::open(&path)?;
/// assert!(journal.sequence() == 1 && filter.contains("apple"));
/// # drop(journal);
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A journal has one writer: it locks the file, where the system has locks. Anybody may read it meanwhile, by
/// [`GrowingFilter::replay`], but on Windows, where nobody else can read a locked file.
///
/// It gets longer with each record. [`restart`](Journal::restart) makes it as short as it can be.
#[derive(Debug)]
pub struct Journal {
    /// Opened to append.
    file: File,
    /// Absolute, as the working directory may change.
    path: PathBuf,
    /// The last record, and where it ends.
    point: Point,
    len: u64,
    /// Whether something is behind it that could not be cut off.
    is_broken: bool,
}

impl Journal {
    /// Begins a journal with the whole filter. A file that is there is replaced atomically, as
    /// [`GrowingFilter::save`] does. For `sequence` see [`GrowingFilter::save_whole`].
    ///
    /// If several programs begin a journal where there is none, one of them does, where the file system has locks
    /// and hard links.
    ///
    /// # Errors
    /// As [`GrowingFilter::save`]; [`Error::Io`] of the kind `WouldBlock` if the file is a journal that is
    /// open. [`Error::Io`] of the kind `PermissionDenied` if the process may not write to the file, since it
    /// then cannot find out whether the file is an open journal.
    pub fn create<P: AsRef<Path>>(
        path: P,
        filter: &mut GrowingFilter,
        sequence: u64,
    ) -> Result<Journal, Error> {
        let path = path.as_ref();
        let own = file::lasting(path)?;
        let (file, point, len) = begin(path, false, filter, sequence)?;
        Ok(Journal { file, path: own, point, len, is_broken: false })
    }

    /// Opens a journal, and returns the filter as it was at the last whole record. What follows that, a record
    /// that was being written when the program ended, is cut off.
    ///
    /// Everything that was acknowledged is there: compare [`sequence`](Journal::sequence) with the number
    /// that you know of, and insert again what came after it. What it returns is on the disk.
    ///
    /// # Errors
    /// As [`GrowingFilter::replay`]; [`Error::NotAFile`]; [`Error::Io`], of the kind `WouldBlock` if it is
    /// open already.
    pub fn open<P: AsRef<Path>>(path: P) -> Result<(Journal, GrowingFilter), Error> {
        Journal::open_by(path.as_ref(), |file, path| {
            flush::file(file)?;
            flush::directory_of(path)
        })
    }

    fn open_by(
        path: &Path,
        flush: impl FnOnce(&File, &Path) -> io::Result<()>,
    ) -> Result<(Journal, GrowingFilter), Error> {
        let (own, file) = (file::lasting(path)?, file::append(path)?);
        let read = || {
            let Replayed { filter, len, is_torn, .. } = GrowingFilter::replay(&file)?;
            if is_torn {
                file.set_len(len)?;
            }
            // Whoever wrote the last record may have ended before it was on the disk.
            flush(&file, path)?;
            Ok::<_, Error>((filter, len))
        };
        let (filter, len) = read().map_err(|error| error.at(path))?;
        let none = Error::Sequence { last: 0, given: 0 };
        let point = filter.point().ok_or(none)?;
        Ok((Journal { file, path: own, point, len, is_broken: false }, filter))
    }

    /// Appends what changed in the filter since the last record, and flushes it to the disk. Once it has
    /// returned, `sequence` may be acknowledged. A filter that is not the one of the last record is written
    /// whole: see [`GrowingFilter::save_changed`].
    ///
    /// # Errors
    /// [`Error::Sequence`] if `sequence` is not above that of the last record; [`Error::Io`], such as a full
    /// disk; [`Error::OutOfMemory`]. The journal is as before, and the filter knows what changed: try again.
    /// If the disk fails altogether, or the path leads to another file or to none by now, each further call
    /// is an error until [`restart`](Journal::restart) has written a new file. Only on Unix does it see where
    /// the path leads.
    pub fn save_changed(&mut self, filter: &mut GrowingFilter, sequence: u64) -> Result<(), Error> {
        if sequence <= self.point.sequence {
            return Err(Error::Sequence { last: self.point.sequence, given: sequence });
        }
        self.begin_record()?;
        let mut out = Flushed { file: &self.file, len: 0 };
        let saved = if filter.point() == Some(self.point) {
            filter.save_changed(&mut out, sequence)
        } else {
            filter.save_whole(&mut out, sequence)
        };
        let len = out.len;
        match (saved, filter.point()) {
            (Ok(()), Some(point)) => {
                (self.point, self.len) = (point, self.len + len);
                Ok(())
            }
            (saved, _) => {
                self.is_broken = self.cut().is_err();
                saved.map_err(|error| error.at(&self.path))
            }
        }
    }

    /// Replaces the file atomically by one that has the whole filter and no other record. `sequence` may be
    /// that of the last record, or a higher one.
    ///
    /// # Errors
    /// As [`GrowingFilter::save`]; [`Error::Sequence`] if `sequence` is below that of the last record;
    /// [`Error::Io`] of the kind `WouldBlock` if the path leads to another journal, and that is open, also if
    /// that is begun meanwhile: see [`Journal::create`]. The journal is as before. If only the last step failed,
    /// flushing the directory, the new file is in place and has the whole filter. Then
    /// [`save_changed`](Journal::save_changed) fails until a restart succeeds.
    pub fn restart(&mut self, filter: &mut GrowingFilter, sequence: u64) -> Result<(), Error> {
        if sequence < self.point.sequence {
            return Err(Error::Sequence { last: self.point.sequence, given: sequence });
        }
        let is_own = self.is_there()?;
        (self.file, self.point, self.len) = begin(&self.path, is_own, filter, sequence)?;
        self.is_broken = false;
        Ok(())
    }

    /// Brings a copy of another filter up to date, and its journal: appends the records of a patch that the filter
    /// lacks, flushes them to the disk, and applies them as [`GrowingFilter::apply_patch`] does. If the patch
    /// has a whole filter, a new file replaces the journal atomically, as there is nothing to keep before that.
    /// Returns the sequence number of the last record.
    ///
    /// The filter must be as the last record of the journal says. The journal begins as a copy of the file or of
    /// the records of the other filter. One that [`create`](Journal::create) or [`restart`](Journal::restart) wrote
    /// is of a filter of its own, so that only a patch that begins with a whole filter fits.
    ///
    /// ```
    /// use bloomline::{GrowingFilter, Journal};
    ///
    /// let mut published = GrowingFilter::new(1000, 0.01, 0)?;
    /// let mut records = Vec::new();
    /// published.save_whole(&mut records, 1)?;
    ///
    /// // Elsewhere.
    /// let path = std::env::temp_dir().join(format!("{}.copy", std::process::id()));
    /// std::fs::write(&path, &records).unwrap();
    /// let (mut journal, mut copy) = Journal::open(&path)?;
    ///
    /// published.insert("apple")?;
    /// published.save_changed(&mut records, 2)?;
    /// let patch = GrowingFilter::patch_since(&records, journal.sequence())?;
    /// assert!(journal.apply_patch(&mut copy, patch)? == 2 && copy.contains("apple"));
    /// # drop(journal);
    /// # std::fs::remove_file(path).unwrap();
    /// # Ok::<(), bloomline::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`GrowingFilter::apply_patch`] and [`save_changed`](Journal::save_changed); [`Error::Sequence`] also if
    /// the filter is not that of the last record. The journal and the filter are as before. Except if there is no
    /// memory once the patch is on the disk: then both have the records before the one that had none. If only
    /// flushing the directory failed, it is as in [`restart`](Journal::restart).
    pub fn apply_patch(&mut self, filter: &mut GrowingFilter, patch: &[u8]) -> Result<u64, Error> {
        self.patch(filter, patch)
    }

    /// The same, of a filter that readers see or not.
    pub(super) fn patch(&mut self, to: &mut impl Patched, patch: &[u8]) -> Result<u64, Error> {
        let saved = to.filter().point();
        if saved != Some(self.point) {
            let given = saved.map_or(0, |saved| saved.sequence);
            return Err(Error::Sequence { last: self.point.sequence, given });
        }
        let records = patch::lacking(to.filter(), patch)?;
        let write =
            |mut file: &File| records.iter().try_for_each(|record| file.write_all(record.bytes));
        match records.first().map(|record| &record.step) {
            None => return Ok(self.point.sequence),
            Some(Step::Whole(_)) => {
                let is_own = self.is_there()?;
                self.file = file::replace_locked(&self.path, is_own, |file| write(file))?;
                (self.len, self.is_broken) = (0, false);
            }
            Some(Step::Changes(_)) => {
                self.begin_record()?;
                if let Err(error) = write(&self.file).and_then(|()| flush::content(&self.file)) {
                    self.is_broken = self.cut().is_err();
                    return Err(Error::from(error).at(&self.path));
                }
            }
        }
        for record in records {
            if let Err(error) = record.step.make(to, record.point) {
                self.is_broken = self.cut().is_err();
                return Err(error.at(&self.path));
            }
            self.point = record.point;
            self.len += record.bytes.len() as u64;
        }
        Ok(self.point.sequence)
    }

    /// The sequence number of the last record.
    pub fn sequence(&self) -> u64 {
        self.point.sequence
    }

    /// The bytes of the file.
    pub fn file_len(&self) -> u64 {
        self.len
    }

    /// Whether the path leads to the file.
    fn is_there(&self) -> Result<bool, Error> {
        file::is_at(&self.file, &self.path).map_err(|error| Error::from(error).at(&self.path))
    }

    /// What is written next comes behind the last record.
    fn begin_record(&mut self) -> Result<(), Error> {
        if !self.is_there()? {
            // What is written to a file without a name is lost with it.
            let replaced =
                io::Error::new(io::ErrorKind::NotFound, "the journal was replaced or removed");
            return Err(Error::from(replaced).at(&self.path));
        }
        if self.is_broken {
            self.cut()?;
        }
        // Where the system does not append by itself.
        let end = (&self.file).seek(SeekFrom::Start(self.len));
        end.map(drop).map_err(|error| Error::from(error).at(&self.path))
    }

    /// Cuts off what is behind the last record.
    fn cut(&mut self) -> Result<(), Error> {
        let cut = || {
            self.file.set_len(self.len)?;
            flush::file(&self.file)
        };
        cut().map_err(|error| Error::from(error).at(&self.path))?;
        self.is_broken = false;
        Ok(())
    }
}

/// Makes the whole filter the content of a file, that of the caller or nobody's. Returns that, opened to append,
/// its record and its length.
fn begin(
    path: &Path,
    is_own: bool,
    filter: &mut GrowingFilter,
    sequence: u64,
) -> Result<(File, Point, u64), Error> {
    let whole = filter.whole(sequence)?;
    let file = file::replace_locked(path, is_own, |file| whole.write(filter, file))?;
    let len = file.metadata().map_err(|error| Error::from(error).at(path))?.len();
    filter.is_saved(whole.point);
    Ok((file, whole.point, len))
}

/// A file whose `flush` is one to the disk, and what was written to it.
struct Flushed<'a> {
    file: &'a File,
    len: u64,
}

impl Write for Flushed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = self.file.write(bytes)?;
        self.len += len as u64;
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        flush::content(self.file)
    }
}

#[cfg(test)]
#[test]
fn what_is_opened_is_flushed() {
    let path = std::env::temp_dir().join(format!("bloomline-opened-{}", std::process::id()));
    let mut filter = GrowingFilter::new(100, 0.01, 0).unwrap();
    drop(Journal::create(&path, &mut filter, 3).unwrap());
    let fails = Journal::open_by(&path, |_, _| Err(io::ErrorKind::StorageFull.into()));
    assert!(matches!(fails, Err(Error::Io(error)) if error.kind() == io::ErrorKind::StorageFull));
    let flushed = std::cell::Cell::new(0);
    let flush = |_: &File, at: &Path| {
        flushed.set(flushed.get() + usize::from(at == path));
        Ok(())
    };
    assert_eq!(Journal::open_by(&path, flush).unwrap().0.sequence(), 3);
    assert_eq!(flushed.get(), 1);
    std::fs::remove_file(path).unwrap();
}
