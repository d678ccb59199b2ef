//! All contenders over tiny filters: no false negative (the harness asserts it), rates as in theory, and
//! results that can be written.

use super::*;
use crate::contender::Size;

/// Probes for a rate: a million, of which about a hundredth are positive, so chance alone is some 1 %.
const NOISE: f64 = 0.1;

#[test]
fn no_contender_denies_keys_and_rates_are_near_the_model() {
    let rates = rates::run(&kinds(), Effort::Smoke);
    assert!(rates.len() >= 10, "only {} filters can be of 10 bits per key", rates.len());
    for (name, model) in [
        (ours::PLAIN, model::line as fn(f64) -> f64),
        ("`Filter`, scalar", model::line),
        ("`Params::classic`", model::classic),
        (views::BLOCKS, model::sbbf),
        (crates::SBBF_RS, model::sbbf),
        (crates::PARQUET, model::sbbf),
        (crates::FASTBLOOM, model::classic),
        (ours::IN_C, model::line),
        (cpp::ROCKSDB, model::line),
        (cpp::ROCKSDB_SOURCE, model::line),
        (cpp::STANDARD, model::classic),
    ] {
        for rate in rates.iter().filter(|rate| rate.name == name.replace('`', "")) {
            let expected = model(rate.bits);
            let off = rate.rate / expected - 1.0;
            assert!(off.abs() < NOISE, "{name}: {} and not {expected}", rate.rate);
        }
    }
    let table = rates::table(&rates);
    assert!(table.contains("| Filter |"), "{table}");
    assert!(rates::picture(&rates, &note()).ends_with("</svg>\n"));
}

#[test]
fn all_ways_to_probe_answer() {
    let kinds = kinds();
    let rows = speed::run(&kinds, Effort::Smoke, usize::MAX, &mut Watch::default());
    for what in
        ["insert batch", "insert one", "probe one", "probe batch", "dependent", "batch of 8"]
    {
        let plain = rows.iter().find(|row| row.name == "Filter" && row.what == what);
        assert!(plain.is_some_and(|row| row.ns.iter().all(|&ns| ns > 0.0)), "{what}");
    }
    let tables = speed::tables(&rows);
    assert!(tables.contains("Probe one"));
    for title in
        ["At an equal rate: 1 %, where a filter can have it", "A few keys in a call, at 1 %"]
    {
        let table = tables.split(&format!("\n## {title}; 16 KiB\n")).nth(1);
        let table = table.unwrap_or_else(|| panic!("{tables}")).split("## ").next().unwrap();
        for name in
            ["Filter", "Swap<Filter>", "64 shards of Filter", "CuckooFilter", "StaticFilter"]
        {
            assert!(table.contains(&format!("\n| {name} | ")), "{name}: {table}");
        }
    }
    assert_eq!(speed::csv(&rows).lines().count(), rows.len() + 1);
    assert!(speed::by_size(&rows, &note()).ends_with("</svg>\n"));
}

/// The part itself asserts that a loop, a group and a matrix answer alike, and that SeqAn's filter denies
/// no key.
#[test]
fn many_filters_are_asked() {
    let all = matrix::run(Effort::Smoke, usize::MAX, &mut Watch::default());
    assert_eq!(all.len(), 2);
    let tables = matrix::tables(&all);
    assert!(tables.contains("| 65 of 4 KiB |"), "{tables}");
    assert_eq!(tables.contains("SeqAn"), cfg!(seqan), "{tables}");
    assert!(matrix::csv(&all).contains("\n65,4096,\"Matrix\","));
    assert!(matrix::picture(&all, &note()).ends_with("</svg>\n"));
    for one in &all {
        for rate in one.rates() {
            let off = rate / model::line(10.0) - 1.0;
            assert!(off.abs() < NOISE, "{rate}");
        }
    }
}

/// The part itself asserts that no filter denies a key, that all calls of this library's agree, and that the
/// crate `parquet` builds the same bits.
#[test]
fn columns_are_selected() {
    let (hashing, all) = columns::run(&kinds(), Effort::Smoke, usize::MAX, &mut Watch::default());
    let tables = columns::tables(&hashing, &all, &columns::build(Effort::Smoke));
    for name in ["Acero, Find alone", "Parquet C++"] {
        assert_eq!(tables.contains(name), cfg!(arrow), "{tables}");
    }
    let row = "| Filter, refine_column of 30 %, per selected row | ";
    let after = tables.split(row).nth(1).unwrap_or_else(|| panic!("{tables}"));
    let ns: f64 = after.split(' ').next().unwrap().parse().unwrap();
    assert!(ns > 0.0, "{tables}");
    assert_eq!(all.len(), 1);
    let mut of_a_model = 0;
    for &(name, bits, rate) in all[0].rates() {
        let model = match name {
            _ if name.starts_with("`Filter`") => model::line,
            _ if name.starts_with("Parquet") => model::sbbf,
            crates::SBBF_RS | crates::PARQUET => model::sbbf,
            _ => continue,
        };
        let off = rate / model(bits) - 1.0;
        assert!(off.abs() < NOISE, "{name}: {rate} and not {}", model(bits));
        of_a_model += 1;
    }
    assert_eq!(of_a_model, if cfg!(arrow) { 5 } else { 4 });
}

/// A picture is as wide as its names need, and the published ones have the style that is drawn.
#[test]
fn pictures_have_room() {
    let name = "a name of a filter, longer than those that there are";
    let series = chart::Series {
        name: name.into(),
        colour: 0,
        points: vec![(1.0, 2.0), (10.0, 3.0)],
        mark: chart::Mark::Line,
    };
    let picture = chart::Picture {
        title: "title".into(),
        x: ("x", vec![(1.0, "1".into()), (1.01, "no room".into())]),
        y: ("y", vec![]),
        linear: false,
        panels: vec![chart::Panel { title: String::new(), series: vec![series] }],
        note: vec!["word ".repeat(100)],
    };
    let svg = picture.draw();
    let attribute = |text: &str, name: &str| -> f64 {
        text.split(name).nth(1).unwrap().split('"').nth(1).unwrap().parse().unwrap()
    };
    let tag = svg.lines().find(|line| line.contains(name)).unwrap();
    let width = attribute(svg.split("<rect").nth(1).unwrap(), "width");
    assert!(attribute(tag, " x=") + font::width(name, "name") <= width, "{svg}");
    assert!(svg.matches("\"small\"").count() >= 3 && !svg.contains("no room"), "{svg}");
    let head = |svg: &str| {
        svg.split_once("<style>").unwrap().1.split_once("</style>").unwrap().0.to_string()
    };
    let published = |name| fs::read_to_string(docs().join(name)).unwrap();
    assert_eq!(head(&published("choosing.svg")), head(&svg));
    assert_eq!(head(&published("choosing-dark.svg")), head(&chart::dark(&svg)));
    assert!(shown("alt", "name").contains("srcset=\"name-dark.svg\""));
}

/// Every way counts the same answers: single probes, those that wait, calls for any number of keys.
#[test]
fn ways_agree() {
    let keys = measure::part_of_keys(20_000, 0, 1);
    let absent = measure::absent_keys(20_001);
    for kind in kinds().iter().filter(|kind| kind.by != contender::By::Limit) {
        let sizes = [Size::Bits(10.0), Size::Rate(0.01)];
        for mut filter in sizes.into_iter().filter_map(|size| (kind.build)(20_000, size)) {
            filter.insert(&keys[..10_000]);
            if !filter.insert_each(&keys[10_000..]) {
                filter.insert(&keys[10_000..]);
            }
            filter.filled();
            assert_eq!(filter.singles(&keys), keys.len(), "{}", kind.name);
            let positives = filter.singles(&absent);
            assert!(positives < absent.len() / 10, "{}: {positives}", kind.name);
            for each in [1, 7, 64, 1000] {
                let by_calls = filter.batches(&absent, each).unwrap_or(positives);
                assert_eq!(by_calls, positives, "{}, calls for {each}", kind.name);
            }
            let pairs: Vec<[u64; 2]> = absent.iter().map(|&hash| [hash; 2]).collect();
            assert_eq!(filter.one_by_one(&pairs), positives, "{}, waiting", kind.name);
        }
    }
}

/// The picture of the line is that of the definition.
#[test]
fn the_line_is_drawn() {
    let svg = line_picture::draw();
    let published = |name| fs::read_to_string(docs().join(name)).unwrap();
    assert_eq!(published("line.svg"), svg, "`make lab PARTS=line WRITE=1` draws it");
    assert_eq!(published("line-dark.svg"), chart::dark(&svg));
}
