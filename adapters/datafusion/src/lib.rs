//! Bloom filters for the hash joins of [DataFusion](datafusion).
//!
//! ```
//! use bloomline_datafusion::BloomJoin;
//! use datafusion::execution::session_state::SessionStateBuilder;
//! use datafusion::prelude::SessionContext;
//!
//! let session = SessionStateBuilder::new().with_default_features();
//! let context = SessionContext::new_with_state(BloomJoin::default().add_to(session).build());
//! ```
//!
//! Queries of this context need nothing else. `EXPLAIN` shows for each join that has a filter a
//! [`CollectKeysExec`] above its build side, and [`BloomFilterExpr`], as `bloom(key)`, in the scan of the other
//! side if it filters rows itself (`datafusion.execution.parquet.pushdown_filters`), else in a `FilterExec`
//! as near to the scan as can be.
//!
//! A row is dropped only once all keys of the build side are known. A filter that lets more than half of the
//! rows pass is asked for a sample of them only. A plan that runs again, as in a recursive query, runs without
//! filters from the second time on.

mod collect;
mod expr;
mod hashes;
mod keys;
mod push_down;
mod rule;

pub use collect::CollectKeysExec;
pub use expr::BloomFilterExpr;
pub use rule::BloomJoin;
