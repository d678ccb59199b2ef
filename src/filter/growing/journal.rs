//! Growing filters in journals: what changed since a record, as a record; what records make of a filter.

use super::GrowingFilter;
use super::patch;
use super::unsaved::Changes;
use crate::error::Error;
use crate::format::encoded::{self, Encoded};
use crate::format::journal::{self as format, HEADER_BYTES, Header, Kind, Point, Record};
use crate::os::file;
use std::io::{self, Read, Write};
use xxhash_rust::xxh3::Xxh3;

/// What a journal says: see [`GrowingFilter::replay`].
///
/// ```
/// use bloomline::GrowingFilter;
///
/// let mut journal = Vec::new();
/// GrowingFilter::new(1000, 0.01, 0)?.save_whole(&mut journal, 7)?;
/// let replayed = GrowingFilter::replay(&journal[..])?;
/// assert!(replayed.sequence == 7 && replayed.len == journal.len() as u64 && !replayed.is_torn);
/// # Ok::<(), bloomline::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Replayed {
    /// The filter at the last whole record.
    pub filter: GrowingFilter,
    /// The sequence number of that record.
    pub sequence: u64,
    /// How many bytes the whole records take. Cut the journal off there before you write to it again.
    pub len: u64,
    /// Whether more followed: a record that was not written to its end.
    pub is_torn: bool,
}

/// Saving what changed, and applying it.
impl GrowingFilter {
    /// Writes the whole filter as the first record of a journal. From here on it keeps the hashes of keys
    /// that are inserted and removed, for [`save_changed`](GrowingFilter::save_changed).
    ///
    /// `sequence` is a number of yours: of a block, of a log record. It says up to where the filter has
    /// your data, and [`replay`](GrowingFilter::replay) returns it.
    ///
    /// It takes a few nanoseconds per key, and the memory of a copy if the filter has changed since it was
    /// built.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::OutOfMemory`]. The filter is unchanged; some bytes may have been written.
    pub fn save_whole<W: Write>(&mut self, mut journal: W, sequence: u64) -> Result<(), Error> {
        let whole = self.whole(sequence)?;
        whole.write(self, &mut journal)?;
        journal.flush()?;
        self.is_saved(whole.point);
        Ok(())
    }

    /// Writes what changed since the last record of this filter as one more record: the prefixes of keys that
    /// were inserted and removed. A record takes 88 bytes and, at 1 %, some 20 bits for each such key if they
    /// are one in 1,000 of all keys. `sequence` must be higher than that of the last record, whole or not.
    ///
    /// It writes the whole filter instead if it does not know what changed. That is so if it was not saved,
    /// replayed or patched before, or was merged, intersected, subtracted from or cleared since, or if the
    /// changes are more than an eighth of its keys plus 4,096. Until then it keeps 8 bytes for each change.
    ///
    /// Once it has returned, [flush](std::fs::File::sync_data) the file, then acknowledge `sequence`. After
    /// an error cut the journal off where the record began, and try again: the changes are still there.
    /// [`Journal`](crate::Journal) does both.
    ///
    /// ```
    /// let mut filter = bloomline::GrowingFilter::new(1000, 0.01, 0)?;
    /// let mut journal = Vec::new(); // or a file
    /// filter.save_whole(&mut journal, 7)?;
    /// filter.insert("apple")?;
    /// filter.save_changed(&mut journal, 8)?;
    ///
    /// let replayed = bloomline::GrowingFilter::replay(&journal[..])?;
    /// assert!(replayed.sequence == 8 && replayed.filter.contains("apple"));
    /// # Ok::<(), bloomline::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Sequence`] if `sequence` is not above that of the last record; [`Error::Io`];
    /// [`Error::OutOfMemory`]. The filter is unchanged; some bytes may have been written.
    pub fn save_changed<W: Write>(&mut self, mut journal: W, sequence: u64) -> Result<(), Error> {
        if let Some(last) = self.changes.last()
            && sequence <= last
        {
            return Err(Error::Sequence { last, given: sequence });
        }
        let Some(Point { id: base, origin, .. }) = self.point() else {
            return self.save_whole(journal, sequence);
        };
        let content = self.changed()?.encode(self.longest_prefixes())?;
        let (len, content_checksum) = (content.len() as u64, format::checksum(&content));
        let kind = Kind::Changes { base, origin };
        let (header, point) = Header { kind, len, sequence, content_checksum }.seal();
        journal.write_all(&header)?;
        journal.write_all(&content)?;
        journal.flush()?;
        self.is_saved(point);
        Ok(())
    }

    /// Reads a journal to its end: the filter at the last whole record, and its sequence number. A record that
    /// was not written to its end is left out, and so are records that are there twice. Damage is not taken
    /// for the end: if a record follows it, that is an error.
    ///
    /// The filter has the keys that the one saved had. A bounded one has the same bytes. The
    /// prefixes of an unbounded one may be longer or shorter.
    ///
    /// It takes the time of decoding the whole filter and of inserting what changed. Beside the filter, it
    /// takes memory for the largest record: for a whole filter twice its bytes, for changes 8 bytes for each
    /// prefix. It allocates for bytes that are there, not for those claimed.
    ///
    /// # Errors
    /// [`Error::Truncated`] if there is no whole record; [`Error::NotAFilter`] if it does not begin as a
    /// journal; [`Error::Version`]; [`Error::Checksum`] if bytes were altered; [`Error::Reserved`];
    /// [`Error::Sequence`] if a record does not follow on the one before; as [`GrowingFilter::decode`];
    /// [`Error::Io`].
    pub fn replay<R: Read>(journal: R) -> Result<Replayed, Error> {
        replay(&mut { journal })
    }

    /// Returns the patch that brings a filter of `sequence` up to date with a journal: the records after
    /// `sequence`, for [`apply_patch`](GrowingFilter::apply_patch). If a whole filter was saved since, the
    /// patch begins with the last such one. It is empty if the filter is up to date.
    ///
    /// Only the headers of records are read.
    ///
    /// # Errors
    /// [`Error::Sequence`] if no record has this number, and the journal begins later;
    /// as [`replay`](GrowingFilter::replay), [`Error::Truncated`] also for a record that was not written to
    /// its end.
    pub fn patch_since(journal: &[u8], sequence: u64) -> Result<&[u8], Error> {
        let (mut rest, mut patch, mut last) = (journal, None, None);
        while !rest.is_empty() {
            let Record { header, rest: after, .. } = format::first(rest)?;
            // A record that is there twice.
            if last.is_some_and(|last| header.sequence <= last) {
                if patch.is_some_and(|patch: &[u8]| patch.len() == rest.len()) {
                    patch = Some(after);
                }
                rest = after;
                continue;
            }
            let is_whole = header.kind == Kind::Whole;
            if is_whole && header.sequence > sequence {
                patch = Some(rest);
            } else if header.sequence == sequence {
                patch = Some(after);
            }
            (rest, last) = (after, Some(header.sequence));
        }
        patch.ok_or(Error::Sequence { last: last.unwrap_or(0), given: sequence })
    }

    /// Brings the filter up to date by one or several records that
    /// [`save_changed`](GrowingFilter::save_changed) or [`save_whole`](GrowingFilter::save_whole) wrote.
    /// Returns the sequence number of the last one. Records that the filter has are skipped.
    ///
    /// The filter must come from [`replay`](GrowingFilter::replay) or [`Journal::open`](crate::Journal::open), or
    /// have been patched before, and nothing else may have changed or saved it since. To keep it on the disk, too,
    /// use [`Journal::apply_patch`](crate::Journal::apply_patch). It takes the time of inserting and removing what
    /// changed. A patch that begins with a whole filter also fits an empty filter that was never saved.
    ///
    /// ```
    /// use bloomline::GrowingFilter;
    ///
    /// let mut published = GrowingFilter::new(1000, 0.01, 0)?;
    /// let mut journal = Vec::new();
    /// published.save_whole(&mut journal, 1)?;
    /// let mut copy = GrowingFilter::replay(&journal[..])?.filter; // elsewhere
    ///
    /// published.insert("apple")?;
    /// published.save_changed(&mut journal, 2)?;
    /// let patch = GrowingFilter::patch_since(&journal, 1)?;
    /// assert!(copy.apply_patch(patch)? == 2 && copy.contains("apple"));
    /// # Ok::<(), bloomline::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Sequence`] if a record does not follow on what the filter has, or the filter has changed by
    /// itself; [`Error::Truncated`] for a record that is not all there; [`Error::Mismatch`] if the patch has a
    /// whole filter of another seed; others as [`replay`](GrowingFilter::replay). After `Mismatch`, `replay` of
    /// the patch returns that filter. The records before the wrong one are applied, and
    /// [`saved_sequence`](GrowingFilter::saved_sequence) returns the number of the last of them.
    pub fn apply_patch(&mut self, patch: &[u8]) -> Result<u64, Error> {
        patch::apply(self, patch)
    }

    /// The sequence number of the record that the filter was last saved, replayed or patched by. None if there
    /// is none, or if it does not know what changed since.
    pub fn saved_sequence(&self) -> Option<u64> {
        self.point().map(|point| point.sequence)
    }

    /// How many prefixes of the longest length there are.
    pub(super) fn longest_prefixes(&self) -> u64 {
        self.common.prefixes << self.common.longer.unwrap_or(0)
    }

    /// What changed, sorted, without what was inserted and removed.
    fn changed(&self) -> Result<format::Changes, Error> {
        let prefixes = self.longest_prefixes();
        let prefix = |hash: &u64| ((u128::from(*hash) * u128::from(prefixes)) >> 64) as u64;
        let sorted = |hashes: &[u64]| {
            let mut all = Vec::new();
            all.try_reserve_exact(hashes.len()).map_err(|_| Error::OutOfMemory)?;
            all.extend(hashes.iter().map(prefix));
            all.sort_unstable();
            Ok::<_, Error>(all)
        };
        let mut inserted = sorted(&self.changes.inserted)?;
        let mut removed = sorted(&self.changes.removed)?;
        without_common(&mut inserted, &mut removed);
        Ok(format::Changes { key_count: self.key_count, inserted, removed })
    }

    /// A record of all, to be written.
    pub(super) fn whole(&self, sequence: u64) -> Result<Whole, Error> {
        let own = self.settled()?;
        let mut sum = Sum { sum: Xxh3::new(), len: 0 };
        encoded::write_settled(own.as_ref().unwrap_or(self), &mut sum)?;
        let (len, content_checksum) = (sum.len, sum.sum.digest());
        let (header, point) = Header { kind: Kind::Whole, len, sequence, content_checksum }.seal();
        Ok(Whole { own, header, point })
    }

    /// From here on, what changes is what changed since this record.
    pub(super) fn is_saved(&mut self, point: Point) {
        let fresh = Changes::since(point, self.key_count);
        let Changes { mut inserted, mut removed, .. } = std::mem::replace(&mut self.changes, fresh);
        inserted.clear();
        removed.clear();
        (self.changes.inserted, self.changes.removed) = (inserted, removed);
    }

    pub(super) fn point(&self) -> Option<Point> {
        self.changes.point()
    }
}

/// A record of a whole filter: what is written before it, and the copy of which the bytes are, if any.
pub(super) struct Whole {
    own: Option<GrowingFilter>,
    header: [u8; HEADER_BYTES],
    pub(super) point: Point,
}

impl Whole {
    /// Writes it. `filter` is the one that it is of.
    pub(super) fn write(&self, filter: &GrowingFilter, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&self.header)?;
        encoded::write_settled(self.own.as_ref().unwrap_or(filter), out)
    }
}

/// The length and checksum of what is written.
struct Sum {
    sum: Xxh3,
    len: u64,
}

impl Write for Sum {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.sum.update(bytes);
        self.len += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Takes out of two sorted lists what both have.
fn without_common(a: &mut Vec<u64>, b: &mut Vec<u64>) {
    let (mut i, mut j, mut kept_a, mut kept_b) = (0, 0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Equal => (i, j) = (i + 1, j + 1),
            std::cmp::Ordering::Less => {
                a[kept_a] = a[i];
                (i, kept_a) = (i + 1, kept_a + 1);
            }
            std::cmp::Ordering::Greater => {
                b[kept_b] = b[j];
                (j, kept_b) = (j + 1, kept_b + 1);
            }
        }
    }
    a.drain(kept_a..i);
    b.drain(kept_b..j);
}

// ---- reading ----

fn replay(from: &mut dyn Read) -> Result<Replayed, Error> {
    // What is replayed, and the sequence numbers and ids of its records.
    let (mut filter, mut seen) = (None::<GrowingFilter>, Vec::<(u64, u64)>::new());
    let (mut len, mut sequence, mut content) = (0, 0, Vec::new());
    let is_torn = loop {
        let mut header = [0; HEADER_BYTES];
        let given = file::fill(from, &mut header)?;
        if given == 0 {
            break false;
        }
        let read = if given < HEADER_BYTES {
            Err(Error::Truncated { needed: HEADER_BYTES as u64, given: given as u64 })
        } else {
            record(from, &header, &mut content)
        };
        let (header, point) = match read {
            Ok(record) => record,
            // Not a journal, or of nothing.
            Err(error @ (Error::Truncated { .. } | Error::NotAFilter)) if len == 0 => {
                return Err(error);
            }
            Err(Error::Truncated { .. }) => break true,
            Err(Error::NotAFilter | Error::Checksum) => {
                // The last record, half written? Then no other follows.
                file::append_from(from, u64::MAX, &mut content)?;
                content.try_reserve(HEADER_BYTES).map_err(|_| Error::OutOfMemory)?;
                content.splice(..0, header[format::STEP..].iter().copied());
                if len == 0 || format::has_record(&content) {
                    return Err(Error::Checksum);
                }
                break true;
            }
            Err(error) => return Err(error),
        };
        len += HEADER_BYTES as u64 + header.len;
        let id = (point.sequence, point.id);
        let at = seen.partition_point(|&(sequence, _)| sequence < point.sequence);
        if seen.get(at) == Some(&id) {
            continue;
        }
        if at < seen.len() {
            return Err(Error::Sequence { last: sequence, given: point.sequence });
        }
        match &mut filter {
            Some(filter) => patch::take(filter, &header, point, &content, false)?,
            None if header.kind == Kind::Whole => {
                let mut whole = GrowingFilter::decode(&content)?;
                whole.is_saved(point);
                filter = Some(whole);
            }
            None => return Err(Error::Sequence { last: 0, given: point.sequence }),
        }
        seen.try_reserve(1).map_err(|_| Error::OutOfMemory)?;
        seen.push(id);
        sequence = point.sequence;
    };
    let none = Error::Truncated { needed: HEADER_BYTES as u64, given: 0 };
    Ok(Replayed { filter: filter.ok_or(none)?, sequence, len, is_torn })
}

/// Reads a record of which the header is there. Its content is in `content`, as far as there is one.
fn record(
    from: &mut dyn Read,
    header: &[u8; HEADER_BYTES],
    content: &mut Vec<u8>,
) -> Result<(Header, Point), Error> {
    content.clear();
    let (header, point) = Header::read(header)?;
    file::append_from(from, header.len, content)?;
    let given = content.len() as u64;
    if given < header.len {
        let all = |len: u64| len.saturating_add(HEADER_BYTES as u64);
        return Err(Error::Truncated { needed: all(header.len), given: all(given) });
    }
    if header.matches(content) { Ok((header, point)) } else { Err(Error::Checksum) }
}
