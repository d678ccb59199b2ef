//! A filter in twenty lines of Rust. The README shows some of them.

use bloomline::{Filter, Params};

fn main() -> Result<(), bloomline::Error> {
    let mut filter = Filter::new(Params::for_rate(1_000_000, 0.01)?)?; // 1,000,000 keys at 1 %
    filter.insert(b"apple");
    assert!(filter.contains(b"apple")); // true: it may be present

    // A batch is faster than one probe after the other.
    let mut maybe = [0; 1]; // bit i is the answer for key i
    filter.contains_keys(&["apple", "pear", "plum"], &mut maybe);
    println!("{:03b}: apple is bit 0", maybe[0]);

    // To a file, and back.
    let path = std::env::temp_dir().join("fruit.bloomline");
    filter.save(&path)?; // replaces the file atomically
    let loaded = Filter::load(&path)?; // fails on damaged bytes
    assert!(loaded.contains(b"apple"));
    std::fs::remove_file(&path)?;

    // As bytes inside a file or message of your own: decode copies them, a view probes them in place.
    let bytes: Vec<u8> = filter.to_bytes()?; // for View::open or Filter::decode
    assert!(Filter::decode(&bytes)?.contains(b"apple"));
    assert!(bloomline::View::open(&bytes)?.contains(b"apple"));

    for id in 0..1_000_000_u64 {
        filter.insert(&id.to_le_bytes());
    }
    println!(
        "rate now {:.3} %, {:.0} keys",
        filter.estimated_rate() * 100.0,
        filter.estimated_keys()
    );
    Ok(())
}
