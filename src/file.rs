//! Files that are replaced whole or not at all. Uses `error` only.

use crate::error::Error;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Makes `parts`, one after the other, the content of the file at `path`: written
/// beside under another name, flushed to the disk, then renamed.
///
/// # Errors
/// [`Error::Io`] or [`Error::OutOfMemory`]; what was there before is still there.
/// Only if flushing the directory fails, last of all, is the new file in its place,
/// and may not survive a power failure.
pub(crate) fn replace(path: &Path, parts: &[&[u8]]) -> Result<(), Error> {
    if path.file_name().is_none() {
        let what = io::ErrorKind::InvalidInput;
        return Err(io::Error::from(what).into());
    }
    let (beside, mut file) = loop {
        let beside = name_beside(path)?;
        match File::options().write(true).create_new(true).open(&beside) {
            // The leftover of a process that was killed and had this one's number, as
            // all do that are the first in their container.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            file => break (beside, file?),
        }
    };
    let mut write = || {
        parts.iter().try_for_each(|part| file.write_all(part))?;
        file.sync_all()?;
        fs::rename(&beside, path)
    };
    if let Err(error) = write() {
        // The error is what matters; the leftover goes if it can be removed.
        let _ = fs::remove_file(&beside);
        return Err(error.into());
    }
    // The new name is on the disk once its directory is. Not every directory can be
    // opened by whoever may write in it, and not every file system flushes one.
    #[cfg(unix)]
    if let Ok(directory) = File::open(directory(path)) {
        match directory.sync_all() {
            Err(error) if error.kind() != io::ErrorKind::InvalidInput => return Err(error.into()),
            _ => {}
        }
    }
    Ok(())
}

/// The directory that holds a file.
fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// A name in the same directory that no other thread or process takes. It does not
/// contain the file's own, which may be as long as the system allows.
fn name_beside(path: &Path) -> Result<PathBuf, Error> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut name = [0; 64];
    let mut rest = &mut name[..];
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    write!(rest, ".bloomline-{}-{number}.tmp", std::process::id())?;
    let len = 64 - rest.len();
    let name = str::from_utf8(&name[..len]).map_err(io::Error::other)?;

    // Room for all of it first, so that a failed allocation is an error.
    let directory = directory(path);
    let mut beside = PathBuf::new();
    let room = directory.as_os_str().len() + 1 + len;
    beside.try_reserve_exact(room).map_err(|_| Error::OutOfMemory)?;
    beside.push(directory);
    beside.push(name);
    Ok(beside)
}
