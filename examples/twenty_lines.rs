//! A filter in twenty lines of Rust: the whole of it is in the README.

use bloomline::{Bitmap, Filter, Params};

fn main() -> Result<(), bloomline::Error> {
    let mut filter = Filter::new(Params::for_rate(1_000_000, 0.01)?)?; // 1,000,000 keys at 1 %
    filter.insert("apple"); // keys are text, bytes or integers, by reference: &42u64, not &42, which is an i32
    assert!(filter.contains("apple")); // true: it may be present

    let mut maybe = Bitmap::new(); // answers to a batch, which is faster than one key after the other
    filter.contains_keys(&["apple", "pear", "plum"], &mut maybe);
    println!("apple {}, pear {}", maybe[0], maybe[1]);

    let path = std::env::temp_dir().join("fruit.bloomline");
    filter.save(&path)?; // replaces the file atomically
    assert!(Filter::load(&path)?.contains("apple")); // load fails on damaged bytes
    std::fs::remove_file(&path)?;
    Ok(())
}
