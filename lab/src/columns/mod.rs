//! Columns of integers to the rows that may be present, 1,024 values a call as a query engine has them:
//! this library's filters, those of Arrow's engine and of Parquet in C++ (with `PYARROW`), and others
//! of the lab with the hashes and the loop that a user would write. All have the same keys.

#[cfg(arrow)]
pub(crate) mod arrow;
mod build;
mod report;

pub(crate) use build::build;
pub(crate) use report::tables;

use crate::common::data::{mix, size_name};
use crate::common::memory::{Array, Memory};
use crate::common::rounds::{Keys, Plan, Rounds, Times};
use crate::contender::{Contender, Kind, Size};
use crate::measure::{ABSENTEES, Mix, absent_keys, part_of_keys, probes};
use crate::speed::Effort;
use crate::watch::Watch;
use crate::{cpp, crates};
use bloomline::engines::parquet;
use bloomline::hash::hash_u64_batch;
use bloomline::internals::hashes_by;
use bloomline::{Backend, Filter, Params, Select, View, sizing};
use std::time::Duration;

/// Bits per key. Acero takes 8 to 16, so that its memory is a power of two.
const BITS: f64 = 12.0;
/// Values in a call.
const CALL: usize = 1024;
/// Rows of a selection that is refined: 30 % of a call.
const SELECTED: usize = 307;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
const SIZES: [usize; 6] = [16 * KIB, 256 * KIB, MIB, 4 * MIB, 16 * MIB, 256 * MIB];

// What is timed, by name; the filters of others by theirs.
const SELECT: &str = "`Filter`, `select_column`";
const BITMAP: &str = "`Filter`, `contains_column`";
const REFINE: &str = "`Filter`, `refine_column` of 30 %, per selected row";
const GIVEN: &str = "`Filter`, `contains_hashes`, hashes given";
const ACERO: &str = "Acero, our hash and conversion";
const FIND: &str = "Acero, `Find` alone, hashes given";
const BLOCKS: &str = "Parquet's blocks by `View`, `select_column`";
const PARQUET_CC: &str = "Parquet C++, `Hashes` and `FindHash`";

/// Contenders of the lab, and whether they hash by themselves.
const OTHERS: [(&str, bool); 4] =
    [(cpp::FAST64, false), (cpp::FAST32, false), (crates::SBBF_RS, false), (crates::PARQUET, true)];

/// What was measured of filters of one size.
pub(crate) struct Measured {
    bytes: usize,
    /// Nanoseconds per value.
    times: Times,
    /// The bits per key and the false positives of each filter.
    filters: Vec<(&'static str, f64, f64)>,
}

#[cfg(test)]
impl Measured {
    /// The names, bits per key and false-positive rates of all.
    pub(crate) fn rates(&self) -> &[(&'static str, f64, f64)] {
        &self.filters
    }
}

/// Nanoseconds per value of hashing a column, by backend; and filters of at most so many bytes.
pub(crate) fn run(
    kinds: &[Kind],
    effort: Effort,
    up_to: usize,
    watch: &mut Watch,
) -> (Times, Vec<Measured>) {
    let sizes: &[usize] = match effort {
        Effort::Smoke => &SIZES[..1],
        Effort::Quick => &SIZES[..2],
        Effort::Full => &SIZES,
    };
    let wanted = sizes.iter().filter(|&&bytes| bytes <= up_to);
    let hashed = watch.around("columns, hashes", || hashing(effort));
    let name = |bytes| format!("columns, {}", size_name(bytes));
    let all = wanted.map(|&bytes| watch.around(&name(bytes), || measure(kinds, effort, bytes)));
    (hashed, all.collect())
}

fn plan(effort: Effort) -> Plan {
    let (rounds, turn) = if effort == Effort::Full { (15, 4) } else { (1, 0) };
    Plan { rounds, turn: Duration::from_millis(turn), keys: Keys::Hot }
}

/// What a call writes to.
struct Room {
    hashes: [u64; CALL],
    words: [u64; CALL / 64],
    rows: [u32; CALL],
}

impl Room {
    fn new() -> Box<Room> {
        Box::new(Room { hashes: [0; CALL], words: [0; CALL / 64], rows: [0; CALL] })
    }
}

/// Times calls for the values of a pool.
fn add<'a>(
    rounds: &mut Rounds<'a>,
    name: &str,
    pool: &'a [u64],
    mut call: impl FnMut(&[u64], &mut Room) -> usize + 'a,
) {
    let mut room = Room::new();
    rounds.add(name, pool, move |batch| {
        batch.chunks(CALL).map(|values| call(values, &mut room)).sum()
    });
}

fn hashing(effort: Effort) -> Times {
    let pool = absent_keys(1 << 16);
    let mut rounds = Rounds::new(plan(effort));
    for backend in Backend::available() {
        add(&mut rounds, backend.name(), &pool, move |values, room| {
            hashes_by::hash_u64_batch(backend, values, 0, &mut room.hashes[..values.len()]);
            room.hashes[0] as usize
        });
    }
    rounds.run()
}

/// The filters of one size.
struct Filters {
    ours: Filter,
    /// Parquet's blocks.
    blocks: Memory,
    /// Of [`OTHERS`]: the name, whether it hashes by itself, and the filter.
    others: Vec<(&'static str, bool, Box<dyn Contender>)>,
    #[cfg(arrow)]
    acero: arrow::Acero,
    #[cfg(arrow)]
    parquet: Option<arrow::Parquet>,
}

/// A filter that selects rows: its name, its bytes, and a call.
type Entry<'a> = (&'static str, usize, Box<dyn Fn(&[u64], &mut Room) -> usize + 'a>);

impl Filters {
    fn new(kinds: &[Kind], bytes: usize, keys: u64) -> Filters {
        let params = Params::new((bytes / 64) as u64, sizing::best_k(BITS), 0).expect("a shape");
        let other = |&(name, by_itself): &(&'static str, bool)| {
            let kind = kinds.iter().find(|kind| kind.name == name)?;
            Some((name, by_itself, (kind.build)(keys, Size::Bits(BITS))?))
        };
        Filters {
            ours: Filter::new(params).expect("there is memory"),
            blocks: Memory::new(bytes),
            others: OTHERS.iter().filter_map(other).collect(),
            #[cfg(arrow)]
            acero: arrow::Acero::new(keys),
            #[cfg(arrow)]
            parquet: arrow::Parquet::new(bytes),
        }
    }

    fn insert(&mut self, values: &[u64], hashes: &mut [u64]) {
        parquet::hash_batch(values, hashes);
        parquet::insert_hashes(&mut self.blocks, hashes).expect("whole blocks");
        hash_u64_batch(values, 0, hashes);
        self.ours.insert_hashes(hashes);
        for (_, by_itself, filter) in &mut self.others {
            filter.insert(if *by_itself { values } else { hashes });
        }
        #[cfg(arrow)]
        self.acero.insert(hashes);
        #[cfg(arrow)]
        if let Some(parquet) = &mut self.parquet {
            parquet.insert(values);
        }
    }

    /// A column to a selection by each of them.
    fn entries(&self) -> Vec<Entry<'_>> {
        let view = View::open_parquet_bits(&self.blocks).expect("whole blocks");
        let mut all: Vec<Entry<'_>> = vec![
            (
                SELECT,
                self.ours.lines().len(),
                Box::new(move |values, room| self.ours.select_column(values, &mut room.rows)),
            ),
            (
                BLOCKS,
                self.blocks.len(),
                Box::new(move |values, room| view.select_column(values, &mut room.rows)),
            ),
        ];
        #[cfg(arrow)]
        {
            let best = Backend::available().last().expect("there is always a backend");
            let acero = move |values: &[u64], room: &mut Room| {
                hash_u64_batch(values, 0, &mut room.hashes);
                self.acero.find(&room.hashes, &mut room.words);
                bloomline::internals::rows_by::select(best, &room.words, CALL, 0, &mut room.rows)
            };
            all.push((ACERO, self.acero.bytes(), Box::new(acero)));
            if let Some(parquet) = &self.parquet {
                let select = |values: &[u64], room: &mut Room| parquet.select(values, room);
                all.push((PARQUET_CC, parquet.bytes(), Box::new(select)));
            }
        }
        for (name, by_itself, filter) in &self.others {
            let select = move |values: &[u64], Room { hashes, rows, .. }: &mut Room| {
                if *by_itself {
                    return filter.select(values, rows);
                }
                let hashes = &mut hashes[..values.len()];
                hash_u64_batch(values, 0, hashes);
                filter.select(hashes, rows)
            };
            all.push((name, filter.bytes(), Box::new(select)));
        }
        all
    }
}

/// How many of these values may be present.
fn count(call: impl Fn(&[u64], &mut Room) -> usize, values: &[u64]) -> usize {
    let mut room = Room::new();
    values.chunks(CALL).map(|values| call(values, &mut room)).sum()
}

fn measure(kinds: &[Kind], effort: Effort, bytes: usize) -> Measured {
    let keys = (bytes as f64 * 8.0 / BITS) as u64;
    let mut filters = Filters::new(kinds, bytes, keys);
    fill(&mut filters, bytes, keys);
    let entries = filters.entries();
    // All of a whole number of calls.
    let some = &part_of_keys(keys, 0, keys.div_ceil(1 << 17))[..8 * CALL];
    let absent = absent_keys(ABSENTEES);
    let mut found = Vec::new();
    for (name, bytes, select) in &entries {
        assert_eq!(count(select, some), some.len(), "{name} denies keys");
        let rate = count(select, &absent) as f64 / absent.len() as f64;
        found.push((*name, *bytes as f64 * 8.0 / keys as f64, rate));
    }
    eprintln!("columns, {}: probing", size_name(bytes));
    let most = if effort == Effort::Full { 1 << 22 } else { 1 << 16 };
    let len = (bytes / 16).clamp(1 << 16, most);
    let absent = absent_keys(len);
    let pool = probes(keys, len, Mix::Half, &absent);
    let mut hashed = Array::from_fn(len, |_| 0);
    hash_u64_batch(&pool, 0, &mut hashed);
    let parts = [&pool[..], &hashed];
    ours_agree(&filters.ours, parts);
    Measured { bytes, times: time(&filters, entries, parts, plan(effort)), filters: found }
}

/// Inserts all keys into all filters.
fn fill(filters: &mut Filters, bytes: usize, keys: u64) {
    let parts = keys.div_ceil(1 << 20);
    for part in 0..parts {
        let values = part_of_keys(keys, part, parts);
        let mut hashes = vec![0; values.len()];
        filters.insert(&values, &mut hashes);
        if parts > 1 {
            eprint!("\rcolumns, {}: {} of {parts} parts inserted", size_name(bytes), part + 1);
        }
    }
    if parts > 1 {
        eprintln!();
    }
    for (_, _, filter) in &mut filters.others {
        filter.filled();
    }
}

/// Selections to refine: which rows of a call are selected.
fn selections() -> [[u32; SELECTED]; 16] {
    std::array::from_fn(|number| {
        let mut rows: Vec<u32> = (0..CALL as u32).collect();
        rows.sort_by_key(|&row| mix((number * CALL) as u64 + u64::from(row)));
        rows.truncate(SELECTED);
        rows.sort_unstable();
        rows.try_into().expect("so many")
    })
}

/// Whether all calls of a filter give the same answers.
fn ours_agree(filter: &Filter, [values, hashed]: [&[u64]; 2]) {
    let mut room = Room::new();
    for (values, hashes) in values.chunks(CALL).zip(hashed.chunks(CALL)).take(64) {
        let Room { words, rows, .. } = &mut *room;
        let given = filter.contains_hashes(hashes, words);
        let selected = filter.select_column(values, rows);
        let mut all: Vec<u32> = (0..CALL as u32).collect();
        let refined = filter.refine_column(values, &mut all);
        assert!(all[..refined] == rows[..selected], "a selection and a refined one");
        let words = *words;
        assert_eq!(filter.contains_column(values, &mut room.words), given);
        assert!(words == room.words && given == selected, "hashes and their values");
    }
}

/// Nanoseconds per value of all calls.
fn time(
    filters: &Filters,
    entries: Vec<Entry<'_>>,
    [values, hashed]: [&[u64]; 2],
    plan: Plan,
) -> Times {
    let (ours, selections) = (&filters.ours, selections());
    let mut rounds = Rounds::new(plan);
    for (name, _, select) in entries {
        add(&mut rounds, name, values, select);
    }
    add(&mut rounds, BITMAP, values, |values, room| ours.contains_column(values, &mut room.words));
    let mut turn = 0;
    add(&mut rounds, REFINE, values, move |values, room| {
        let rows = &mut room.rows[..SELECTED];
        rows.copy_from_slice(&selections[turn % selections.len()]);
        turn += 1;
        ours.refine_column(values, rows)
    });
    add(&mut rounds, GIVEN, hashed, |hashes, room| ours.contains_hashes(hashes, &mut room.words));
    #[cfg(arrow)]
    add(&mut rounds, FIND, hashed, |hashes, room| {
        filters.acero.find(hashes, &mut room.words);
        room.words[0] as usize
    });
    rounds.run()
}
