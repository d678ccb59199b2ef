//! The blocks of `docs/how-to/own-tables.md`: a table is written with its filter, opened, and asked in a group.

use bloomline::{Bitmap, Builder, Error, Group, OwnedView};
use std::collections::BTreeMap;
use std::sync::Arc;

type Rows = BTreeMap<Vec<u8>, u32>;

/// What a whole file has: the rows, which stand for its other blocks, and the filter's place.
struct File {
    rows: Rows,
    bytes: Vec<u8>,
    offset: usize,
}

fn prefix_of(key: &[u8]) -> &[u8] {
    &key[..key.len().min(3)]
}

fn write(rows: Rows, seed: u64) -> Result<File, Error> {
    let mut file = vec![7; 100]; // other blocks
    let mut builder = Builder::for_rate(0.01, seed)?; // one seed for all tables
    for key in rows.keys() {
        builder.add(key)?;
        builder.add(prefix_of(key))?; // if you scan by prefixes
    }
    file.resize(file.len().next_multiple_of(64), 0); // for those who map the file
    let offset = file.len();
    file.extend(builder.finish_vec()?); // then it is empty, for the next table
    Ok(File { rows, bytes: file, offset })
}

/// A block at a multiple of 64. A clone of its `room` would be elsewhere.
struct Aligned {
    room: Vec<u8>,
    start: usize,
    len: usize,
}

impl Aligned {
    fn copy_of(stored: &[u8]) -> Aligned {
        let (mut room, len) = (vec![0; stored.len() + 63], stored.len());
        let start = room.as_ptr().addr().wrapping_neg() % 64;
        room[start..][..len].copy_from_slice(stored); // or read the file into it
        Aligned { room, start, len }
    }
}

impl AsRef<[u8]> for Aligned {
    fn as_ref(&self) -> &[u8] {
        &self.room[self.start..][..self.len]
    }
}

struct Table {
    filter: OwnedView<Aligned>,
    rows: Rows,
}

impl Table {
    fn open(file: File) -> Result<Table, Error> {
        let stored = &file.bytes[file.offset..];
        let filter = OwnedView::open(Aligned::copy_of(stored))?; // keep it in the cache
        assert!(filter.get_ref().as_ref().as_ptr().addr().is_multiple_of(64));
        Ok(Table { filter, rows: file.rows })
    }

    fn get(&self, key: &[u8]) -> Option<u32> {
        self.rows.get(key).copied()
    }
}

#[test]
fn main() -> Result<(), Error> {
    let rows =
        |names: [&str; 2], value| names.map(|name| (name.into(), value)).into_iter().collect();
    let mut tables = Vec::new();
    for rows in [rows(["apple", "pear"], 2), rows(["apple", "plum"], 1)] {
        tables.push(Arc::new(Table::open(write(rows, 5)?)?));
    }
    assert!(tables[1].filter.contains(&b"plu"[..]));
    assert_eq!(tables[0].filter.key_count(), 4); // two keys, two prefixes

    // For each version of the tree: its tables, the newest first.
    let version = Group::of(tables, |table| table.filter.view())?;

    let mut key = &b"apple"[..];
    let mut maybe = Bitmap::new();
    version.contains(key, &mut maybe);
    let found = maybe.ones().find_map(|i| version[i].get(key));
    assert_eq!(found, Some(2));

    key = b"plum";
    version.contains(key, &mut maybe);
    assert_eq!(maybe.ones().find_map(|i| version[i].get(key)), Some(1));
    Ok(())
}
