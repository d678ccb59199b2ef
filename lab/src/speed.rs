//! How fast all contenders are, by the size of the filter: at equal memory (10 bits per key), and for three
//! sizes at an equal false-positive rate (1 %).

use crate::chart::{Mark, Panel, Picture, Series};
use crate::common::data::size_name;
use crate::common::rounds::{BATCH, Keys, Plan, median, quartile};
use crate::contender::{By, Kind, RATE, Size, Sizes};
use crate::measure::{Class, Entry, Mix, RUN, Way, measure, of_a_filling};
use crate::watch::Watch;
use crate::{cpp, crates, limits, ours};
use std::fmt::Write;
use std::time::Duration;

/// Bits per key, where a filter can have them.
pub(crate) const BITS: f64 = 10.0;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// A small filter, in the cache, and a large one, in memory: all contenders are timed in these.
pub(crate) const TWO: [usize; 2] = [256 * KIB, 64 * MIB];

/// The same at an equal rate, and one that is smaller than L1: there the instructions of a probe count.
const AT_A_RATE: [usize; 3] = [16 * KIB, TWO[0], TWO[1]];

const ALL: [usize; 9] =
    [AT_A_RATE[0], 64 * KIB, TWO[0], MIB, 4 * MIB, 16 * MIB, TWO[1], 256 * MIB, 1024 * MIB];

/// Keys in a call, of a few.
const FEW: [usize; 5] = [1, 2, 4, 8, 16];

/// The longest of 2 and more keys in a call, in times of a single probe.
const MOST_OF_ONE: &str = "2 to 16, at most, to probe one";

/// The columns, as [`Way::name`] has those of probes.
const INSERT_BATCH: &str = "insert batch";
const INSERT_ONE: &str = "insert one";
const PROBE_ONE: &str = "probe one";
const PROBE_BATCH: &str = "probe batch";
const DEPENDENT: &str = "dependent";

/// One contender, one size, one way to insert or probe.
pub(crate) struct Row {
    pub(crate) bytes: usize,
    pub(crate) keys: u64,
    pub(crate) size: Size,
    pub(crate) name: String,
    pub(crate) by: By,
    /// One of the columns, or a batch of a few.
    pub(crate) what: String,
    pub(crate) mix: &'static str,
    pub(crate) bits: f64,
    pub(crate) rate: f64,
    /// Nanoseconds per key, one for each round.
    pub(crate) ns: Vec<f64>,
}

/// How much is measured.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    /// Tiny filters, to see that all works.
    Smoke,
    Quick,
    Full,
}

/// Of sizes up to so many bytes.
pub(crate) fn run(kinds: &[Kind], effort: Effort, up_to: usize, watch: &mut Watch) -> Vec<Row> {
    let mut rows = Vec::new();
    let sizes: &[usize] = match effort {
        Effort::Smoke => &AT_A_RATE[..1],
        Effort::Quick => &AT_A_RATE,
        Effort::Full => &ALL,
    };
    for &bytes in sizes.iter().filter(|&&bytes| bytes <= up_to) {
        size(kinds, bytes, Size::Bits(BITS), effort, watch, &mut rows);
    }
    let at_a_rate: &[usize] = match effort {
        Effort::Smoke => sizes,
        Effort::Quick => &[],
        Effort::Full => &AT_A_RATE,
    };
    for &bytes in at_a_rate.iter().filter(|&&bytes| bytes <= up_to) {
        size(kinds, bytes, Size::Rate(RATE), effort, watch, &mut rows);
    }
    rows
}

fn size(
    kinds: &[Kind],
    bytes: usize,
    size: Size,
    effort: Effort,
    watch: &mut Watch,
    rows: &mut Vec<Row>,
) {
    let is_for_all = effort == Effort::Smoke
        || bytes == TWO[0]
        || (bytes == TWO[1] && effort == Effort::Full)
        || size == Size::Rate(RATE);
    let wanted = |kind: &&Kind| match kind.sizes {
        Sizes::None => false,
        Sizes::Two => is_for_all,
        Sizes::Most => bytes <= TWO[1],
        Sizes::All => true,
    };
    let of_kind = |kind| Entry { kind, size };
    let entries: Vec<Entry<'_>> = kinds.iter().filter(wanted).map(of_kind).collect();
    let class = class(bytes, size, effort, is_for_all);
    for (entry, measured) in entries.iter().zip(measure(&class, &entries, watch)) {
        let Some(measured) = measured else { continue };
        let mut row = |what: String, mix, ns: Vec<f64>| {
            // What takes too long is not measured in the largest.
            if ns.is_empty() {
                return;
            }
            rows.push(Row {
                bytes,
                keys: class.keys,
                size,
                name: entry.kind.name.replace('`', ""),
                by: entry.kind.by,
                what,
                mix,
                bits: measured.bits,
                rate: measured.rate,
                ns,
            });
        };
        for (what, ns) in [(INSERT_BATCH, measured.insert), (INSERT_ONE, measured.insert_each)] {
            let in_parts = class.parts > 1 && !ns.is_empty();
            row(what.into(), "", if in_parts { vec![of_a_filling(&ns)] } else { ns });
        }
        for (way, mix, ns) in measured.probes {
            row(way.name(), mix.name(), ns);
        }
    }
}

fn class(bytes: usize, size: Size, effort: Effort, is_for_all: bool) -> Class {
    let bits = match size {
        Size::Bits(bits) => bits,
        Size::Rate(rate) => bloomline::sizing::bits_for_rate(rate).expect("it is a rate").0,
    };
    let mut ways = vec![(Way::Single, Mix::Half), (Way::Calls(BATCH), Mix::Half)];
    if is_for_all && effort != Effort::Quick {
        ways.push((Way::Waiting, Mix::Half));
        if size == Size::Rate(RATE) {
            // There all kinds take part.
            ways.extend(FEW.map(|each| (Way::Calls(each), Mix::Half)));
        } else {
            for mix in [Mix::Present, Mix::Absent] {
                ways.extend([(Way::Single, mix), (Way::Calls(BATCH), mix)]);
            }
        }
    }
    let is_small = bytes <= MIB;
    let (rounds, turn) = match (effort, is_small) {
        (Effort::Smoke, _) => (1, 0),
        (Effort::Quick, true) => (3, 1),
        (Effort::Quick, false) => (3, 4),
        (Effort::Full, true) => (5, 1),
        (Effort::Full, false) => (5, 4),
    };
    Class {
        part: match size {
            Size::Bits(_) => "speed, at equal memory",
            Size::Rate(_) => "speed, at an equal rate",
        },
        name: size_name(bytes),
        size: size_name(bytes),
        keys: (bytes as f64 * 8.0 / bits) as u64,
        fills: if is_small && effort == Effort::Full { 9 } else { 1 },
        parts: if is_small { 1 } else { 16 * RUN as u64 },
        each: is_for_all,
        // Not so few that the CPU learns the answers by heart; of large filters, many more lines than
        // the caches hold.
        probes: if is_small { 1 << 17 } else { (bytes / 32).clamp(1 << 18, 1 << 20) },
        ways,
        remove: false,
        plan: Plan { rounds, turn: Duration::from_millis(turn), keys: Keys::Hot },
    }
}

// ---- what is written ----

pub(crate) fn csv(rows: &[Row]) -> String {
    let mut text = String::from(
        "filter_bytes,keys,sized_by,contender,what,probes,bits_per_key,false_positives,\
         ns_median,ns_low_quartile,ns_high_quartile,rounds\n",
    );
    for row in rows {
        let sized = match row.size {
            Size::Bits(bits) => format!("{bits} bits per key"),
            Size::Rate(rate) => format!("rate {rate}"),
        };
        let rate = if row.rate.is_nan() { String::new() } else { format!("{:.6}", row.rate) };
        let ns = |quarters| quartile(&row.ns, quarters);
        let _ = writeln!(
            text,
            "{},{},{sized},\"{}\",{},{},{:.2},{rate},{:.3},{:.3},{:.3},{}",
            row.bytes,
            row.keys,
            row.name,
            row.what,
            row.mix,
            row.bits,
            ns(2),
            ns(1),
            ns(3),
            row.ns.len()
        );
    }
    text
}

/// The median of one, at equal memory, half of the keys present.
fn ns(rows: &[Row], bytes: usize, name: &str, what: &str) -> Option<f64> {
    find(rows, bytes, Size::Bits(BITS), name, what).map(|row| median(&row.ns))
}

fn find<'a>(rows: &'a [Row], bytes: usize, size: Size, name: &str, what: &str) -> Option<&'a Row> {
    let is_it = |row: &&Row| {
        row.bytes == bytes
            && row.size == size
            && row.name == name.replace('`', "")
            && row.what == what
            && (row.mix.is_empty() || row.mix == Mix::Half.name())
    };
    rows.iter().find(is_it)
}

/// The limit of a batch: the fastest of the loops that only touch lines.
fn limit(rows: &[Row], bytes: usize, what: &str) -> Option<f64> {
    let is_it = |row: &&Row| {
        row.bytes == bytes
            && row.size == Size::Bits(BITS)
            && row.what == what
            && row.name.starts_with(limits::IN_BATCHES)
    };
    rows.iter().filter(is_it).map(|row| median(&row.ns)).reduce(f64::min)
}

fn sizes(rows: &[Row]) -> Vec<usize> {
    let mut sizes: Vec<usize> = rows.iter().map(|row| row.bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

fn names(rows: &[Row]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for row in rows {
        if !names.contains(&row.name) {
            names.push(row.name.clone());
        }
    }
    names
}

/// The tables: by size, of the sizes with all kinds and ways, a few keys in a call, and by what is asked for.
pub(crate) fn tables(rows: &[Row]) -> String {
    let mut text = String::new();
    let (sizes, names) = (sizes(rows), names(rows));
    let cell = |value: Option<f64>| value.map_or(" |".into(), |ns| format!(" {} |", short(ns)));
    let head: String = sizes.iter().map(|&bytes| format!(" {} |", size_name(bytes))).collect();
    for (what, title) in [(PROBE_ONE, "Probe one"), (PROBE_BATCH, "Probe batch")] {
        let _ = writeln!(text, "\n## {title}, by the size of the filter\n\n| ns per key |{head}");
        let _ = writeln!(text, "|---|{}", "---:|".repeat(sizes.len()));
        for name in &names {
            let cells: Vec<_> = sizes.iter().map(|&bytes| ns(rows, bytes, name, what)).collect();
            if cells.iter().flatten().count() > 2.min(sizes.len() - 1) {
                let cells: String = cells.into_iter().map(cell).collect();
                let _ = writeln!(text, "| {name} |{cells}");
            }
        }
    }
    for (size, of_all, title) in [
        (
            Size::Bits(BITS),
            &TWO[..],
            "At equal memory: 10 bits per key, where a filter can have them",
        ),
        (Size::Rate(RATE), &AT_A_RATE, "At an equal rate: 1 %, where a filter can have it"),
    ] {
        for &bytes in of_all {
            let ns = |name: &str, what: &str| {
                find(rows, bytes, size, name, what).map(|row| median(&row.ns))
            };
            let any = |name: &str| {
                let inserts = [INSERT_BATCH, INSERT_ONE];
                inserts.into_iter().find_map(|what| find(rows, bytes, size, name, what))
            };
            let there = |name: &&String| any(name).is_some();
            let columns = [INSERT_BATCH, INSERT_ONE, PROBE_ONE, PROBE_BATCH, DEPENDENT];
            if names.iter().filter(there).count() == 0 {
                continue;
            }
            let _ = writeln!(text, "\n## {title}; {}\n", size_name(bytes));
            let heads: String = columns.map(|head| format!(" {head} |")).concat();
            let _ = writeln!(text, "| ns per key | bits per key | false positives |{heads}");
            let _ = writeln!(text, "|---|---:|---:|{}", "---:|".repeat(columns.len()));
            for name in names.iter().filter(there) {
                let row = any(name).expect("it is there");
                let rate = if row.rate.is_nan() { String::new() } else { per_cent(row.rate) };
                let cells = columns.map(|what| cell(ns(name, what))).concat();
                let _ = writeln!(text, "| {name} | {:.2} | {rate} |{cells}", row.bits);
            }
        }
    }
    for bytes in AT_A_RATE {
        let of = |name: &str, what: &str| {
            find(rows, bytes, Size::Rate(RATE), name, what).map(|row| median(&row.ns))
        };
        let few = |name: &str, n: usize| of(name, &Way::Calls(n).name());
        if !names.iter().any(|name| few(name, 1).is_some()) {
            continue;
        }
        let head: String = FEW.iter().map(|n| format!(" {n} |")).collect();
        let _ = writeln!(text, "\n## A few keys in a call, at 1 %; {}\n", size_name(bytes));
        let _ = writeln!(text, "| ns per key | {PROBE_ONE} |{head} {MOST_OF_ONE} |");
        let _ = writeln!(text, "|---|{}", "---:|".repeat(FEW.len() + 2));
        let there = |name: &&String| few(name, 1).is_some() && !name.starts_with("touch");
        for name in names.iter().filter(there) {
            let cells: String = FEW.iter().map(|&n| cell(few(name, n))).collect();
            let one = of(name, PROBE_ONE);
            let most = FEW[1..].iter().filter_map(|&n| few(name, n)).reduce(f64::max);
            let ratio = cell(most.zip(one).map(|(most, one)| most / one));
            let _ = writeln!(text, "| {name} |{}{cells}{ratio}", cell(one));
        }
    }
    for mixes in [PROBE_ONE, PROBE_BATCH] {
        for bytes in TWO {
            let of = |name: &str, mix: Mix| {
                let is_it = |row: &&Row| {
                    row.bytes == bytes
                        && row.size == Size::Bits(BITS)
                        && row.name == name
                        && row.what == mixes
                        && row.mix == mix.name()
                };
                rows.iter().find(is_it).map(|row| median(&row.ns))
            };
            if !names.iter().any(|name| of(name, Mix::Absent).is_some()) {
                continue;
            }
            let _ = writeln!(text, "\n## By what is asked for: {mixes}; {}\n", size_name(bytes));
            text +=
                "| ns per key | all absent | half present | all present |\n|---|---:|---:|---:|\n";
            for name in names.iter().filter(|name| of(name, Mix::Absent).is_some()) {
                let cells: String =
                    [Mix::Absent, Mix::Half, Mix::Present].map(|mix| cell(of(name, mix))).concat();
                let _ = writeln!(text, "| {name} |{cells}");
            }
        }
    }
    text
}

/// Three digits that count.
pub(crate) fn short(ns: f64) -> String {
    let digits = if ns < 9.995 {
        2
    } else if ns < 99.95 {
        1
    } else {
        0
    };
    format!("{ns:.digits$}")
}

/// "0.98 %", with two digits that count.
pub(crate) fn per_cent(rate: f64) -> String {
    let per_cent = 100.0 * rate;
    let digits =
        if per_cent >= 0.995 { 1 } else { (1.0 - per_cent.log10().floor()).min(6.0) as usize };
    format!("{per_cent:.digits$} %")
}

// ---- pictures ----

/// Those that the pictures show: what it is called in them, and its colour.
const SHOWN: [(&str, &str, usize); 8] = [
    (ours::PLAIN, "bloomline", 0),
    (ours::IN_C, "bloomline, called (C)", 1),
    (crates::SBBF_RS, "sbbf-rs", 2),
    (cpp::FAST64, "Boost fast_multiblock64<8>", 3),
    (cpp::FAST32, "Boost fast_multiblock32<8>", 4),
    (cpp::ROCKSDB_SOURCE, "RocksDB FastLocalBloomImpl", 5),
    (crates::PARQUET, "parquet (with its hash)", 6),
    (crates::FASTBLOOM, "fastbloom", 7),
];

/// ns per probe against the size of the filter: singles, and batches.
pub(crate) fn by_size(rows: &[Row], note: &[String]) -> String {
    let sizes = sizes(rows);
    let series = |name: &str, called: &str, colour, what: &str| {
        let points =
            sizes.iter().filter_map(|&bytes| Some((bytes as f64, ns(rows, bytes, name, what)?)));
        Series { name: called.into(), colour, points: points.collect(), mark: Mark::Line }
    };
    let limits = |of: &dyn Fn(usize) -> Option<f64>, name: &str| {
        let points = sizes.iter().filter_map(|&bytes| Some((bytes as f64, of(bytes)?)));
        Series { name: name.into(), colour: 8, points: points.collect(), mark: Mark::Limit }
    };
    let panel = |title: &str, what: &str, limits: Vec<Series>| {
        let shown = SHOWN.iter().map(|&(name, called, colour)| series(name, called, colour, what));
        Panel { title: title.into(), series: limits.into_iter().chain(shown).collect() }
    };
    let single = |name| move |bytes| ns(rows, bytes, name, PROBE_ONE);
    let panels = vec![
        panel(
            "one key in a call",
            PROBE_ONE,
            vec![
                limits(&single(limits::INLINED), "limit, inlined"),
                limits(&single(limits::CALLED), "limit, called"),
            ],
        ),
        panel(
            "batches",
            PROBE_BATCH,
            vec![limits(&|bytes| limit(rows, bytes, PROBE_BATCH), "limit")],
        ),
    ];
    let tick = |bytes: usize| (bytes as f64, size_name(bytes).replace("iB", ""));
    Picture {
        title: "Nanoseconds per probe, by the size of the filter (10 bits per key, half of the keys present)".into(),
        x: ("size of the filter in bytes", sizes.iter().map(|&bytes| tick(bytes)).collect()),
        y: ("ns per probe", [0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0].map(|ns| (ns, ns.to_string())).into()),
        linear: false,
        panels,
        note: [&["Limit: touch, a loop that only loads a word of each key's line.".into()], note].concat(),
    }
    .draw()
}

/// Speed against rate, at equal memory: in the cache, and in memory.
pub(crate) fn by_rate(rows: &[Row], note: &[String]) -> String {
    let panel = |bytes: usize| {
        let mut series = Vec::new();
        for name in names(rows) {
            let shown = SHOWN.iter().find(|shown| shown.0.replace('`', "") == name);
            let row = find(rows, bytes, Size::Bits(BITS), &name, PROBE_ONE);
            let Some(row) = row.filter(|row| row.by != By::Limit && row.bits < 10.5) else {
                continue;
            };
            let is_ours = row.by == By::Ours
                && name != "Params::classic"
                && !name.starts_with("CuckooFilter");
            let (called, colour) = match shown {
                Some(&(_, called, colour)) => (called.to_string(), colour),
                // Other backends and faces of the same filter.
                None if is_ours => continue,
                None => (name.clone(), 9),
            };
            let both = [PROBE_BATCH, PROBE_ONE].map(|what| ns(rows, bytes, &name, what));
            // Those that have only one way have one circle.
            let points = both.into_iter().flatten().map(|ns| (100.0 * row.rate, ns)).collect();
            series.push(Series { name: called, colour, points, mark: Mark::Pair });
        }
        let place = if bytes == TWO[0] { "in the cache" } else { "in memory" };
        Panel { title: format!("{}, {place}", size_name(bytes)), series }
    };
    let ticks = [0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0].map(|rate: f64| (rate, format!("{rate} %")));
    Picture {
        title: "Nanoseconds per probe, by the false-positive rate, at 10 bits per key (circles: one key in a call; dots: batches)".into(),
        x: ("false-positive rate", ticks.into()),
        y: ("ns per probe", [0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0].map(|ns| (ns, ns.to_string())).into()),
        linear: false,
        panels: TWO.into_iter().map(panel).collect(),
        note: note.to_vec(),
    }
    .draw()
}
