//! Which of 500 tables of an LSM tree may have a key: one probe of a few matrices in place of one
//! probe for each table.
//!
//!     cargo run --release --example lsm_index [TABLES]      500 unless told
//!
//! The tables are sorted files that this program writes itself, of 16 bytes for a key and 16 for a
//! value, in blocks of 4 KiB whose first keys stay in memory; not those of a real engine, whose
//! filter blocks have lines of their own formats and are no columns. An engine would build the
//! native filters beside its own, from the keys of each table that it writes.
//!
//! Tables have 125 to 8,000 keys. A matrix has columns of one line count, so there is one for each
//! class of sizes: a table's filter has the line count of its class, by `foldable_to`. That takes up
//! to twice the memory, and rows are padded to 64 columns: for tables of one size neither. A lookup asks
//! all matrices, then reads the tables that may have the key, the newest first, until one has it.
//!
//! Exit status: not 0 if a key was not found that is there, or found at another age, or if more
//! tables were read in vain than the rate of the filters explains.

use bloomline::hash::hash_u64;
use bloomline::{Bitmap, Error, Filter, Matrix, Params};
use std::fs::{self, File};
use std::hint::black_box;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

const RATE: f64 = 0.01;
const SMALLEST: u64 = 250;
const RECORD: usize = 32;
const BLOCK: usize = 4096;

/// A key as programs have them: 16 bytes, in order by number.
fn key(number: u64) -> [u8; 16] {
    (u128::from(number) << 32 | 0x75).to_be_bytes()
}

/// A sorted file, and the first key of each of its blocks.
struct Table {
    file: File,
    index: Vec<[u8; 16]>,
    /// The age of the newest value is the number of the table.
    keys: Vec<u64>,
}

impl Table {
    /// Writes the values of these keys. A value has the number of its table.
    fn write(path: &Path, number: usize, mut keys: Vec<u64>) -> io::Result<Table> {
        keys.sort_unstable();
        keys.dedup();
        let mut out = BufWriter::new(File::create(path)?);
        for &each in &keys {
            out.write_all(&key(each))?;
            out.write_all(&(number as u128).to_be_bytes())?;
        }
        out.flush()?;
        let index = keys.iter().step_by(BLOCK / RECORD).map(|&each| key(each)).collect();
        Ok(Table { file: File::open(path)?, index, keys })
    }

    /// The value of a key: reads a block, and searches it.
    fn get(&self, key: &[u8; 16]) -> io::Result<Option<u128>> {
        let Some(block) = self.index.partition_point(|first| first <= key).checked_sub(1) else {
            return Ok(None);
        };
        let mut bytes = Vec::with_capacity(BLOCK);
        (&self.file).seek(SeekFrom::Start((block * BLOCK) as u64))?;
        (&self.file).take(BLOCK as u64).read_to_end(&mut bytes)?;
        let records = bytes.as_chunks::<RECORD>().0;
        let found = records.binary_search_by(|record| record[..16].cmp(key)).ok();
        Ok(found.and_then(|at| Some(u128::from_be_bytes(*records[at].last_chunk()?))))
    }
}

/// The filters of all tables, transposed: a matrix for each class of sizes.
struct Index {
    /// Each with the tables that are its columns.
    classes: Vec<(Matrix, Vec<usize>)>,
}

impl Index {
    fn new(filters: &[Filter]) -> Result<Index, Error> {
        let mut by_size: Vec<usize> = (0..filters.len()).collect();
        by_size.sort_by_key(|&table| filters[table].params().line_count());
        let mut classes = Vec::new();
        let same = |a: &usize, b: &usize| filters[*a].params() == filters[*b].params();
        for tables in by_size.chunk_by(same) {
            let mut matrix = Matrix::new(filters[tables[0]].params(), tables.len())?;
            matrix.set_columns(0, tables.iter().map(|&table| filters[table].view()), 0)?;
            classes.push((matrix, tables.to_vec()));
        }
        Ok(Index { classes })
    }

    /// The tables that may have the key of a hash, the newest first.
    fn tables(&self, hash: u64, maybe: &mut Bitmap, tables: &mut Vec<usize>) {
        tables.clear();
        for (matrix, numbers) in &self.classes {
            if matrix.contains_hash(hash, maybe) > 0 {
                tables.extend(maybe.ones().map(|column| numbers[column]));
            }
        }
        tables.sort_unstable_by(|a, b| b.cmp(a));
    }
}

/// Reads these tables until one has the key. Returns its value, and how many were read.
fn lookup(
    tables: &[Table],
    numbers: impl Iterator<Item = usize>,
    key: &[u8; 16],
) -> io::Result<(Option<u128>, usize)> {
    let mut read = 0;
    for number in numbers {
        read += 1;
        if let Some(value) = tables[number].get(key)? {
            return Ok((Some(value), read));
        }
    }
    Ok((None, read))
}

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let count: usize = std::env::args().nth(1).map_or(Ok(500), |tables| tables.parse())?.max(2);
    let directory = std::env::temp_dir().join(format!("lsm_index.{}", std::process::id()));
    fs::create_dir_all(&directory)?;
    let result = run(count, &directory);
    fs::remove_dir_all(&directory)?;
    result
}

fn run(count: usize, directory: &Path) -> Result<ExitCode, Box<dyn std::error::Error>> {
    // Of each size as many. Keys are even numbers, some of which are written again and again.
    let key_space = 4_000 * count as u64;
    let mut tables = Vec::new();
    for number in 0..count {
        let size = SMALLEST << (hash_u64(number as u64, 1) % 6);
        let size = size * (64 + hash_u64(number as u64, 2) % 64) / 128;
        let keys = (0..size).map(|i| 2 * (hash_u64(i << 20 | number as u64, 3) % key_space));
        let path = directory.join(format!("{number:06}.table"));
        tables.push(Table::write(&path, number, keys.collect())?);
    }
    let keys: usize = tables.iter().map(|table| table.keys.len()).sum();

    // The filter of each table, of its class.
    let smallest = Params::for_rate(SMALLEST, RATE)?;
    let mut filters = Vec::new();
    for table in &tables {
        let params = Params::for_rate(table.keys.len() as u64, RATE)?.foldable_to(smallest)?;
        let mut filter = Filter::new(params)?;
        for &number in &table.keys {
            filter.insert(&key(number));
        }
        filters.push(filter);
    }
    let start = Instant::now();
    let index = Index::new(&filters)?;
    let transposed = start.elapsed();
    let bits = |bytes: usize| 8.0 * bytes as f64 / keys as f64;
    let own: usize = filters.iter().map(Filter::memory_usage).sum();
    let all: usize = index.classes.iter().map(|(matrix, _)| matrix.memory_usage()).sum();
    println!("tables    {count}, with {keys} keys; {} classes of sizes", index.classes.len());
    println!("filters   {own} bytes, {:.1} bits per key", bits(own));
    println!(
        "matrices  {all} bytes, {:.1} bits per key, transposed in {:.1} ms",
        bits(all),
        1e3 * transposed.as_secs_f64()
    );

    // Of the newest value that each key has, in memory: to check with.
    let mut newest = vec![None; 2 * key_space as usize];
    for (number, table) in tables.iter().enumerate() {
        table.keys.iter().for_each(|&key| newest[key as usize] = Some(number as u128));
    }
    // Half of all lookups are for keys that are there, but for those nobody has written yet.
    let asked: Vec<u64> = (0..2_000).map(|i| hash_u64(i, 4) % (2 * key_space)).collect();
    let expected: f64 = filters.iter().map(Filter::estimated_rate).sum();

    let (mut maybe, mut numbers) = (Bitmap::new(), Vec::new());
    let (mut wrong, mut read_with, mut in_vain, mut absent) = (0, 0, 0, 0);
    let start = Instant::now();
    for &number in &asked {
        let key = key(number);
        index.tables(index.classes[0].0.hash(&key), &mut maybe, &mut numbers);
        let (value, read) = lookup(&tables, numbers.iter().copied(), &key)?;
        wrong += usize::from(value != newest[number as usize]);
        read_with += read;
        if value.is_none() {
            (in_vain, absent) = (in_vain + read, absent + 1);
        }
    }
    let with = start.elapsed();
    // Without filters every table is read. That takes long: some lookups will do.
    let fewer = &asked[..asked.len().min(100)];
    let (mut read_without, start) = (0, Instant::now());
    for &number in fewer {
        let (value, read) = lookup(&tables, (0..count).rev(), &key(number))?;
        wrong += usize::from(value != newest[number as usize]);
        read_without += read;
    }
    let without = start.elapsed();
    let each = |total: usize, lookups: usize| total as f64 / lookups as f64;
    let (few, many) = (each(read_with, asked.len()), each(read_without, fewer.len()));
    let micros =
        |time: std::time::Duration, lookups: usize| 1e6 * time.as_secs_f64() / lookups as f64;
    println!(
        "read      {few:.2} of {count} tables in a lookup, {:.1} us; without filters {many:.1}, {:.1} us",
        micros(with, asked.len()),
        micros(without, fewer.len())
    );
    println!(
        "in vain   {:.2} tables of an absent key; {expected:.2} expected",
        each(in_vain, absent)
    );

    // The filters alone: in one matrix after the other, and table by table.
    let hashes: Vec<u64> = asked.iter().map(|&number| filters[0].hash(&key(number))).collect();
    let views: Vec<_> = filters.iter().map(Filter::view).collect();
    let mut runs = Vec::new();
    for _ in 0..9 {
        let start = Instant::now();
        for &hash in &hashes {
            index.tables(hash, &mut maybe, &mut numbers);
            black_box(&numbers);
        }
        let matrices = start.elapsed();
        let start = Instant::now();
        for &hash in &hashes {
            numbers.clear();
            let all = views.iter().enumerate().rev();
            numbers
                .extend(all.filter(|(_, view)| view.contains_hash(hash)).map(|(number, _)| number));
            black_box(&numbers);
        }
        let singles = start.elapsed();
        runs.push([matrices, singles].map(|time| 1e3 * micros(time, hashes.len())));
    }
    // The run whose ratio is the median.
    runs.sort_by(|a, b| (a[1] * b[0]).total_cmp(&(b[1] * a[0])));
    let [matrices, singles] = runs[runs.len() / 2];
    println!(
        "probed    all {count} filters in {matrices:.0} ns by matrices, {singles:.0} ns one by one: {:.1} times \
         as fast",
        singles / matrices
    );
    let good = wrong == 0 && each(in_vain, absent) < 1.3 * expected + 0.2;
    println!("wrong     {wrong} answers");
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
