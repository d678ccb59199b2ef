//! Which of 500 tables of an LSM tree may have a key: one probe of a few matrices in place of one
//! probe for each table.
//!
//!     cargo run --release --example lsm_index [TABLES]      500 unless told
//!
//! The tables are files of LevelDB's format, written and read by the crate `sstable`, the table code of
//! the engine rusty-leveldb: sorted keys in blocks of 4 KiB, each file with the engine's own Bloom
//! filters. The program reads the keys of each file through the engine and makes a filter of them, which
//! is a column of a matrix. Then it looks keys up in three ways: the tables that the matrices name; all
//! tables, with the engine's filters; all tables, without filters.
//!
//! Tables have 125 to 8,000 keys. A matrix has columns of one line count, so there is one for each
//! class of sizes: a table's filter has the line count of its class, by `foldable_to`. That takes up
//! to twice the memory, and rows are padded to 64 columns: for tables of one size neither. A lookup asks
//! all matrices, then reads the tables that may have the key, the newest first, until one has it.
//!
//! Exit status: not 0 if a key was not found that is there, or found at another age, or if more
//! tables were read in vain than the rate of the filters explains.

use bloomline::hash::{hash, hash_u64};
use bloomline::{Bitmap, Error, Filter, Matrix, Params};
use sstable::filter::NoFilterPolicy;
use sstable::{Options, SSIterator, Table, TableBuilder};
use std::fs::{self, File};
use std::hint::black_box;
use std::io::BufWriter;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

const RATE: f64 = 0.01;
/// Keys that the filters of the smallest class are for.
const SMALLEST: u64 = 250;

/// A key as programs have them: 16 bytes, in order by number.
fn key(number: u64) -> [u8; 16] {
    (u128::from(number) << 32 | 0x75).to_be_bytes()
}

/// The numbers of the keys that a table has: even ones, some of which are written again and again.
fn numbers(table: u64, key_space: u64) -> Vec<u64> {
    let size = SMALLEST << (hash_u64(table, 1) % 6);
    let size = size * (64 + hash_u64(table, 2) % 64) / 128;
    let key = |i| 2 * (hash_u64(i << 20 | table, 3) % key_space);
    let mut keys: Vec<u64> = (0..size).map(key).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// Writes a table of these keys by the engine. A value has the number of its table, and as many bytes
/// as make it one of a real store.
fn write(path: &Path, table: u64, keys: &[u64]) -> sstable::Result<()> {
    let mut out = TableBuilder::new(Options::default(), BufWriter::new(File::create(path)?));
    for &number in keys {
        let mut value = [0x2E; 100];
        value[..8].copy_from_slice(&table.to_be_bytes());
        out.add(&key(number), &value)?;
    }
    out.finish()?;
    Ok(())
}

/// The hashes of all keys of a table, which the engine reads.
fn hashes(table: &Table) -> Vec<u64> {
    let (mut hashes, mut at) = (Vec::new(), table.iter());
    while at.advance() {
        hashes.extend(at.current_key().map(|key| hash(key, 0)));
    }
    hashes
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

/// What lookups found, and how long they took.
#[derive(Default)]
struct Lookups {
    wrong: usize,
    absent: usize,
    /// Tables that were asked, and those of them for absent keys.
    asked: usize,
    in_vain: usize,
    /// In microseconds, of each.
    micros: f64,
}

/// Looks keys up in the tables that `which` names, until one has it, and checks the answers.
fn look_up(
    tables: &[Table],
    keys: &[u64],
    newest: &[Option<u64>],
    mut which: impl FnMut(&[u8; 16], &mut Vec<usize>),
) -> sstable::Result<Lookups> {
    let (mut found, mut numbers) = (Lookups::default(), Vec::new());
    let start = Instant::now();
    for &number in keys {
        let (key, mut value, before) = (key(number), None, found.asked);
        which(&key, &mut numbers);
        for &table in &numbers {
            found.asked += 1;
            value = tables[table].get(&key)?;
            if value.is_some() {
                break;
            }
        }
        let table = value.and_then(|value| Some(u64::from_be_bytes(*value.first_chunk()?)));
        found.wrong += usize::from(table != newest[number as usize]);
        if table.is_none() {
            found.absent += 1;
            found.in_vain += found.asked - before;
        }
    }
    found.micros = 1e6 * start.elapsed().as_secs_f64() / keys.len() as f64;
    Ok(found)
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
    // The engine's files. Of the newest value that each key has, the table, in memory: to check with.
    let key_space = 4_000 * count as u64;
    let mut newest = vec![None; 2 * key_space as usize];
    let paths: Vec<_> = (0..count).map(|table| directory.join(format!("{table:06}.ldb"))).collect();
    for (table, path) in (0..).zip(&paths) {
        let keys = numbers(table, key_space);
        write(path, table, &keys)?;
        keys.iter().for_each(|&key| newest[key as usize] = Some(table));
    }
    // Opened twice: with the engine's own filters, and without them.
    let open = |options: Options| -> sstable::Result<Vec<Table>> {
        paths.iter().map(|path| Table::new_from_file(options.clone(), path)).collect()
    };
    let filtered = open(Options::default())?;
    let no_filter = Arc::new(Box::new(NoFilterPolicy::new()) as _);
    let tables = open(Options { filter_policy: no_filter, ..Options::default() })?;

    // The filter of each table, of its class.
    let start = Instant::now();
    let smallest = Params::for_rate(SMALLEST, RATE)?;
    let (mut filters, mut keys) = (Vec::new(), 0);
    for table in &tables {
        let hashes = hashes(table);
        let params = Params::for_rate(hashes.len() as u64, RATE)?.foldable_to(smallest)?;
        let mut filter = Filter::new(params)?;
        filter.insert_hashes(&hashes);
        filters.push(filter);
        keys += hashes.len();
    }
    let (read, start) = (start.elapsed(), Instant::now());
    let index = Index::new(&filters)?;
    let transposed = start.elapsed();

    let on_disk: u64 =
        paths.iter().map(|path| fs::metadata(path).map_or(0, |file| file.len())).sum();
    let all: usize = index.classes.iter().map(|(matrix, _)| matrix.memory_usage()).sum();
    println!("tables    {count} files, {:.1} MB, {keys} keys", on_disk as f64 / 1e6);
    println!(
        "matrices  {}, one for each class of sizes, {:.2} MB, {:.1} bits per key",
        index.classes.len(),
        all as f64 / 1e6,
        8.0 * all as f64 / keys as f64
    );
    println!(
        "built     in {:.1} ms: {:.1} % of it to read the keys and fill the filters, the rest to transpose them",
        1e3 * (read + transposed).as_secs_f64(),
        100.0 * read.as_secs_f64() / (read + transposed).as_secs_f64()
    );

    // Half of all lookups are for keys that are there, but for those nobody has written yet.
    let asked: Vec<u64> = (0..2_000).map(|i| hash_u64(i, 4) % (2 * key_space)).collect();
    let mut maybe = Bitmap::new();
    let with = look_up(&tables, &asked, &newest, |key, tables| {
        index.tables(index.classes[0].0.hash(key), &mut maybe, tables);
    })?;
    // Where all tables are asked, some lookups will do.
    let fewer = &asked[..asked.len().min(100)];
    let every = |_: &[u8; 16], tables: &mut Vec<usize>| {
        tables.clear();
        tables.extend((0..count).rev());
    };
    let engines = look_up(&filtered, fewer, &newest, every)?;
    let without = look_up(&tables, fewer, &newest, every)?;
    let each = |total: usize, lookups: usize| total as f64 / lookups as f64;
    println!("lookup    asks and takes");
    for (how, found, lookups) in [
        ("by the matrices", &with, asked.len()),
        ("all tables, each with the engine's filters", &engines, fewer.len()),
        ("all tables, without filters", &without, fewer.len()),
    ] {
        println!(
            "  {:6.2} of {count} tables, {:7.1} us, {:5.1} times as long: {how}",
            each(found.asked, lookups),
            found.micros,
            found.micros / with.micros
        );
    }
    let expected: f64 = filters.iter().map(Filter::estimated_rate).sum();
    let in_vain = each(with.in_vain, with.absent);
    println!("in vain   {in_vain:.2} tables of an absent key; {expected:.2} expected");

    // The filters alone: in one matrix after the other, and table by table.
    let hashes: Vec<u64> = asked.iter().map(|&number| filters[0].hash(&key(number))).collect();
    let mut runs = Vec::new();
    let mut numbers = Vec::new();
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
            let all = filters.iter().enumerate().rev();
            numbers
                .extend(all.filter(|(_, one)| one.contains_hash(hash)).map(|(number, _)| number));
            black_box(&numbers);
        }
        runs.push([matrices, start.elapsed()].map(|time| time.as_secs_f64()));
    }
    // The run whose ratio is the median.
    runs.sort_by(|a, b| (a[1] * b[0]).total_cmp(&(b[1] * a[0])));
    let [matrices, singles] = runs[runs.len() / 2].map(|time| 1e9 * time / hashes.len() as f64);
    println!(
        "probed    all {count} filters in {matrices:.0} ns by matrices, {singles:.0} ns one by one: {:.1} times \
         as fast",
        singles / matrices
    );
    let wrong = with.wrong + engines.wrong + without.wrong;
    println!("wrong     {wrong} answers");
    let good = wrong == 0 && in_vain < 1.3 * expected + 0.2;
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
