//! A filter in twenty lines of Rust: the example of the README.

use bloomline::{Filter, Params};

fn main() -> Result<(), bloomline::Error> {
    // 1,000,000 keys at 1 % false positives: 1.2 MB.
    let mut filter = Filter::new(Params::for_rate(1_000_000, 0.01)?)?;
    for id in 0..1_000_000_u64 {
        filter.insert(&id.to_le_bytes());
    }

    // Many keys at once: bit i of the answer is key i.
    let keys: Vec<[u8; 8]> = (999_990..1_000_010_u64).map(u64::to_le_bytes).collect();
    let mut bitmap = [0; 1];
    println!("{} of 20 may be in: {:020b}", filter.contains_keys(&keys, &mut bitmap), bitmap[0]);

    // To a file, and back.
    let path = std::env::temp_dir().join("twenty_lines.bloomline");
    filter.save(&path)?;
    let loaded = Filter::load(&path)?;
    assert!(loaded.contains(&7_u64.to_le_bytes()));
    std::fs::remove_file(&path)?;
    println!(
        "rate now {:.3} %, {:.0} keys",
        filter.estimated_rate() * 100.0,
        filter.estimated_keys()
    );
    Ok(())
}
