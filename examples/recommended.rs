//! A feed that shows nothing twice: what each user has seen, in 1 KB per user.
//!
//!     cargo run --release --example recommended [USERS]      20000 unless told
//!
//! A filter of fixed size fills up. So each user has two, of half a kilobyte: the newer one is
//! added to, both are asked, and once the newer one is full it becomes the older one and what
//! the older one knew is forgotten. So about the last 400 items are always known, and up to 800 are.
//! All users lie in one allocation, which could as well be a mapped file: a filter is only its
//! lines, and is looked at through a `View` that is made for the call.
//!
//! Exit status: not 0 if an item that is known was shown again, or too many were withheld.

use bloomline::hash::hash_u64;
use bloomline::{Error, Params, View, lines_insert};
use std::process::ExitCode;
use std::time::Instant;

const BYTES: usize = 512; // of a filter
const ITEMS: u64 = 400; // in a filter
const RATE: f64 = 0.01; // of a filter
const CATALOGUE: usize = 4000;
const CANDIDATES: usize = 256; // what the ranking has found for the user
const SHOWN: usize = 20; // what fits on the screen
const FEEDS: u64 = 60; // of each user

/// What a user has seen. At a multiple of 64, so that an item costs one cache line per filter.
#[derive(Clone)]
#[repr(align(64))]
struct Seen {
    newer: [u8; BYTES],
    older: [u8; BYTES],
}

impl Seen {
    /// Picks the first candidates that the user has not seen, and counts them as seen. Returns
    /// their places in the list, and whether the oldest items were forgotten.
    fn feed(&mut self, params: Params, candidates: &[u64]) -> Result<(Vec<usize>, bool), Error> {
        let (mut newer, mut older) = ([0; CANDIDATES / 64], [0; CANDIDATES / 64]);
        View::of_lines(&self.newer, params, 0)?.contains_hashes(candidates, &mut newer);
        View::of_lines(&self.older, params, 0)?.contains_hashes(candidates, &mut older);
        let seen = |i: &usize| (newer[i / 64] | older[i / 64]) >> (i % 64) & 1 == 1;
        let fresh: Vec<usize> = (0..candidates.len()).filter(|i| !seen(i)).take(SHOWN).collect();

        let hashes: Vec<u64> = fresh.iter().map(|&i| candidates[i]).collect();
        lines_insert(&params, &hashes, &mut self.newer)?;
        let full = View::of_lines(&self.newer, params, 0)?.estimated_rate() >= RATE;
        if full {
            self.older = self.newer;
            self.newer = [0; BYTES];
        }
        Ok((fresh, full))
    }
}

/// What a user has seen, exactly: to check with, for some of the users.
#[derive(Clone)]
struct Exactly {
    newer: Vec<bool>,
    older: Vec<bool>,
}

#[derive(Default)]
struct Counts {
    fresh: u64,
    withheld: u64,
    shown_again: u64,
}

impl Exactly {
    fn check(&mut self, first: usize, fresh: &[usize], forgotten: bool, counts: &mut Counts) {
        // All candidates up to the last one that was shown have been decided on.
        for i in 0..=fresh.last().copied().unwrap_or(CANDIDATES - 1) {
            let shown = fresh.contains(&i);
            let known = self.newer[first + i] || self.older[first + i];
            counts.shown_again += u64::from(shown && known);
            counts.fresh += u64::from(!known);
            counts.withheld += u64::from(!known && !shown);
        }
        fresh.iter().for_each(|i| self.newer[first + i] = true);
        if forgotten {
            self.older = std::mem::replace(&mut self.newer, vec![false; CATALOGUE]);
        }
    }
}

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let users: usize = std::env::args().nth(1).map_or(Ok(20_000), |users| users.parse())?.max(1);
    let params = Params::for_rate(ITEMS, RATE)?;
    assert_eq!(params.bytes(), BYTES);
    let catalogue: Vec<u64> = (0..CATALOGUE as u64).map(|item| hash_u64(item, 0)).collect();
    let mut seen = vec![Seen { newer: [0; BYTES], older: [0; BYTES] }; users];
    let nothing = vec![false; CATALOGUE];
    let mut exactly = vec![Exactly { newer: nothing.clone(), older: nothing }; users.min(100)];
    let (mut counts, mut shown, mut forgotten) = (Counts::default(), 0, 0);

    let start = Instant::now();
    for feed in 0..FEEDS * users as u64 {
        let user = (hash_u64(feed, 1) % users as u64) as usize;
        // The ranking, which has only some of the catalogue for whoever it is, best first.
        let first = hash_u64(feed, 2) as usize % (CATALOGUE - CANDIDATES);
        let candidates = &catalogue[first..first + CANDIDATES];
        let (fresh, full) = seen[user].feed(params, candidates)?;
        shown += fresh.len();
        forgotten += u64::from(full);
        if let Some(exactly) = exactly.get_mut(user) {
            exactly.check(first, &fresh, full, &mut counts);
        }
    }
    let feeds = FEEDS * users as u64;
    let time = start.elapsed().as_secs_f64() * 1e6 / feeds as f64;
    println!("users     {users}, {:.2} MB in all", (users * size_of::<Seen>()) as f64 / 1e6);
    println!(
        "feeds     {feeds}, {shown} items shown, {time:.2} us for each of {CANDIDATES} candidates"
    );
    println!("full      {forgotten} times the oldest items of a user were forgotten");
    println!("checked   {} users against exact sets", exactly.len());
    println!("again     {} items were shown again that were known", counts.shown_again);
    let rate = counts.withheld as f64 / counts.fresh as f64;
    println!("withheld  {:.3} % of new items by mistake; up to 2 % expected", rate * 100.0);
    let good = counts.shown_again == 0 && rate < 2.0 * RATE;
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
