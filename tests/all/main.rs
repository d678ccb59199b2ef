//! Most tests, in one program, which is built and linked once. Each file says what it tests. Those
//! that change their process, or need a feature or a machine of their own, are programs beside it.

#[path = "../committed/mod.rs"]
mod committed;
#[path = "../definition/mod.rs"]
mod definition;
#[path = "../directory/mod.rs"]
mod directory;
#[path = "../kinds/mod.rs"]
mod kinds;
#[path = "../mapped/mod.rs"]
mod mapped;
#[path = "../plans/mod.rs"]
mod plans;

mod backends;
mod batches;
mod cascade;
mod circles;
mod classic;
mod composite;
mod concurrent;
mod counting;
mod cuckoo;
mod engines;
mod error;
mod filter;
mod format;
mod golden;
mod golden_cascade;
mod golden_classic;
mod golden_counting;
mod golden_cuckoo;
mod golden_files;
mod golden_matrix;
mod golden_scalable;
mod golden_static;
mod golden_window;
mod group;
mod growing;
mod histories;
mod keys;
mod layers;
mod matrix;
mod matrix_columns;
mod migration;
mod owned_view;
mod page;
mod parallel;
mod properties;
mod scalable;
mod shards;
mod special_files;
mod static_filter;
mod static_model;
mod statistics;
mod streams;
mod swap;
mod trust;
mod verbs;
mod whole_values;
mod window;
