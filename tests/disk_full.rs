//! A save that runs out of room midway: the old file stays, the new one is gone. Alone
//! in its process, since the limit that stands in for a full disk holds for all of it.
#![cfg(unix)]

mod directory;

use bloomline::{Error, Filter, Params};
use directory::Directory;

/// No file may grow past `bytes`: a write that would is an error, as on a full disk. Returns the
/// limit that was.
#[allow(unsafe_code)]
fn limit_files_to(bytes: libc::rlim_t) -> libc::rlim_t {
    // SAFETY: sets what happens at the limit, and the limit; nobody else depends on them.
    unsafe {
        assert!(libc::signal(libc::SIGXFSZ, libc::SIG_IGN) != libc::SIG_ERR);
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        assert_eq!(libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit), 0);
        let before = limit.rlim_cur;
        limit.rlim_cur = bytes;
        assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &limit), 0);
        before
    }
}

#[test]
fn a_save_that_runs_out_of_room() {
    let directory = Directory::new("full");
    let path = directory.file("filter");
    let old = Filter::new(Params::new(10, 6, 0).unwrap()).unwrap();
    old.save(&path).unwrap();
    let before = limit_files_to(10_000);
    // The limit falls among the lines, in the last line, in the footer.
    for lines in [100_000, 157, 156] {
        let new = Filter::new(Params::new(lines, 6, 0).unwrap()).unwrap();
        let result = new.save(&path);
        let error = result.expect_err("there is no room for it");
        let Error::Io(io) = &error else { panic!("{error:?}") };
        assert_eq!(io.path(), Some(&*path), "not the file beside it");
        println!("{lines} lines: {error}");
        assert_eq!(directory.names(), ["filter"], "only the old file");
        assert!(Filter::load(&path).unwrap().params() == old.params());
    }
    // 155 lines are 9984 bytes with the footer: they fit.
    Filter::new(Params::new(155, 6, 0).unwrap()).unwrap().save(&path).unwrap();
    assert_eq!(Filter::load(&path).unwrap().params().line_count(), 155);
    // What the tests print may go to a file, and that one is longer.
    limit_files_to(before);
}
