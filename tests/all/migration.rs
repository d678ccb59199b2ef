//! What `docs/how-to/move.md` says that calls of other crates, and of Guava, become in Rust: each call of its right
//! column stands here. That of Boost's calls in C++ stands in `c-tests/test_hpp_keys.cpp`.

use bloomline::hash::hash_value;
use bloomline::{
    ConcurrentFilter, CuckooFilter, CuckooParams, Error, Filter, GrowingFilter, Params,
    ScalableFilter, StaticFilter,
};

#[test]
fn calls_of_other_crates() -> Result<(), Error> {
    let (n, seed, key, keys) = (1000, 7, "apple", ["apple", "pear"]);
    let mut filter = Filter::new(Params::for_rate(n, 0.01)?.with_random_seed()?)?;
    assert!(filter.insert(&key));
    assert!(filter.contains(&key));
    assert!(!filter.insert(&key));
    let bytes = filter.to_bytes()?;
    assert!(Filter::decode(&bytes)? == filter);
    assert!(filter.params().rate(n) <= 0.01);
    assert!(Filter::from_keys(keys, 0.01)?.contains("pear"));
    let other = Filter::new(Params::for_bits(n, 10.0)?.with_random_seed()?)?;
    assert!(other.params().bytes() * 8 >= 10_000);
    assert_eq!(Params::for_rate(n, 0.01)?.with_seed(seed).seed(), 7);
    filter.extend(keys);
    let (mut a, b) = (filter.clone(), filter.clone());
    a.union(&b)?;
    a.intersect(&b)?;
    assert_eq!(a.lines(), filter.lines());
    filter.clear();
    assert!(!filter.contains(&key));
    let (lines, k, bytes) = (a.params().line_count(), a.params().k(), a.lines().to_vec());
    let seed = a.params().seed();
    let same = Filter::from_lines(Params::new(lines, k, seed)?, &bytes, 0)?;
    assert!(same.contains(&key));
    let shared = ConcurrentFilter::new(Params::for_rate(n, 0.01)?)?;
    assert!(shared.insert(&key));
    assert!(shared.contains(&key));
    assert!(Params::for_rate(n, 0.03)?.rate(n) <= 0.03);
    let other = Filter::new(shared.params())?.with_keys(keys);
    shared.union(&other)?;
    assert!(shared.contains("pear"));
    assert!(shared.snapshot()?.estimated_rate() < 0.01);
    assert!(shared.estimated_keys() > 1.0);
    let mut out = Vec::new();
    shared.write_to(&mut out)?;
    assert!(ConcurrentFilter::read_from(&out[..])? == shared);

    let mut cuckoo = CuckooFilter::new(CuckooParams::for_rate(n, 0.03)?)?;
    assert!(cuckoo.insert(&key)?);
    assert!(!cuckoo.insert_absent(&key)?);
    assert_eq!(cuckoo.key_count(), 1);
    assert!(cuckoo.remove(&key).is_ok());

    let mut growing = GrowingFilter::new(n, 0.01, seed)?;
    growing.insert(&key)?;
    growing.insert(&key)?;
    assert_eq!(growing.count(&key), 2);
    assert!(growing.remove(&key).is_ok());
    let other = growing.clone();
    growing.union(&other)?;
    assert_eq!(growing.count(&key), 2);

    assert!(StaticFilter::from_keys(keys, 0.004)?.contains(&key));

    let mut scalable = ScalableFilter::new(n, 0.01, seed)?;
    assert!(scalable.insert(&key)?);

    #[derive(Hash)]
    struct Page(&'static str, u32);
    let page = Page("example", 7);
    filter.insert_hash(hash_value(&page, seed));
    filter.insert(&(key.len() as u64));
    Ok(())
}

#[test]
fn the_page_has_these_calls() {
    let page = include_str!("../../docs/how-to/move.md");
    let section = |name: &str| {
        let heading = format!("\n## From {name}\n");
        page.split(&heading).nth(1).expect("its section").split("\n## ").next().unwrap()
    };
    let rust = include_str!("migration.rs");
    let cpp = include_str!("../../c-tests/test_hpp_keys.cpp");
    for (name, tests, least) in
        [("Rust crates", rust, 25), ("Guava", rust, 10), ("Boost.Bloom", cpp, 9)]
    {
        let rows = section(name).lines().filter(|line| line.starts_with("| ")).skip(1);
        let mut calls = 0;
        for row in rows {
            let here = row.trim_end_matches(" |").rsplit_once(" | ").expect("columns").1;
            // Code is every other part between backticks.
            for call in here.split('`').skip(1).step_by(2) {
                assert!(tests.contains(call), "{call}");
                calls += 1;
            }
        }
        assert!(calls >= least, "{name}: {calls}");
    }
}
