//! Filters in files: saved, loaded, mapped. A save leaves the old file or the new one,
//! whole, whatever happens, and nothing beside it; what cannot be read says why.

mod definition;
mod directory;
mod mapped;

use bloomline::{Error, Filter, Params};
use definition::{random_hashes, status, status_of};
use directory::Directory;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

fn filter(lines: u64, seed: u64) -> Filter {
    let mut filter = Filter::new(Params::new(lines, 6, seed).unwrap()).unwrap();
    filter.insert_hashes(&random_hashes(lines as usize * 40, seed));
    filter
}

fn io_kind<T>(result: Result<T, Error>) -> ErrorKind {
    match result {
        Err(Error::Io(error)) => error.kind(),
        Err(error) => panic!("{error:?} where the system refuses"),
        Ok(_) => panic!("done where the system refuses"),
    }
}

/// The error names the path as it was given, and no other.
fn assert_names<T>(result: &Result<T, Error>, path: &Path) {
    let Some(error @ Error::Io(io)) = result.as_ref().err() else { panic!("{}", path.display()) };
    assert_eq!(io.path(), Some(path));
    let said = error.to_string();
    let named = format!("input or output failed: {}: ", path.display());
    let empty = path == Path::new("") && said == "input or output failed: the path is empty";
    assert!(empty || said.starts_with(&named), "{said}");
    assert!(!said.contains(".bloomline-"), "{said}");
}

// ---- round trips ----

#[test]
fn saved_loaded_and_mapped() {
    let directory = Directory::new("round-trip");
    let path = directory.file("filter");
    // One line; some; and more than a huge page, where memory is mapped.
    for lines in [1, 100, 40_000] {
        let filter = filter(lines, lines);
        filter.save(&path).unwrap();
        assert_eq!(directory.names(), ["filter"], "the name, and nothing beside it");
        assert!(fs::read(&path).unwrap() == filter.to_bytes().unwrap());

        let loaded = Filter::load(&path).unwrap();
        assert_eq!(loaded.params(), filter.params());
        assert_eq!(loaded.key_count(), filter.key_count());
        assert!(loaded.lines() == filter.lines());

        let hashes = random_hashes(lines as usize * 40, lines);
        let maps = [mapped::open(&path), mapped::open_unverified(&path)];
        for map in maps.map(Result::unwrap) {
            let view = map.view();
            assert_eq!(view.params(), Some(filter.params()));
            assert_eq!(view.key_count(), filter.key_count());
            assert!(view.lines() == filter.lines());
            let mut bitmap = vec![0; hashes.len().div_ceil(64)];
            assert_eq!(view.contains_hashes(&hashes, &mut bitmap), hashes.len());
        }
    }
}

/// A path without a directory is one of the working directory. All other tests of this
/// process name their files in full, so it may be changed.
#[test]
fn a_bare_name() {
    let directory = Directory::new("bare-name");
    let before = std::env::current_dir().unwrap();
    std::env::set_current_dir(&directory.0).unwrap();
    let filter = filter(2, 1);
    let saved = filter.save(Path::new("filter"));
    let loaded = Filter::load(Path::new("filter"));
    std::env::set_current_dir(before).unwrap();
    saved.unwrap();
    assert!(loaded.unwrap().lines() == filter.lines());
    assert_eq!(directory.names(), ["filter"]);
}

/// The longest name that the file system takes can be saved to: the name beside it is
/// not made from it.
#[test]
fn the_longest_name() {
    let directory = Directory::new("longest-name");
    let path = directory.file(&"x".repeat(255));
    if fs::write(&path, "").is_err() {
        println!("not tried: this file system takes no names of 255 bytes");
        return;
    }
    filter(2, 1).save(&path).unwrap();
    Filter::load(&path).unwrap();
}

// ---- a map and a new file ----

#[test]
fn a_map_keeps_the_file_it_was_made_of() {
    let directory = Directory::new("map-keeps");
    let path = directory.file("filter");
    let (old, new) = (filter(100, 1), filter(3, 2));
    old.save(&path).unwrap();
    let map = mapped::open(&path).unwrap();
    new.save(&path).unwrap();
    assert!(map.view().lines() == old.lines());
    assert!(mapped::open(&path).unwrap().view().lines() == new.lines());
    fs::remove_file(&path).unwrap();
    assert!(map.view().lines() == old.lines());
}

/// Threads that save to one name while others read it: what is read is always one of
/// the filters, whole.
#[test]
fn readers_find_one_of_the_filters() {
    let directory = Directory::new("readers");
    let path = directory.file("filter");
    let filters: Vec<Filter> = (0..4).map(|i| filter(1 + 50 * i, i)).collect();
    filters[0].save(&path).unwrap();
    std::thread::scope(|scope| {
        for filter in &filters {
            let path = &path;
            scope.spawn(move || (0..25).for_each(|_| filter.save(path).unwrap()));
        }
        for _ in 0..300 {
            let loaded = Filter::load(&path).unwrap();
            let mapped = mapped::open(&path).unwrap();
            for bytes in [loaded.lines(), mapped.view().lines()] {
                assert!(filters.iter().any(|filter| filter.lines() == bytes));
            }
        }
    });
    assert_eq!(directory.names(), ["filter"]);
}

// ---- saves that fail ----

/// The save fails with this kind of error, and the directory is as it was.
fn assert_save_fails(directory: &Directory, path: &Path, kinds: &[ErrorKind]) {
    let before = directory.names();
    let result = filter(5, 3).save(path);
    // Not that of the file beside it.
    assert_names(&result, path);
    let kind = io_kind(result);
    assert!(kinds.contains(&kind), "{} gives {kind:?}", path.display());
    assert_eq!(directory.names(), before, "after saving to {}", path.display());
}

#[test]
fn saving_to_what_is_no_file() {
    let directory = Directory::new("no-file");
    let target = directory.file("directory");
    fs::create_dir(&target).unwrap();
    fs::write(target.join("inside"), "kept").unwrap();
    assert!(matches!(filter(5, 3).save(&target), Err(Error::NotAFile)));
    assert_eq!(fs::read(target.join("inside")).unwrap(), b"kept");

    assert_save_fails(&directory, &directory.file("missing/filter"), &[ErrorKind::NotFound]);
    fs::write(directory.file("file"), "").unwrap();
    let kinds = [ErrorKind::NotADirectory, ErrorKind::NotFound];
    assert_save_fails(&directory, &directory.file("file/filter"), &kinds);
    assert_save_fails(&directory, Path::new(""), &[ErrorKind::NotFound]);
    for path in ["/".into(), "..".into(), directory.file("..")] {
        assert!(matches!(filter(5, 3).save(path), Err(Error::NotAFile)));
    }
}

#[test]
fn errors_name_the_path() {
    let directory = Directory::new("named");
    for path in ["".into(), directory.file("missing"), directory.file("missing/below")] {
        assert_names(&Filter::load(&path), &path);
        assert_names(&bloomline::Cascade::load(&path), &path);
        assert_names(&mapped::open(&path), &path);
        assert_names(&mapped::open_unverified(&path), &path);
        assert_names(&mapped::open_cascade(&path), &path);
    }
}

/// In a directory that may be read and not written to, the old file stays.
#[cfg(unix)]
#[test]
fn saving_where_nothing_may_be_written() {
    use std::os::unix::fs::PermissionsExt;
    let directory = Directory::new("read-only");
    let path = directory.file("filter");
    let old = filter(3, 1);
    old.save(&path).unwrap();
    fs::set_permissions(&directory.0, fs::Permissions::from_mode(0o555)).unwrap();
    let tried = without_privileges(|| {
        assert_save_fails(&directory, &path, &[ErrorKind::PermissionDenied]);
        assert!(Filter::load(&path).unwrap().lines() == old.lines());
    });
    fs::set_permissions(&directory.0, fs::Permissions::from_mode(0o755)).unwrap();
    tried.unwrap();
}

/// A directory that may be written to and not read, and so not flushed, takes a file.
#[cfg(unix)]
#[test]
fn saving_where_the_directory_cannot_be_flushed() {
    use std::os::unix::fs::PermissionsExt;
    let directory = Directory::new("write-only");
    let path = directory.file("filter");
    let new = filter(5, 3);
    filter(3, 1).save(&path).unwrap();
    fs::set_permissions(&directory.0, fs::Permissions::from_mode(0o333)).unwrap();
    let tried = without_privileges(|| new.save(&path).unwrap());
    fs::set_permissions(&directory.0, fs::Permissions::from_mode(0o755)).unwrap();
    tried.unwrap();
    assert_eq!(directory.names(), ["filter"]);
    println!("{} lines there", Filter::load(&path).unwrap().params().line_count());
}

/// Runs a test as a user whom permissions bind: root gives up its rights to files for
/// the thread, where the system lets it, and says so where it does not.
#[cfg(unix)]
fn without_privileges(test: impl FnOnce() + Send) -> std::thread::Result<()> {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            if give_up_privileges() {
                test();
            } else {
                println!("not tried: this process may write anywhere");
            }
        });
        thread.join()
    })
}

/// Whether permissions of files bind this thread from now on.
#[cfg(unix)]
#[allow(unsafe_code)]
fn give_up_privileges() -> bool {
    // SAFETY: tells a number.
    if unsafe { libc::geteuid() } != 0 {
        return true;
    }
    #[cfg(target_os = "linux")]
    // SAFETY: changes whose files this thread may touch; -1 changes nothing and tells.
    unsafe {
        libc::setfsuid(65534);
        libc::setfsuid(u32::MAX) == 65534
    }
    #[cfg(not(target_os = "linux"))]
    false
}

/// Leftovers of processes that were killed while saving, this one's number among them,
/// neither stop a save nor are they touched.
#[test]
fn leftovers_are_passed_over() {
    let directory = Directory::new("leftovers");
    for number in 0..2000 {
        let name = format!(".bloomline-{}-{number}.tmp", std::process::id());
        fs::write(directory.file(&name), "left over").unwrap();
    }
    let path = directory.file("filter");
    filter(3, 1).save(&path).unwrap();
    Filter::load(&path).unwrap();
    assert_eq!(directory.names().len(), 2001);
    for name in directory.names().iter().filter(|&name| name != "filter") {
        assert_eq!(fs::read(directory.file(name)).unwrap(), b"left over");
    }
}

/// A symbolic link is replaced by the file; what it led to stays.
#[cfg(unix)]
#[test]
fn a_link_is_replaced() {
    let directory = Directory::new("link");
    let (target, link) = (directory.file("target"), directory.file("link"));
    let old = filter(3, 1);
    old.save(&target).unwrap();
    std::os::unix::fs::symlink(&target, &link).unwrap();
    assert!(Filter::load(&link).unwrap().lines() == old.lines(), "a link is read through");
    let new = filter(4, 2);
    new.save(&link).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_file());
    assert!(Filter::load(&link).unwrap().lines() == new.lines());
    assert!(Filter::load(&target).unwrap().lines() == old.lines());
}

// ---- files that cannot be read ----

/// What opening a file gives by each way: loaded, mapped, mapped unverified.
fn open_each_way(path: &Path) -> [Result<(), Error>; 3] {
    [
        Filter::load(path).map(|_| ()),
        mapped::open(path).map(|_| ()),
        mapped::open_unverified(path).map(|_| ()),
    ]
}

#[test]
fn reading_what_is_not_there() {
    let directory = Directory::new("not-there");
    for result in open_each_way(&directory.file("missing")) {
        assert_eq!(io_kind(result), ErrorKind::NotFound);
    }
    for result in open_each_way(&directory.0) {
        assert!(matches!(result, Err(Error::NotAFile)));
    }
}

#[cfg(unix)]
#[test]
fn reading_what_may_not_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let directory = Directory::new("unreadable");
    let path = directory.file("filter");
    filter(3, 1).save(&path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    let tried = without_privileges(|| {
        for result in open_each_way(&path) {
            assert_eq!(io_kind(result), ErrorKind::PermissionDenied);
        }
    });
    tried.unwrap();
}

#[test]
fn reading_short_files() {
    let directory = Directory::new("short");
    let (path, bytes) = (directory.file("filter"), filter(2, 1).to_bytes().unwrap());
    for len in (0..bytes.len()).filter(|len| len % 7 == 0 || *len < 3) {
        fs::write(&path, &bytes[..len]).unwrap();
        let expected = if len < 64 { status::TRUNCATED } else { status::NOT_A_FILTER };
        for result in open_each_way(&path) {
            assert_eq!(status_of(&result.unwrap_err()), expected, "{len} bytes");
        }
    }
}

/// The golden files as files: accepted or rejected as their bytes are.
#[test]
fn golden_files() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    let manifest = fs::read_to_string(golden.join("MANIFEST")).unwrap();
    let (mut accepted, mut rejected) = (0, 0);
    for row in manifest.lines() {
        let fields: Vec<&str> = row.split(' ').collect();
        let results = open_each_way(&golden.join(fields[1]));
        if fields[0] == "accepted" {
            results.into_iter().for_each(Result::unwrap);
            accepted += 1;
            continue;
        }
        let number: u32 = fields[2].parse().unwrap();
        for (way, result) in results.into_iter().enumerate() {
            if way == 2 && fields[1].starts_with("rejected/lines-") {
                result.unwrap();
            } else {
                assert_eq!(status_of(&result.unwrap_err()), number, "{row}");
            }
        }
        rejected += 1;
    }
    println!("{accepted} files accepted, {rejected} rejected");
    assert!(accepted > 0 && rejected > 0);
}
