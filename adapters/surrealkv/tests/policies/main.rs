//! The policies: their bytes against a plain definition and surrealkv's own policy, and through real stores.

mod builtin;
mod damage;
mod definition;
mod own;
mod policy;
mod store;
mod switching;
