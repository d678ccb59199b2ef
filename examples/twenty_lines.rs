//! A filter in twenty lines of Rust. The README shows some of them.

use bloomline::{Bitmap, Filter, Params};

fn main() -> Result<(), bloomline::Error> {
    let mut filter = Filter::new(Params::for_rate(1_000_000, 0.01)?)?; // 1,000,000 keys at 1 %
    filter.insert("apple"); // keys are text, bytes or integers, by reference: insert(&42u64)
    assert!(filter.contains("apple")); // true: it may be present

    // A batch is faster than one probe after the other.
    let mut maybe = Bitmap::new();
    filter.contains_keys(&["apple", "pear", "plum"], &mut maybe); // a batch: maybe[1] is for "pear"
    println!("apple {}, pear {}", maybe[0], maybe[1]);

    // To a file, and back.
    let path = std::env::temp_dir().join("fruit.bloomline");
    filter.save(&path)?; // replaces the file atomically
    let loaded = Filter::load(&path)?; // fails on damaged bytes
    assert!(loaded.contains("apple"));
    std::fs::remove_file(&path)?;

    // As bytes inside a file or message of your own: decode copies them, a view probes them in place.
    let bytes: Vec<u8> = filter.to_bytes()?; // for View::open or Filter::decode
    assert!(Filter::decode(&bytes)?.contains("apple"));
    assert!(bloomline::View::open(&bytes)?.contains("apple"));

    filter.extend(0..1_000_000_u64); // in blocks, faster than one by one
    println!(
        "rate now {:.3} %, {:.0} keys",
        filter.estimated_rate() * 100.0,
        filter.estimated_keys()
    );
    Ok(())
}
