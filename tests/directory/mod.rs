//! A directory of a test's own, for the files it makes.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{fs, io};

/// Removed with all that is in it.
pub(crate) struct Directory(pub(crate) PathBuf);

impl Directory {
    /// No other test has it, of whatever name.
    pub(crate) fn new(test: &str) -> Directory {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("bloomline-{}-{number}-{test}", std::process::id());
            let path = std::env::temp_dir().join(name);
            match fs::create_dir(&path) {
                // The leftover of a killed process with this one's number.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => {
                    made.unwrap();
                    return Directory(path);
                }
            }
        }
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The names of all that is in it.
    #[allow(dead_code, reason = "not every test that makes files lists them")]
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}
