//! Files of filters: read only if they end as a filter does, replaced atomically; those that one program appends to.
//! Streams, read as far as there is memory.

use crate::error::Error;
use crate::os::flush;
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Opens a file, and returns what `content` makes of it and of its length. Errors of the system name
/// the path.
///
/// # Errors
/// Those of `content`; [`Error::Io`]; [`Error::NotAFile`] for a pipe, a device or a directory.
pub(crate) fn read<T>(
    path: &Path,
    content: impl FnOnce(&mut File, u64) -> Result<T, Error>,
) -> Result<T, Error> {
    open(path).and_then(|(mut file, len)| content(&mut file, len)).map_err(|error| error.at(path))
}

fn open(path: &Path) -> Result<(File, u64), Error> {
    // Before it is opened: to open a pipe waits until somebody writes to it.
    if !fs::metadata(path)?.is_file() {
        return Err(Error::NotAFile);
    }
    let file = File::open(path)?;
    // The name may lead to something else by now.
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(Error::NotAFile);
    }
    Ok((file, found.len()))
}

/// Reads so many bytes more, or as many as there are. Room is taken for as many as have arrived. (`read_to_end`
/// may end the process if it has no memory.)
///
/// # Errors
/// [`Error::OutOfMemory`]; those of the system. What was read before is there.
pub(crate) fn append_from(from: &mut dyn Read, most: u64, to: &mut Vec<u8>) -> Result<(), Error> {
    let mut left = most;
    while left > 0 {
        let (before, part) = (to.len(), left.min(to.len().max(1 << 13) as u64) as usize);
        to.try_reserve(part).map_err(|_| Error::OutOfMemory)?;
        to.resize(before + part, 0);
        let given = fill(from, &mut to[before..])?;
        to.truncate(before + given);
        if given < part {
            break;
        }
        left -= part as u64;
    }
    Ok(())
}

/// Reads until the buffer is full or nothing is left. Returns how many bytes it read.
///
/// # Errors
/// Those of the system.
pub(crate) fn fill(from: &mut dyn Read, buffer: &mut [u8]) -> Result<usize, Error> {
    let mut len = 0;
    while len < buffer.len() {
        match from.read(&mut buffer[len..]) {
            Ok(0) => break,
            Ok(read) => len += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(len)
}

/// Opens a file to read it and to append to it, and locks it against others that do, where the system has
/// locks. Errors of the system name the path.
///
/// # Errors
/// [`Error::Io`], of the kind `WouldBlock` if it is locked; [`Error::NotAFile`].
pub(crate) fn append(path: &Path) -> Result<File, Error> {
    let open = || {
        for _ in 0..TRIES {
            if !fs::metadata(path)?.is_file() {
                return Err(Error::NotAFile);
            }
            let file = appending().open(path)?;
            // `Ok` is locked, other errors are of file systems that have no locks.
            if let Err(TryLockError::WouldBlock) = file.try_lock() {
                break;
            }
            // Whoever held the lock may have replaced the file since it was opened.
            if is_at(&file, path)? {
                return Ok(file);
            }
        }
        // The system has no text for a lock that says what holds it.
        let held = "the file is open elsewhere, and has one writer";
        Err(io::Error::new(io::ErrorKind::WouldBlock, held).into())
    };
    open().map_err(|error| error.at(path))
}

/// How a file is opened to read it and to append to it. Windows does not cut off what was opened to append:
/// there, writers seek.
fn appending() -> OpenOptions {
    let mut options = File::options();
    options.read(true).append(cfg!(unix)).write(!cfg!(unix));
    options
}

/// How often a file may be replaced while it is being opened.
const TRIES: usize = 16;

/// Whether a path still leads to this open file, and not to another or to none. Where the system does not
/// tell files apart, it is taken to.
///
/// # Errors
/// Those of the system, but that nothing is there.
pub(crate) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let own = file.metadata()?;
        match fs::metadata(path) {
            Ok(there) => Ok((there.dev(), there.ino()) == (own.dev(), own.ino())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
    #[cfg(not(unix))]
    {
        let _ = (file, path);
        Ok(true)
    }
}

/// A copy of a path that leads to the same file whatever the working directory will be; the path as it is,
/// if that directory cannot be told.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn lasting(path: &Path) -> Result<PathBuf, Error> {
    let mut buffer = [0; 4096];
    let base = if path.is_relative() { working_directory(&mut buffer) } else { Path::new("") };
    // Room for all of it first, so that a failed allocation is an error.
    let mut own = PathBuf::new();
    let room = base.as_os_str().len() + 1 + path.as_os_str().len();
    own.try_reserve_exact(room).map_err(|_| Error::OutOfMemory)?;
    own.push(base);
    own.push(path);
    Ok(own)
}

/// The working directory; an empty path if it cannot be told.
#[cfg(unix)]
#[allow(unsafe_code)]
fn working_directory(buffer: &mut [u8; 4096]) -> &Path {
    use std::os::unix::ffi::OsStrExt;
    // SAFETY: the buffer has room for as many bytes as it says.
    let found = unsafe { libc::getcwd(buffer.as_mut_ptr().cast(), buffer.len()) };
    let end = buffer.iter().position(|&byte| byte == 0).filter(|_| !found.is_null());
    Path::new(std::ffi::OsStr::from_bytes(&buffer[..end.unwrap_or(0)]))
}

/// Files are not told apart, so whether a path leads to another one is not asked.
#[cfg(not(unix))]
fn working_directory(_: &mut [u8; 4096]) -> &Path {
    Path::new("")
}

/// Makes what `content` writes the content of the file at `path`: written beside under another
/// name, flushed to the disk, then renamed. The file that was there keeps its permissions and,
/// where the system allows that, its owner and group; of a link, which is replaced, those of the
/// file that it leads to.
///
/// # Errors
/// [`Error::NotAFile`] if the name, or a link there, leads to a pipe, a device or a directory;
/// [`Error::Io`] or [`Error::OutOfMemory`]; what was there before is still there.
/// Only if flushing the directory fails, last of all, is the new file in its place,
/// and may not survive a power failure.
pub(crate) fn replace(
    path: &Path,
    content: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), Error> {
    replace_by(path, File::options().write(true), By::Rename, content).map(drop)
}

/// As [`replace`]; returns the file, opened and locked as by [`append`]. Nobody else can lock it between. What
/// is at the path is replaced if it is the caller's own, or if nobody has it locked: neither what is there, nor
/// what another program puts there meanwhile, where the system has locks and hard links.
///
/// # Errors
/// As [`replace`]; [`Error::Io`] of the kind `WouldBlock` if it is locked.
pub(crate) fn replace_locked(
    path: &Path,
    is_own: bool,
    content: impl Fn(&mut File) -> io::Result<()>,
) -> Result<File, Error> {
    let mut tries = TRIES;
    loop {
        let held = if is_own { None } else { hold(path)? };
        let by = if is_own || held.is_some() { By::Rename } else { By::Link };
        tries -= 1;
        let replaced = replace_by(path, &mut appending(), by, |file| {
            // Nobody has a file of a new name; a file system that has no locks fails.
            let _ = file.try_lock();
            content(file)
        });
        match replaced {
            // Since it was looked for.
            Err(Error::Io(error)) if error.kind() == io::ErrorKind::AlreadyExists && tries > 0 => {}
            replaced => return replaced,
        }
    }
}

/// Locks a file that is to be replaced, if there is one, so that nobody else has it.
fn hold(path: &Path) -> Result<Option<File>, Error> {
    path.is_file().then(|| append(path)).transpose()
}

/// How a new file gets its name.
#[derive(Clone, Copy, PartialEq)]
enum By {
    /// What has the name loses it.
    Rename,
    /// Nothing had the name. What has it by now keeps it: `AlreadyExists`.
    Link,
}

impl By {
    fn name(self, beside: &Path, path: &Path) -> io::Result<()> {
        // A link that leads nowhere has the name, and is replaced.
        if self == By::Link && !path.is_symlink() {
            match fs::hard_link(beside, path) {
                Ok(()) => {
                    // A second name does no harm if it stays.
                    let _ = fs::remove_file(beside);
                    return Ok(());
                }
                Err(error) if !has_no_links(&error) => return Err(error),
                Err(_) => {}
            }
        }
        fs::rename(beside, path)
    }
}

/// Whether the file system has no hard links, or allows none. What else fails is no reason to replace a file.
fn has_no_links(error: &io::Error) -> bool {
    use io::ErrorKind::{
        CrossesDevices, InvalidInput, PermissionDenied, TooManyLinks, Unsupported,
    };
    let none = [CrossesDevices, InvalidInput, PermissionDenied, TooManyLinks, Unsupported];
    let is_taken = error.kind() == io::ErrorKind::AlreadyExists;
    !is_taken && (!cfg!(unix) || none.contains(&error.kind()))
}

fn replace_by(
    path: &Path,
    options: &mut OpenOptions,
    by: By,
    content: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<File, Error> {
    // What fails may be the file beside it, of which the caller knows nothing.
    replace_now(path, options, by, content).map_err(|error| error.at(path))
}

fn replace_now(
    path: &Path,
    options: &mut OpenOptions,
    by: By,
    content: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<File, Error> {
    if path.as_os_str().is_empty() {
        // As a reader of it gets.
        return Err(io::Error::from(io::ErrorKind::NotFound).into());
    }
    if path.file_name().is_none() {
        // The root, or what ends in `..`.
        return Err(Error::NotAFile);
    }
    let old = replaced(path)?;
    let (beside, mut file) = loop {
        let beside = name_beside(path)?;
        match create(&beside, options, old.as_ref()) {
            // The leftover of a killed process with this one's number, as is usual in
            // containers.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            file => break (beside, file?),
        }
    };
    let write = || {
        content(&mut file)?;
        #[cfg(unix)]
        old.as_ref().map_or(Ok(()), |old| access::restore(&file, old))?;
        flush::file(&file)?;
        by.name(&beside, path)
    };
    if let Err(error) = write() {
        // The first error is reported; removing the leftover may fail too.
        let _ = fs::remove_file(&beside);
        return Err(error.into());
    }
    flush::directory_of(path)?;
    Ok(file)
}

/// The file that the new one replaces, if there is one.
fn replaced(path: &Path) -> Result<Option<Metadata>, Error> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => Ok(Some(found)),
        Ok(_) => Err(Error::NotAFile),
        // No file, or a link to none. Creating the file reports any other error of the path.
        Err(_) => Ok(None),
    }
}

/// Creates a file with the system's default permissions. If it is to get those of an old one, only
/// its owner can access it until then.
fn create(path: &Path, options: &mut OpenOptions, old: Option<&Metadata>) -> io::Result<File> {
    options.create_new(true);
    #[cfg(unix)]
    if old.is_some() {
        std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = old;
    options.open(path)
}

#[cfg(unix)]
mod access {
    //! Owner, group and permissions.

    use std::fs::{File, Metadata, Permissions};
    use std::io;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

    /// Gives a file the access rights of an old one, as far as this process may. No user gains any.
    pub(super) fn restore(file: &File, old: &Metadata) -> io::Result<()> {
        let mut new = file.metadata()?;
        if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
            // Both, or else the group alone, which its members may set.
            let _ = fchown(file, Some(old.uid()), Some(old.gid()))
                .or_else(|_| fchown(file, None, Some(old.gid())));
            new = file.metadata()?;
        }
        let mut mode = old.mode() & 0o777;
        if new.gid() != old.gid() {
            // Members of the new group had the rights of others.
            mode &= !0o070 | (mode & 0o007) << 3;
        }
        if new.mode() & 0o7777 == mode {
            return Ok(());
        }
        file.set_permissions(Permissions::from_mode(mode))
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
    let directory = flush::directory(path);
    let mut beside = PathBuf::new();
    let room = directory.as_os_str().len() + 1 + len;
    beside.try_reserve_exact(room).map_err(|_| Error::OutOfMemory)?;
    beside.push(directory);
    beside.push(name);
    Ok(beside)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn is_locked(result: Result<File, Error>) -> bool {
        matches!(result, Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock)
    }

    /// Between a look at the path and the new name others are as fast: their file stays while they have it.
    #[test]
    fn what_others_have_begun_meanwhile_is_not_replaced() {
        let own = std::env::temp_dir().join(format!("bloomline-begun-{}", std::process::id()));
        fs::create_dir(&own).unwrap();
        let path = own.join("journal");
        let others =
            |text: &'static [u8]| replace_locked(&path, false, |file| file.write_all(text));
        let theirs = std::cell::Cell::new(None);
        let slow = || {
            replace_locked(&path, false, |file| {
                if !path.exists() {
                    theirs.set(Some(others(b"theirs").unwrap()));
                }
                file.write_all(b"slow")
            })
        };
        assert!(is_locked(slow()));
        assert_eq!(fs::read(&path).unwrap(), b"theirs");
        // They have it open no more when this one comes to name its own.
        fs::remove_file(&path).unwrap();
        let slow = replace_locked(&path, false, |file| {
            if !path.exists() {
                drop(others(b"theirs").unwrap());
            }
            file.write_all(b"slow")
        });
        assert!(is_at(&slow.unwrap(), &path).unwrap() && fs::read(&path).unwrap() == b"slow");
        // A link that leads nowhere.
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(own.join("nowhere"), &path).unwrap();
        let new = others(b"new").unwrap();
        assert!(!path.is_symlink() && is_locked(others(b"newer")));
        assert!(is_locked(append(&path)));
        drop(new);
        // No leftover.
        assert_eq!(fs::read_dir(&own).unwrap().count(), 1);
        fs::remove_dir_all(own).unwrap();
    }

    #[test]
    fn a_lasting_path_is_that_of_now() {
        let here = std::env::current_dir().unwrap();
        for path in ["a", "a/b", "./a", "../a"] {
            assert_eq!(lasting(Path::new(path)), Ok(here.join(path)));
            assert_eq!(lasting(&here.join(path)), Ok(here.join(path)));
        }
    }
}
