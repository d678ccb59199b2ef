//! Flushing to the disk: files and directories, as far as their file system does it.

use std::fs::File;
use std::io;
use std::path::Path;

/// Flushes what was written to a file, and what the system says of it.
///
/// # Errors
/// Those of the system.
pub(crate) fn file(file: &File) -> io::Result<()> {
    or_plain(file, file.sync_all())
}

/// Flushes what was written to a file, and its length.
///
/// # Errors
/// Those of the system.
pub(crate) fn content(file: &File) -> io::Result<()> {
    or_plain(file, file.sync_data())
}

/// Flushes the directory that holds a file: then a new name of it is on the disk. Not every directory can be
/// opened by whoever may write in it, and not every file system flushes one.
///
/// # Errors
/// Those of the system, but that there is no such thing.
pub(crate) fn directory_of(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    if let Ok(directory) = File::open(directory(path)) {
        match directory.sync_all() {
            Err(error) if !is_unsupported(&error) => return Err(error),
            _ => {}
        }
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// The directory that holds a file.
pub(super) fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// On systems of Apple a flush goes through the disk's own memory, which not every file system can: then as far
/// as it does.
#[cfg(target_vendor = "apple")]
fn or_plain(file: &File, flushed: io::Result<()>) -> io::Result<()> {
    match flushed {
        Err(error) if is_unsupported(&error) => plain(file),
        flushed => flushed,
    }
}

#[cfg(not(target_vendor = "apple"))]
fn or_plain(_: &File, flushed: io::Result<()>) -> io::Result<()> {
    flushed
}

#[cfg(any(target_vendor = "apple", all(test, unix)))]
#[allow(unsafe_code)]
fn plain(file: &File) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    loop {
        // SAFETY: the file is open, and the call takes nothing else.
        if unsafe { libc::fsync(file.as_raw_fd()) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Whether the file system does not do what it was asked for.
#[cfg(unix)]
fn is_unsupported(error: &io::Error) -> bool {
    let codes = [libc::EINVAL, libc::ENOSYS, libc::ENOTSUP, libc::EOPNOTSUPP, libc::ENOTTY];
    error.raw_os_error().is_some_and(|code| codes.contains(&code))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_flushed_is_no_error() {
        // EINVAL, on Linux.
        assert!(directory_of(Path::new("/proc/version")).is_ok());
        for (code, expected) in [
            (libc::EINVAL, true),
            (libc::ENOSYS, true),
            (libc::ENOTSUP, true),
            (libc::EOPNOTSUPP, true),
            (libc::EIO, false),
            (libc::ENOSPC, false),
            (libc::EDQUOT, false),
        ] {
            assert_eq!(is_unsupported(&io::Error::from_raw_os_error(code)), expected, "{code}");
        }
    }

    #[test]
    fn files_are_flushed_as_far_as_the_system_does() {
        let path = std::env::temp_dir().join(format!("bloomline-flush-{}", std::process::id()));
        let own = File::create(&path).unwrap();
        for flush in [file, content, plain] {
            flush(&own).unwrap();
        }
        directory_of(&path).unwrap();
        std::fs::remove_file(path).unwrap();
    }
}
