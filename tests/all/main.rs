//! Most tests, in one program, which is built and linked once. Each file says what it tests. Those
//! that change their process, or need a feature or a machine of their own, are programs beside it.

#![cfg_attr(answers_alone, allow(dead_code, unused_macros, unused_imports))]

#[path = "../committed/mod.rs"]
mod committed;
#[path = "../definition/mod.rs"]
mod definition;
#[path = "../directory/mod.rs"]
mod directory;
#[path = "../mapped/mod.rs"]
mod mapped;
#[path = "../plans/mod.rs"]
mod plans;

// How keys are answered, and what bytes there are: on every CPU.
mod backends;
mod batches;
mod composite;
mod concurrent_builder;
mod engines;
mod few;
mod filter;
mod format;
mod golden;
mod golden_files;
mod group;
mod histories;
mod keys;
mod kinds;
mod owned_view;
mod parallel;
mod parquet;
mod properties;
mod select;
mod split_blocks;
mod trust;

// What no CPU does in another way. Where `answers_alone` is set, on other CPUs and under AddressSanitizer,
// to compile and run it would take as long as what is above.
#[cfg(not(answers_alone))]
mod circles;
#[cfg(not(answers_alone))]
mod error;
#[cfg(not(answers_alone))]
mod layers;
#[cfg(not(answers_alone))]
mod migration;
#[cfg(not(answers_alone))]
mod page;
#[cfg(all(feature = "serde", not(answers_alone)))]
mod serialized;
#[cfg(not(answers_alone))]
mod shards;
#[cfg(not(answers_alone))]
mod special_files;
#[cfg(not(answers_alone))]
mod statistics;
#[cfg(not(answers_alone))]
mod streams;
#[cfg(not(answers_alone))]
mod swap;
#[cfg(not(answers_alone))]
mod verbs;
#[cfg(not(answers_alone))]
mod whole_values;
