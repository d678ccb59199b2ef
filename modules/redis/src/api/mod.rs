//! The server's interface, made safe: a context to reply with, arguments, dumps. `unsafe` is
//! only here, in `key.rs`, and in `allocator.rs`, `lib.rs` and `datatype.rs`, which the server calls.

mod args;
mod context;
mod describe;
mod io;
pub(crate) mod raw;
mod table;

pub(crate) use args::Args;
pub(crate) use context::{Ctx, now};
pub(crate) use describe::{Arg, ArgKind, Description, Keys, describe};
pub(crate) use io::{Aof, Reader, Writer, end, end_child};
pub(crate) use table::{Table, fill, table};
