//! What one insert changes where keys crowd: of lines, and of what is beside them.

use super::GrowingFilter;
use crate::hash::hash_u64;
use crate::kernel::growing::Line;
use crate::layouts::growing::MOST_KEYS;

/// Those of each region.
fn lines(filter: &GrowingFilter) -> Vec<Vec<Line>> {
    let layouts = filter.places.layouts.iter();
    let each = layouts.map(|layout| (0..layout.lines.len()).map(|i| layout.lines.get(i).copied()));
    each.map(|lines| lines.map(Option::unwrap_or_default).collect()).collect()
}

/// How many lines differ, those included that only one has.
fn changed(before: &[Vec<Line>], after: &[Vec<Line>]) -> usize {
    let differ = |(before, after): (&Vec<Line>, &Vec<Line>)| {
        let differ = before.iter().zip(after).filter(|(before, after)| before != after).count();
        differ + before.len().abs_diff(after.len())
    };
    before.iter().zip(after).map(differ).sum()
}

/// Keys for a few lines of a filter that is nine tenths full, from its first line to its last.
#[test]
fn an_insert_changes_512_lines_at_most() {
    let (mut most, mut most_beside, mut counted) = (0, 0, 0);
    for (unbounded, range) in [(false, 12), (false, 16), (true, 12)] {
        for start in [0, 0x7654_3210_0000_0000, 0xFFF0_0000_0000_0000] {
            let mut filter = match unbounded {
                false => GrowingFilter::new(60_000, 0.01, 0).unwrap(),
                true => GrowingFilter::unbounded(1000, 0.01, 0).unwrap(),
            };
            (0..60_000).for_each(|key| _ = filter.insert_hash(hash_u64(key, 1)).unwrap());
            for key in 0..1_500 {
                let hash = start + (hash_u64(key, 2) >> range);
                let (before, beside) = (lines(&filter), filter.stash.total());
                let moves = filter.sweep.is_some();
                filter.insert_hash(hash).unwrap();
                assert!(filter.contains_hash(hash));
                if !moves && filter.sweep.is_none() {
                    counted += 1;
                    most = most.max(changed(&before, &lines(&filter)));
                    most_beside = most_beside.max(filter.stash.total() - beside);
                }
            }
        }
    }
    println!("{most} lines, {most_beside} keys beside them, of {counted} inserts");
    assert!((17..=512).contains(&most), "{most} lines");
    assert!((1..=6 * MOST_KEYS as u64).contains(&most_beside), "{most_beside} beside the lines");
}
