//! What only this module has: hashes, files, merging, windows, counting, static filters.

mod counting;
mod file;
mod fixed;
mod hashes;
mod merge;
mod window;

pub(crate) use counting::{COMMANDS as COUNTING_COMMANDS, Counting};
pub(crate) use file::from_file;
pub(crate) use fixed::{Fixed, read_only};
pub(crate) use window::{COMMANDS as WINDOW_COMMANDS, Timed};

use crate::api::{Args, Ctx, Found, Key};
use crate::command::{Command, Fail, Outcome, command};
use crate::dump;
use crate::object::{Object, Value};

/// The commands for filters of every kind.
pub(crate) const COMMANDS: &[Command] = &[
    command!("KIND", kind, Read),
    command!("HASHINFO", hashes::info, Read),
    command!("MADDHASH", hashes::add, Write),
    command!("MEXISTSHASH", hashes::exists, Read),
    command!("EXPORT", file::export, Read),
    command!("IMPORT", file::import, Write),
    command!("MERGE", merge::merge, Write, -1),
    command!("MERGEFORCE", merge::merge_force, Write, -1),
];

/// The filter of a key, whose absence is an error.
fn value_of<'k>(key: &'k Key<'_>) -> Result<&'k Value, Fail> {
    match key.get() {
        Found::Absent => Err(Fail::Text("ERR not found".into())),
        Found::Foreign => Err(Fail::WrongType),
        Found::Ours(Object { value: Value::Loading(_), .. }) => dump::still_loading(),
        Found::Ours(object) => Ok(&object.value),
    }
}

fn kind(ctx: Ctx, args: Args<'_>) -> Outcome {
    if args.len() != 2 {
        return Err(Fail::Arity);
    }
    match Key::open(ctx, args.raw(1), false).get() {
        Found::Absent => ctx.null(),
        Found::Foreign => return Err(Fail::WrongType),
        Found::Ours(object) => ctx.bytes(object.value.kind().name().as_bytes()),
    }
    Ok(())
}
