//! The golden files as they are committed, against those that a test makes. Uses nothing.

// Each test that includes this file uses its own part of it.
#![allow(dead_code)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The golden files of a kind, which is the name of their directory in `golden/`; empty for
/// plain filters.
pub(crate) fn directory(kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden").join(kind)
}

/// The names of the files that are there, but the README.
fn names_present(directory: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for part in ["", "accepted/", "rejected/"] {
        let Ok(entries) = std::fs::read_dir(directory.join(part)) else { continue };
        for entry in entries {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_file() {
                names.insert(format!("{part}{}", entry.file_name().to_str().unwrap()));
            }
        }
    }
    names.remove("README.md");
    names
}

/// The committed files of a kind are these and no others, byte for byte, and together of less
/// than `most` bytes. With `BLESS` in the environment they are written first.
pub(crate) fn are_what_is_made(kind: &str, files: &BTreeMap<String, Vec<u8>>, most: usize) {
    let directory = directory(kind);
    let bytes: usize = files.values().map(Vec::len).sum();
    println!("{} golden files, {bytes} bytes", files.len());
    assert!(bytes < most, "the golden files are to stay small");
    if std::env::var_os("BLESS").is_some() {
        for name in names_present(&directory).iter().filter(|&name| !files.contains_key(name)) {
            std::fs::remove_file(directory.join(name)).unwrap();
        }
        for (name, bytes) in files {
            let path = directory.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        println!("written anew");
    }
    let names: BTreeSet<String> = files.keys().cloned().collect();
    let present = names_present(&directory);
    assert_eq!(present, names, "files in golden/{kind}; BLESS=1 writes them anew");
    for (name, bytes) in files {
        let committed = std::fs::read(directory.join(name)).unwrap();
        assert!(committed == *bytes, "golden/{kind}/{name} is not what the definition makes");
    }
}
