//! Groups: one key of many filters against `views_contain_hash` and against a loop, and many keys,
//! each in a filter of its own, against a loop.

use super::data::{chain, hashes, mix};
use super::rounds::{Plan, Rounds, Times};
use super::touch::{lines, touch_one};
use bloomline::{Filter, Group, Params, View, views_contain_hash};
use std::hint::black_box;

/// What is timed. With [`DEPENDENT`] behind, each key is picked by the answers for the one before.
pub(crate) const GROUP: &str = "group";
pub(crate) const VIEWS: &str = "views";
pub(crate) const LOOP: &str = "a loop";
pub(crate) const DEPENDENT: &str = ", chained";

/// The limit: the line of each filter is only touched, and a bit of it is kept.
pub(crate) const TOUCH: &str = "touch";

/// Keys in a call for pairs.
pub(crate) const IN_A_CALL: usize = 16;

/// Filters that are about half full, and hashes of which half are in one of them.
pub(crate) fn filters(count: usize, size: usize) -> (Vec<Filter>, Vec<u64>) {
    let keys = size * 8 / 10;
    let stream = |stream| hashes(stream, keys);
    let filters = (0..count).map(|i| {
        let mut filter = Filter::new(Params::new((size / 64) as u64, 6, 0).unwrap()).unwrap();
        filter.insert_hashes(&stream(i as u64));
        filter
    });
    let filters = filters.collect();
    let (own, other) = (stream(0), hashes(1000, 1 << 16));
    let pool = |i: usize| if mix(i as u64) & 1 == 0 { own[i % keys] } else { other[i] };
    (filters, (0..1 << 16).map(pool).collect())
}

/// One key of so many filters of so many bytes each.
pub(crate) fn one_key(plan: Plan, count: usize, size: usize) -> Times {
    let (filters, pool) = filters(count, size);
    let views: Vec<View<'_>> = filters.iter().map(Filter::view).collect();
    let group = Group::new(views.iter().copied()).unwrap();
    let touchable: Vec<_> = filters.iter().map(|filter| lines(filter.lines())).collect();
    let touched = |hash: u64| {
        let mut answers = 0_u64;
        for lines in touchable.iter().rev() {
            answers = answers << 1 | touch_one(lines, hash) as u64;
        }
        black_box(answers).count_ones() as usize
    };
    let looped = |hash: u64| {
        let mut answers = 0_u64;
        for (i, view) in views.iter().enumerate() {
            answers |= u64::from(view.contains_hash(hash)) << i;
        }
        black_box(answers).count_ones() as usize
    };
    let together = |hash: u64| {
        let mut answers = [0];
        let present = views_contain_hash(&views, hash, &mut answers);
        present + (black_box(answers)[0] & 1) as usize
    };
    let grouped = |hash: u64| {
        let mut answers = [0];
        let present = group.contains_hash(hash, &mut answers);
        present + (black_box(answers)[0] & 1) as usize
    };
    let (pairs, _) = pool.as_chunks::<2>();
    let mut rounds = Rounds::new(plan);
    rounds.add(TOUCH, pairs, |pairs| pairs.iter().map(|pair| touched(pair[0])).sum());
    rounds.add(LOOP, pairs, |pairs| pairs.iter().map(|pair| looped(pair[0])).sum());
    rounds.add(VIEWS, pairs, |pairs| pairs.iter().map(|pair| together(pair[0])).sum());
    rounds.add(GROUP, pairs, |pairs| pairs.iter().map(|pair| grouped(pair[0])).sum());
    rounds.add(format!("{TOUCH}{DEPENDENT}"), pairs, |pairs| chain(pairs, touched));
    rounds.add(format!("{LOOP}{DEPENDENT}"), pairs, |pairs| chain(pairs, looped));
    rounds.add(format!("{VIEWS}{DEPENDENT}"), pairs, |pairs| chain(pairs, together));
    rounds.add(format!("{GROUP}{DEPENDENT}"), pairs, |pairs| chain(pairs, grouped));
    rounds.run()
}

/// Keys, each in one of so many filters.
pub(crate) fn pairs(plan: Plan, count: usize, size: usize) -> Times {
    let (filters, pool) = filters(count, size);
    let views: Vec<View<'_>> = filters.iter().map(Filter::view).collect();
    let group = Group::new(views.iter().copied()).unwrap();
    let members: Vec<u32> = (0..pool.len()).map(|i| mix(!i as u64) as u32 % count as u32).collect();
    let members = &members[..];
    let touchable: Vec<_> = filters.iter().map(|filter| lines(filter.lines())).collect();
    let mut rounds = Rounds::new(plan);
    let call = |hashes: &[u64], answer: &dyn Fn(&[u32], &[u64]) -> usize| {
        let calls = members.chunks(IN_A_CALL).zip(hashes.chunks(IN_A_CALL));
        calls.map(|(members, hashes)| answer(members, hashes)).sum()
    };
    rounds.add(TOUCH, &pool, |hashes| {
        call(hashes, &|members, hashes| {
            let mut answers = 0_u64;
            for (&member, &hash) in members.iter().zip(hashes) {
                answers = answers << 1 | touch_one(touchable[member as usize], hash) as u64;
            }
            black_box(answers).count_ones() as usize
        })
    });
    rounds.add(LOOP, &pool, |hashes| {
        call(hashes, &|members, hashes| {
            let mut answers = 0_u64;
            for (i, (&member, &hash)) in members.iter().zip(hashes).enumerate() {
                answers |= u64::from(views[member as usize].contains_hash(hash)) << i;
            }
            black_box(answers).count_ones() as usize
        })
    });
    rounds.add(GROUP, &pool, |hashes| {
        call(hashes, &|members, hashes| {
            let mut answers = [0];
            group.contains_pairs(members, hashes, &mut answers) + black_box(answers)[0] as usize % 2
        })
    });
    rounds.run()
}
