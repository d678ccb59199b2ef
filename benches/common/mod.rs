//! What the benchmarks share.
//!
//! * `touch`: the limits, loops that only touch the line
//! * `data`: full filters, and their probes
//! * `groups`: one key of many filters
//! * `rounds`: fair timing of one thing against another
//! * `memory`: memory to touch, huge pages
//! * `machine`: what the numbers were measured on
// Each benchmark uses a part of it.
#![allow(dead_code)]

pub(crate) mod data;
pub(crate) mod groups;
pub(crate) mod machine;
pub(crate) mod memory;
pub(crate) mod rounds;
pub(crate) mod touch;

/// Whether an option is among the arguments, out of which it is taken.
pub(crate) fn option(arguments: &mut Vec<String>, name: &str) -> bool {
    let before = arguments.len();
    arguments.retain(|argument| argument != name);
    arguments.len() < before
}

/// The arguments of a benchmark without `cargo bench`'s own; None if it was not
/// started by `cargo bench`, as when `cargo test --all-targets` runs everything.
pub(crate) fn arguments() -> Option<Vec<String>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    if option(&mut arguments, "--bench") {
        return Some(arguments);
    }
    println!("not measured: run it with `cargo bench`");
    None
}
