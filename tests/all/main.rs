//! Most tests, in one program, which is built and linked once. Each file says what it tests. Those
//! that change their process, or need a feature or a machine of their own, are programs beside it.

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

mod backends;
mod batches;
mod circles;
mod composite;
mod engines;
mod error;
mod filter;
mod format;
mod golden;
mod golden_files;
mod group;
mod histories;
mod keys;
mod kinds;
mod layers;
mod migration;
mod owned_view;
mod page;
mod parallel;
mod parquet;
mod properties;
mod select;
#[cfg(feature = "serde")]
mod serialized;
mod shards;
mod special_files;
mod statistics;
mod streams;
mod swap;
mod trust;
mod verbs;
mod whole_values;
