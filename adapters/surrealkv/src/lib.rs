//! Filter policies for the key-value store [`surrealkv`], for
//! [`TreeBuilder::with_filter_policy`](surrealkv::TreeBuilder::with_filter_policy).
//!
//! | policy | its filters |
//! |---|---|
//! | [`BuiltinFilter`] | those of surrealkv's own policy, byte for byte: for databases that exist |
//! | [`BloomlineFilter`] | Bloomline's: plain ones, or static ones, which take a quarter less memory |
//! | [`TransitionFilter`] | Bloomline's, and it reads surrealkv's own too: for databases that change over |
//!
//! ```no_run
//! use bloomline_surrealkv::BloomlineFilter;
//! use std::sync::Arc;
//! use surrealkv::TreeBuilder;
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let policy = BloomlineFilter::static_for_rate(0.01)?;
//! let tree = TreeBuilder::new()
//!     .with_path("data".into())
//!     .with_filter_policy(Some(Arc::new(policy)))
//!     .build()?;
//! # Ok(())
//! # }
//! ```
//!
//! surrealkv looks for the filters of a table by the name of the policy. It reads tables of a policy of another
//! name without their filters, until a compaction writes them anew: [`BloomlineFilter`] has a name of its own,
//! the other two that of surrealkv's own policy. No key is lost whichever policy a database is opened with.

mod builtin;
mod own;
mod transition;

pub use bloomline::Error;
pub use builtin::BuiltinFilter;
pub use own::BloomlineFilter;
pub use transition::TransitionFilter;
