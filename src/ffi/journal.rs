//! `bloomline_journal`: a growing filter in a file that survives a crash.

use super::bloomline_write_fn;
use super::boundary::*;
use super::encode::Callback;
use super::growing::bloomline_growing;
use super::handle::handle;
use crate::{GrowingFilter, Journal};

/// A file that begins with a whole growing filter and takes what changes in it, so that after a
/// crash the filter is as it was when it was last saved.
///
/// Each record has a sequence number of yours: of a block, of a log record. It says up to where the
/// filter has your data. From there on you insert again what your own log has.
///
/// A journal has one writer: it locks the file, where the system has locks. Anybody may read it
/// meanwhile, but on Windows, where nobody else can read a locked file. It does not hold the filter,
/// which is a handle of its own and may be freed before or after.
pub struct bloomline_journal(Journal);

const _: () = shared_between_threads::<bloomline_journal>();

exports! {
/// bloomline_journal_create() begins a journal at 'path', a NUL-terminated string, on Windows in
/// UTF-8, with the whole of 'filter'. A file that is there is replaced atomically, as by
/// bloomline_growing_save(). If several programs begin one where there is none, one of them does,
/// where the file system has locks and hard links.
///
/// Errors: those of bloomline_growing_save(); BLOOMLINE_ERR_LOCKED if the file is a journal that is
/// open. BLOOMLINE_ERR_PERMISSION also if the process may not write to the file, since it then
/// cannot tell whether the file is an open journal.
fn bloomline_journal_create(
    path: *const c_char, filter: *mut bloomline_growing, sequence: u64,
    out: *mut *mut bloomline_journal,
) -> bloomline_status {
    new_handle(out, || {
        let filter = exclusive(filter).ok_or(NULL)?;
        Ok(bloomline_journal(Journal::create(path_at(path)?, &mut filter.0, sequence)?))
    })
}

/// bloomline_journal_open() opens the journal at 'path', and writes to 'filter' a new handle of the
/// filter as it was at the last whole record. What follows that, a record that was being written
/// when the program ended, is cut off; the others are on the disk. bloomline_growing_free() frees
/// the filter.
///
/// Errors: those of bloomline_growing_replay(), of bloomline_growing_load() for the file;
/// BLOOMLINE_ERR_LOCKED if it is open already, here or in another process.
fn bloomline_journal_open(
    path: *const c_char, out: *mut *mut bloomline_journal, filter: *mut *mut bloomline_growing,
) -> bloomline_status {
    guard(|| {
        let (out, filter) = (output(out)?, output(filter)?);
        let (journal, opened) = Journal::open(path_at(path)?)?;
        let journal = try_box(bloomline_journal(journal))?;
        let opened = try_box(bloomline_growing(opened)).inspect_err(|_| free(journal))?;
        out.write(journal);
        filter.write(opened);
        Ok(())
    })
}

/// bloomline_journal_save_changed() appends what changed in the filter since the last record, and
/// flushes it to the disk. Once it has returned BLOOMLINE_OK, 'sequence' may be acknowledged. A
/// filter that is not the one of the last record is written whole:
/// bloomline_growing_save_changed() says when.
///
/// Errors: BLOOMLINE_ERR_SEQUENCE if 'sequence' is not above that of the last record;
/// BLOOMLINE_ERR_IO, such as a full disk; BLOOMLINE_ERR_OUT_OF_MEMORY. The journal is as before, and
/// the filter knows what changed: try again. BLOOMLINE_ERR_NOT_FOUND if the path leads to another
/// file or to none by now, which is seen on Unix only: bloomline_journal_restart() writes a new one.
fn bloomline_journal_save_changed(
    journal: *mut bloomline_journal, filter: *mut bloomline_growing, sequence: u64,
) -> bloomline_status {
    write_to(journal, filter, |journal, filter| Ok(journal.save_changed(filter, sequence)?))
}

/// bloomline_journal_restart() replaces the file atomically by one that has the whole filter and no
/// other record, which is as short as it can be. 'sequence' may be the one it has.
///
/// Errors: those of bloomline_journal_create(); BLOOMLINE_ERR_SEQUENCE if 'sequence' is below that
/// of the last record. The journal is as before. If only the last step failed, flushing the
/// directory, the new file is in place and has the whole filter. Then
/// bloomline_journal_save_changed() fails until a bloomline_journal_restart() succeeds.
fn bloomline_journal_restart(
    journal: *mut bloomline_journal, filter: *mut bloomline_growing, sequence: u64,
) -> bloomline_status {
    write_to(journal, filter, |journal, filter| Ok(journal.restart(filter, sequence)?))
}

/// bloomline_journal_apply_patch() brings a copy of another filter up to date, and its journal. It
/// appends the records of the patch of 'len' bytes at 'patch' that the filter lacks, flushes them to
/// the disk, applies them as bloomline_growing_apply_patch() does, and writes the sequence number of
/// the last record to 'sequence', unless that is NULL. If the patch has a whole filter, a new file
/// replaces the journal atomically.
///
/// 'filter' must be as the last record of the journal says. The journal begins as a copy of the file
/// or of the records of the other filter, which bloomline_journal_open() opens. One that
/// bloomline_journal_create() or bloomline_journal_restart() wrote is of a filter of its own: then
/// only a patch that begins with a whole filter fits.
///
/// Errors: those of bloomline_growing_apply_patch() and bloomline_journal_save_changed();
/// BLOOMLINE_ERR_SEQUENCE also if the filter is not that of the last record. Both are as before.
/// Except if there is no memory once the patch is on the disk: then both have the records before the
/// one that had none. If only flushing the directory failed, bloomline_journal_restart() says how it
/// is.
fn bloomline_journal_apply_patch(
    journal: *mut bloomline_journal, filter: *mut bloomline_growing, patch: *const c_void, len: usize,
    sequence: *mut u64,
) -> bloomline_status {
    write_to(journal, filter, |journal, filter| {
        let last = journal.apply_patch(filter, bytes(patch, len).ok_or(NULL)?)?;
        write_optional(sequence, last);
        Ok(())
    })
}

/// bloomline_journal_sequence() returns the sequence number of the last record,
/// bloomline_journal_file_len() the bytes of the file. Restart it when that is a few times
/// bloomline_growing_encoded_len(). Both return 0 for NULL.
fn bloomline_journal_sequence(journal: *const bloomline_journal) -> u64 {
    read_or(journal, 0, |journal| journal.0.sequence())
}
fn bloomline_journal_file_len(journal: *const bloomline_journal) -> u64 {
    read_or(journal, 0, |journal| journal.0.file_len())
}
}

handle! { bloomline_journal(Journal) journal;
/// bloomline_journal_free() closes the file. What was not saved is not in it.
free bloomline_journal_free;
}

exports! {
/// bloomline_growing_save_whole() passes the whole filter to 'write', as the first record of a
/// journal in bytes of your own: in another store, in a message. bloomline_growing_save_changed()
/// passes what changed since the last record of this filter. At 1 % that is 88 bytes, and some 20
/// bits for each key inserted or removed if one key in 1,000 was.
///
/// It passes the whole filter instead if the filter does not know what changed. That is so if it
/// was not saved, replayed or patched before, or was united, intersected, subtracted from or cleared
/// since, or if the changes are more than an eighth of its keys plus 4,096.
///
/// Flush what was written, then acknowledge 'sequence'. After an error cut the journal off where the
/// record began, and try again: the changes are still there.
///
/// Errors: BLOOMLINE_ERR_SEQUENCE if 'sequence' is not above that of the last record, of
/// bloomline_growing_save_changed() only; BLOOMLINE_ERR_IO if 'write' fails;
/// BLOOMLINE_ERR_OUT_OF_MEMORY.
fn bloomline_growing_save_whole(
    filter: *mut bloomline_growing, write: bloomline_write_fn, context: *mut c_void, sequence: u64,
) -> bloomline_status {
    change(filter, |bloomline_growing(filter)| {
        Ok(filter.save_whole(Callback::new(write, context).ok_or(NULL)?, sequence)?)
    })
}
fn bloomline_growing_save_changed(
    filter: *mut bloomline_growing, write: bloomline_write_fn, context: *mut c_void, sequence: u64,
) -> bloomline_status {
    change(filter, |bloomline_growing(filter)| {
        Ok(filter.save_changed(Callback::new(write, context).ok_or(NULL)?, sequence)?)
    })
}

/// bloomline_growing_replay() makes a filter of the journal of 'len' bytes at 'journal': as it was
/// at the last whole record. It writes the number of that record to 'sequence', and to 'whole_len'
/// how many bytes the whole records take. If these are fewer than 'len', the last record was not
/// written to its end: cut the journal off there before you write to it again. Both may be NULL.
///
/// Errors: BLOOMLINE_ERR_TRUNCATED if there is no whole record; BLOOMLINE_ERR_NOT_A_FILTER if it
/// does not begin as a journal; BLOOMLINE_ERR_VERSION; BLOOMLINE_ERR_CHECKSUM if bytes were altered;
/// BLOOMLINE_ERR_RESERVED; BLOOMLINE_ERR_SEQUENCE if a record does not follow on the one before;
/// those of bloomline_growing_decode().
fn bloomline_growing_replay(
    journal: *const c_void, len: usize, out: *mut *mut bloomline_growing, sequence: *mut u64,
    whole_len: *mut usize,
) -> bloomline_status {
    guard(|| {
        let (out, journal) = (output(out)?, bytes(journal, len).ok_or(NULL)?);
        let replayed = GrowingFilter::replay(journal)?;
        out.write(try_box(bloomline_growing(replayed.filter))?);
        write_optional(sequence, replayed.sequence);
        // No more than there are.
        write_optional(whole_len, replayed.len as usize);
        Ok(())
    })
}

/// bloomline_growing_patch_since() finds the patch that brings a filter of 'sequence' up to date
/// with the journal of 'len' bytes at 'journal'. The patch is the journal's end, from the offset
/// that is written to 'start'; it is empty if nothing came after. Only the headers of records are
/// read.
///
/// Errors: BLOOMLINE_ERR_SEQUENCE if no record has this number, and the journal begins later;
/// those of bloomline_growing_replay(), BLOOMLINE_ERR_TRUNCATED also for a record that was not
/// written to its end.
fn bloomline_growing_patch_since(
    journal: *const c_void, len: usize, sequence: u64, start: *mut usize,
) -> bloomline_status {
    guard(|| {
        let (start, journal) = (output(start)?, bytes(journal, len).ok_or(NULL)?);
        start.write(len - GrowingFilter::patch_since(journal, sequence)?.len());
        Ok(())
    })
}

/// bloomline_growing_apply_patch() brings the filter up to date by the patch of 'len' bytes at
/// 'patch', and writes the sequence number of its last record to 'sequence', unless that is NULL.
/// Records that the filter has are skipped. The filter must come from bloomline_growing_replay() or
/// bloomline_journal_open(), or have been patched before. Nothing else may have changed or saved it
/// since: bloomline_journal_apply_patch() keeps it on the disk, too. A patch that begins with a
/// whole filter also fits an empty filter that was never saved.
///
/// Errors: BLOOMLINE_ERR_SEQUENCE if a record does not follow on what the filter has, or the filter
/// has changed by itself;
/// BLOOMLINE_ERR_MISMATCH if the patch has a whole filter of another seed: views of this filter
/// would go on with the old seed, so make a new filter of the patch by bloomline_growing_replay().
/// Also the errors of that function, BLOOMLINE_ERR_TRUNCATED also for a record that is not all
/// there. The records before the one that is wrong are applied.
fn bloomline_growing_apply_patch(
    filter: *mut bloomline_growing, patch: *const c_void, len: usize, sequence: *mut u64,
) -> bloomline_status {
    change(filter, |bloomline_growing(filter)| {
        write_optional(sequence, filter.apply_patch(bytes(patch, len).ok_or(NULL)?)?);
        Ok(())
    })
}

/// bloomline_growing_saved_sequence() writes the sequence number of the record that the filter was
/// last saved, replayed or patched by to 'sequence', unless that is NULL. Returns false, and writes
/// nothing, if there is none or the filter does not know what changed since, and if it is NULL.
fn bloomline_growing_saved_sequence(
    filter: *const bloomline_growing, sequence: *mut u64,
) -> bool {
    read_or(filter, false, |bloomline_growing(filter)| {
        filter.saved_sequence().is_some_and(|saved| {
            write_optional(sequence, saved);
            true
        })
    })
}
}

/// Writes to a journal what is to be in a filter, too.
///
/// # Safety
/// Each is NULL, or alive and the call's alone.
unsafe fn write_to(
    journal: *mut bloomline_journal,
    filter: *mut bloomline_growing,
    write: impl FnOnce(&mut Journal, &mut GrowingFilter) -> Result<(), Failure>,
) -> bloomline_status {
    // SAFETY: the same contract.
    unsafe {
        change(journal, |journal| {
            let filter = exclusive(filter).ok_or(NULL)?;
            write(&mut journal.0, &mut filter.0)
        })
    }
}
