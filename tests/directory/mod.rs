//! A directory of a test's own, for the files it makes.

use std::fs;
use std::path::PathBuf;

/// Removed with all that is in it.
pub(crate) struct Directory(pub(crate) PathBuf);

impl Directory {
    pub(crate) fn new(test: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("bloomline-{}-{test}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Directory(path)
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
