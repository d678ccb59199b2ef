//! A crawler that fetches no URL twice, on a web of which nobody knows the size.
//!
//!     cargo run --release --example crawler [PAGES]      2000000 unless told
//!
//! Every link is asked for and noted in one step: `insert_new_keys` reports which of a page's links
//! are new. The filter begins with room for 10000 URLs and grows with the crawl; its rate stays below
//! 0.1 %, which is the part of all pages that the crawler may miss. Half-way it is stopped: the
//! filter is saved, and read again to go on. In the end it is converted into a plain filter.
//!
//! Exit status: not 0 if a page was fetched twice, or too many were missed.

use bloomline::hash::{hash_u64, random_seed};
use bloomline::{Bitmap, ScalableFilter};
use std::collections::VecDeque;
use std::process::ExitCode;
use std::time::{Duration, Instant};

const RATE: f64 = 0.001;
const FIRST_KEYS: u64 = 10_000;
const LINKS: u64 = 8; // on a page

fn url(page: u64) -> String {
    format!("https://host{}.example/page/{page}", page % 1000)
}

/// The pages that a page links to: what fetching it and looking for its links would find.
fn links(page: u64, pages: u64) -> impl Iterator<Item = u64> {
    (0..LINKS).map(move |link| hash_u64(page * LINKS + link, 1) % pages)
}

/// What has happened to a page: to check with. A real crawler has no room for that.
#[derive(Clone, Copy, Default)]
struct Page {
    linked: bool,
    fetched: u32,
}

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let pages: u64 = std::env::args().nth(1).map_or(Ok(2_000_000), |pages| pages.parse())?.max(1);
    let checkpoint = std::env::temp_dir().join(format!("crawler.{}", std::process::id()));

    let mut web = vec![Page::default(); pages as usize];
    // Whoever writes the pages chooses the URLs: with a known seed they could choose some that the
    // crawler takes for seen.
    let mut seen = ScalableFilter::new(FIRST_KEYS, RATE, random_seed()?)?;
    seen.insert(&url(0))?;
    let mut queue = VecDeque::from([0]);
    let (mut fetched, mut followed, mut in_filter) = (0, 0, Duration::ZERO);
    while let Some(page) = queue.pop_front() {
        web[page as usize].fetched += 1;
        fetched += 1;

        let found: Vec<u64> = links(page, pages).collect();
        let urls: Vec<String> = found.iter().map(|&page| url(page)).collect();
        let mut new = Bitmap::new();
        let start = Instant::now();
        seen.insert_new_keys(&urls, &mut new)?;
        in_filter += start.elapsed();
        followed += LINKS;
        for (i, &page) in found.iter().enumerate() {
            web[page as usize].linked = true;
            if new[i] {
                queue.push_back(page);
            }
        }

        if fetched == pages / 2 {
            seen.save(&checkpoint)?;
            seen = ScalableFilter::load(&checkpoint)?;
            std::fs::remove_file(&checkpoint)?;
        }
    }

    let twice = web.iter().filter(|page| page.fetched > 1).count();
    let missed = web.iter().filter(|page| page.linked && page.fetched == 0).count();
    let linked = web.iter().filter(|page| page.linked).count() as f64;
    let rate = missed as f64 / linked;
    let ns = in_filter.as_nanos() as f64 / followed as f64;
    println!("crawled   {fetched} pages, {followed} links followed, {ns:.0} ns each in the filter");
    println!("twice     {twice} pages were fetched twice");
    println!("missed    {missed} pages, {:.4} %; up to {} % expected", 100.0 * rate, 100.0 * RATE);
    println!(
        "filter    {} stages, {:.2} MB, room for {FIRST_KEYS} at first",
        seen.stages().len(),
        seen.encoded_len() as f64 / 1e6
    );

    // The crawl is over, and the URLs are known.
    let hashes = (0..pages).filter(|&page| web[page as usize].fetched > 0);
    let plain = seen.to_filter(hashes.map(|page| seen.hash(&url(page))))?;
    println!(
        "folded    {:.2} MB, {:.3} % false positives",
        plain.encoded_len() as f64 / 1e6,
        100.0 * plain.estimated_rate()
    );
    let denied =
        (0..pages).filter(|&page| web[page as usize].fetched > 0 && !plain.contains(&url(page)));
    // Five standard deviations of so many pages.
    let allowed = RATE + 5.0 * (RATE / linked).sqrt();
    let good = twice == 0 && rate <= allowed && denied.count() == 0;
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
