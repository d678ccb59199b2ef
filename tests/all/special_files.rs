//! Files that hold no filter, by every kind's `load` and `save`: a huge one is refused by its last
//! 64 bytes before memory is taken, what is no regular file is neither read nor replaced, and a
//! file that is replaced keeps who may read it.

use crate::directory;

use crate::definition::{LAYOUT, get};
use crate::kinds::ALL;
use bloomline::Error;
use directory::Directory;
use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

// ---- load ----

/// More than any memory: to take it before the end of the file has been read fails.
const HUGE: u64 = 1 << 42;

/// A file of so many bytes that takes none on the disk, with `end` at its end; none if the file
/// system has no such files.
fn sparse(path: &Path, len: u64, end: &[u8]) -> Option<()> {
    let mut file = File::create(path).unwrap();
    if let Err(error) = file.set_len(len) {
        println!("not tried: no files of {len} bytes here ({error})");
        return None;
    }
    file.seek(SeekFrom::Start(len - end.len() as u64)).unwrap();
    file.write_all(end).unwrap();
    Some(())
}

#[test]
fn a_huge_file_of_zeros() {
    let directory = Directory::new("zeros");
    let path = directory.file("zeros");
    if sparse(&path, HUGE, &[]).is_none() {
        return;
    }
    for kind in ALL {
        assert!(matches!((kind.load)(&path), Err(Error::NotAFilter)), "{}", kind.name);
    }
}

/// The end of a filter behind too much: it says of which kind the file is, and how long.
#[test]
fn a_huge_file_that_ends_as_a_filter() {
    let directory = Directory::new("huge-end");
    let path = directory.file("huge");
    for writer in ALL {
        let bytes = (writer.bytes)();
        let footer = &bytes[bytes.len() - 64..];
        if sparse(&path, HUGE, footer).is_none() {
            return;
        }
        for reader in ALL {
            let error = (reader.load)(&path).unwrap_err();
            let told = if reader.layouts.contains(&get(&bytes, LAYOUT)) {
                matches!(error, Error::Truncated { .. })
            } else {
                matches!(error, Error::Layout(_))
            };
            assert!(told, "{} as {}: {error:?}", writer.name, reader.name);
        }
    }
}

#[test]
fn what_is_no_file_is_not_read() {
    let directory = Directory::new("not-read");
    for kind in ALL {
        assert!(refused((kind.load)(&directory.0)), "{}", kind.name);
    }
    #[cfg(unix)]
    for path in special_files(&directory).iter().map(|p| &**p).chain([Path::new("/dev/zero")]) {
        for kind in ALL {
            assert!(refused((kind.load)(path)), "{} from {}", kind.name, path.display());
        }
    }
}

#[test]
fn an_empty_file() {
    let directory = Directory::new("empty");
    let path = directory.file("empty");
    File::create(&path).unwrap();
    for kind in ALL {
        let error = (kind.load)(&path).unwrap_err();
        assert!(matches!(error, Error::Truncated { .. }), "{}", kind.name);
        assert!(error.to_string().contains("empty"), "{error}");
    }
}

fn refused(result: Result<(), Error>) -> bool {
    matches!(result, Err(Error::NotAFile))
}

// ---- save ----

/// A pipe, a socket, and links to them: what would hang a reader, or be lost if it were replaced.
#[cfg(unix)]
fn special_files(directory: &Directory) -> [std::path::PathBuf; 4] {
    use std::os::unix::fs::symlink;
    let names = ["pipe", "socket", "link-to-pipe", "link-to-device"];
    let paths = names.map(|name| directory.file(name));
    make_pipe(&paths[0]);
    drop(std::os::unix::net::UnixListener::bind(&paths[1]).unwrap());
    symlink(&paths[0], &paths[2]).unwrap();
    symlink("/dev/null", &paths[3]).unwrap();
    paths
}

#[cfg(unix)]
#[allow(unsafe_code)]
fn make_pipe(path: &Path) {
    use std::os::unix::ffi::OsStrExt;
    let path = std::ffi::CString::new(path.as_os_str().as_bytes()).unwrap();
    // SAFETY: the path ends with NUL.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_not_replaced() {
    let directory = Directory::new("not-replaced");
    let special = special_files(&directory);
    let inside = directory.file("directory");
    fs::create_dir(&inside).unwrap();
    let names = directory.names();
    for path in special.iter().chain([&inside]) {
        let before = fs::symlink_metadata(path).unwrap().file_type();
        for kind in ALL {
            assert!(refused((kind.save)(path)), "{} to {}", kind.name, path.display());
            assert_eq!(fs::symlink_metadata(path).unwrap().file_type(), before);
        }
    }
    assert_eq!(directory.names(), names, "and nothing beside them");
}

/// A link that leads nowhere is replaced as one that leads to a file.
#[cfg(unix)]
#[test]
fn a_link_to_nothing_is_replaced() {
    let directory = Directory::new("dangling");
    let link = directory.file("link");
    std::os::unix::fs::symlink(directory.file("nothing"), &link).unwrap();
    for kind in ALL {
        (kind.save)(&link).unwrap();
        (kind.load)(&link).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_file(), "{}", kind.name);
    }
    assert_eq!(directory.names(), ["link"]);
}

#[cfg(unix)]
mod permissions {
    //! Who may read a file that is replaced.

    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    fn make(path: &Path, mode: u32) {
        let _ = fs::remove_file(path);
        File::create(path).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn are_kept() {
        let directory = Directory::new("mode");
        let (path, other) = (directory.file("filter"), directory.file("other"));
        for kind in ALL {
            for before in [0o600, 0o640, 0o664, 0o666, 0o444, 0o400] {
                make(&path, before);
                (kind.save)(&path).unwrap();
                assert_eq!(mode(&path), before, "{}", kind.name);
            }
            // A new file has those of any new file.
            fs::remove_file(&path).unwrap();
            (kind.save)(&path).unwrap();
            let _ = fs::remove_file(&other);
            File::create(&other).unwrap();
            assert_eq!(mode(&path), mode(&other), "{}", kind.name);
        }
    }

    /// What stands in the place of a link is for those who could read through it.
    #[test]
    fn of_what_a_link_leads_to_are_kept() {
        let directory = Directory::new("link-mode");
        let (target, link) = (directory.file("target"), directory.file("link"));
        make(&target, 0o600);
        for kind in ALL {
            let _ = fs::remove_file(&link);
            symlink(&target, &link).unwrap();
            (kind.save)(&link).unwrap();
            assert!(fs::symlink_metadata(&link).unwrap().is_file());
            assert_eq!(mode(&link), 0o600, "{}", kind.name);
            assert_eq!(fs::metadata(&target).unwrap().len(), 0, "the target stays");
        }
    }

    #[test]
    fn and_the_owner_where_that_is_allowed() {
        let directory = Directory::new("owner");
        let path = directory.file("filter");
        make(&path, 0o640);
        if chown(&path, Some(12345), Some(12346)).is_err() {
            println!("not tried: this process may not give files away");
            return;
        }
        for kind in ALL {
            (kind.save)(&path).unwrap();
            let found = fs::metadata(&path).unwrap();
            assert_eq!((found.uid(), found.gid()), (12345, 12346), "{}", kind.name);
            assert_eq!(mode(&path), 0o640, "{}", kind.name);
        }
    }

    /// Where the group cannot be kept, the new one gets no more than everybody had.
    #[cfg(target_os = "linux")]
    #[test]
    fn are_not_given_to_another_group() {
        let directory = Directory::new("group");
        fs::set_permissions(&directory.0, fs::Permissions::from_mode(0o777)).unwrap();
        let path = directory.file("filter");
        for (before, after) in [(0o660, 0o600), (0o664, 0o644), (0o646, 0o646)] {
            make(&path, before);
            if chown(&path, None, Some(12346)).is_err() {
                println!("not tried: this process may not give files away");
                return;
            }
            let saved = std::thread::scope(|scope| {
                let thread = scope.spawn(|| {
                    give_up_privileges();
                    (ALL[0].save)(&path)
                });
                thread.join()
            });
            saved.unwrap().unwrap();
            assert_eq!(mode(&path), after, "from {before:o}");
        }
    }

    /// Makes this thread a user of files whom permissions bind.
    #[cfg(target_os = "linux")]
    #[allow(unsafe_code)]
    fn give_up_privileges() {
        // SAFETY: changes whose files this thread may touch; -1 changes nothing and tells.
        unsafe {
            libc::setfsuid(65534);
            assert_eq!(libc::setfsuid(u32::MAX), 65534);
        }
    }
}
