//! Filter policies for [`slatedb`]: what `DbBuilder::with_filter_policies` takes.
//!
//! | policy | its filters |
//! |---|---|
//! | [`BloomFilterPolicy`] | those of SlateDB's own policy of that name, byte for byte, probed faster |
//! | [`BloomlinePolicy::plain`] | Bloomline's: a lookup reads one cache line of them |
//! | [`BloomlinePolicy::of_static`] | Bloomline's static ones: a quarter less memory |
//!
//! ```
//! # async fn open() -> Result<(), Box<dyn std::error::Error>> {
//! use bloomline_slatedb::{BloomFilterPolicy, BloomlinePolicy};
//! use slatedb::{Db, object_store::memory::InMemory};
//! use std::sync::Arc;
//!
//! let policy = BloomlinePolicy::of_static(0.01)?; // at most 1 % false positives
//! // Tables that are there already keep the filters of SlateDB's policy, until they are compacted.
//! let before = BloomFilterPolicy::new(10).reading_only();
//! let db = Db::builder("/db", Arc::new(InMemory::new()))
//!     .with_filter_policies(vec![Arc::new(policy), Arc::new(before)])
//!     .build()
//!     .await?;
//! # Ok(())
//! # }
//! ```
//!
//! A program that has SlateDB's policy changes two lines:
//!
//! ```
//! # async fn open() -> Result<(), Box<dyn std::error::Error>> {
//! # use slatedb::{Db, object_store::memory::InMemory};
//! # use std::sync::Arc;
//! use bloomline_slatedb::BloomFilterPolicy; // was slatedb::BloomFilterPolicy
//! let policy = BloomFilterPolicy::new(10);
//! let db = Db::builder("/db", Arc::new(InMemory::new())).with_filter_policies(vec![Arc::new(policy)]).build().await?;
//! # Ok(())
//! # }
//! ```
//!
//! Prefixes are filtered by a [`PrefixExtractor`](slatedb::PrefixExtractor), as in SlateDB's policy. No
//! policy can answer for ranges. A filter that cannot be read answers "may be present", and none is ever
//! built that lacks a key.

mod bits;
mod bloomline_policy;
mod built_in;
mod keys;

pub use bloomline_policy::BloomlinePolicy;
pub use built_in::BloomFilterPolicy;
