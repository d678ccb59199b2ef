//! What only this module has: hashes, files, merging, windows, counting, static and growing filters.

mod counting;
mod file;
mod growing;
mod hashes;
mod merge;
mod values;
mod window;

pub(crate) use counting::COMMANDS as COUNTING_COMMANDS;
pub(crate) use growing::COMMANDS as GROWING_COMMANDS;
pub(crate) use values::{Counting, Fixed, Growing, Timed};
pub(crate) use window::COMMANDS as WINDOW_COMMANDS;

use crate::api::{Args, Ctx};
use crate::command::{Command, Fail, Outcome, command};
use crate::key::{Found, Key};

/// The commands for filters of every kind.
pub(crate) const COMMANDS: &[Command] = &[
    command!("KIND key", Read, kind, "Returns the kind of the filter.", "O(1)"),
    command!(
        "HASHINFO key",
        Read,
        hashes::info,
        "Returns what a client needs to hash items itself.",
        "O(links)"
    ),
    command!(
        "MADDHASH key hashes",
        Insert,
        hashes::add,
        "Adds items by their hashes.",
        "O(items * links)"
    ),
    command!(
        "MEXISTSHASH key hashes",
        Read,
        hashes::exists,
        "Returns for each hash whether its item may be in the filter.",
        "O(items * links)"
    ),
    command!(
        "EXPORT key offset [COUNT n] [LINK i]",
        Read,
        file::export,
        "Returns a part of the file that the filter is.",
        "O(bytes)"
    ),
    command!(
        "IMPORT key offset length bytes [CAPACITY n] [LAYOUT name]",
        Insert,
        file::import,
        "Takes a part of the file of a filter.",
        "O(bytes)"
    ),
    command!(
        "MERGE dest source [source ...]",
        Insert,
        merge::merge,
        "Adds all items of other filters, if the rate allows it.",
        "O(bytes of all)"
    ),
    command!(
        "MERGEFORCE dest source [source ...]",
        Insert,
        merge::merge_force,
        "Adds all items of other filters, whatever the rate becomes.",
        "O(bytes of all)"
    ),
];

fn kind(ctx: Ctx, args: Args<'_>) -> Outcome {
    match Key::open(ctx, args.raw(1), false).get() {
        Found::Absent => ctx.null(),
        Found::Foreign => return Err(Fail::WrongType),
        Found::Ours(object) => ctx.bytes(object.value.kind().name().as_bytes()),
    }
    Ok(())
}
