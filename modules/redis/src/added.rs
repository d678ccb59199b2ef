//! What became of items that were to be added: the answers, why it stopped, what a replica gets.

use crate::api::raw::RawString;
use crate::api::{Args, Ctx};
use crate::command::{Fail, Outcome, end_if_told};
use crate::items::in_blocks;
use std::ffi::CStr;

/// Why an item was not added. There is no third reason: growth never ends before the memory does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The filter is full, and does not grow.
    Full,
    /// It cannot grow: no memory, or beyond the limit.
    Memory,
}

impl Stop {
    /// The error, which begins as RedisBloom's.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Stop::Full => "ERR non scaling filter is full",
            Stop::Memory => {
                "ERR problem inserting into filter: no memory for it to grow, or above max-filter-bytes"
            }
        }
    }
}

impl From<Stop> for Fail {
    fn from(stop: Stop) -> Fail {
        let text = stop.text().into();
        if stop == Stop::Memory { Fail::Undone(text) } else { Fail::Text(text) }
    }
}

/// The answers to the items that were added, and why the next one was not.
pub(crate) struct Added {
    /// Whether each was new.
    pub(crate) answers: Vec<bool>,
    pub(crate) stop: Option<Stop>,
}

impl Added {
    /// Adds items, a block at a time. `insert` gets hashes, and appends the answers to those it added.
    pub(crate) fn of(
        items: Args<'_>,
        seed: u64,
        mut insert: impl FnMut(&[u64], &mut Vec<bool>) -> Result<(), Stop>,
    ) -> Added {
        let mut added = Added { answers: Vec::with_capacity(items.len()), stop: None };
        in_blocks(items, seed, |hashes| {
            if added.stop.is_none() {
                added.stop = insert(hashes, &mut added.answers).err();
            }
        });
        added
    }

    /// Sends replicas exactly what was done: this command, or `command` with the items before the one at
    /// which it stopped. What made the filter has been replicated.
    pub(crate) fn replicate(&self, ctx: Ctx, command: &CStr, key: *mut RawString, items: Args<'_>) {
        if self.stop.is_none() {
            // Another command would cost as much as the insert.
            ctx.replicate_this();
        } else {
            // What follows an error was not done, and an error must not reach a replica.
            let mut args = vec![key];
            args.extend_from_slice(items.first(self.answers.len()).as_raw());
            ctx.replicate(command, &args);
        }
    }

    /// Replies the answer to the only item.
    pub(crate) fn reply_one(&self, ctx: Ctx) -> Outcome {
        match self.stop {
            Some(stop) => Err(stop.into()),
            None => {
                ctx.boolean(self.answers[0]);
                Ok(())
            }
        }
    }

    /// Replies an array of the answers, which an error ends.
    pub(crate) fn reply_all(&self, ctx: Ctx) -> Outcome {
        if self.stop == Some(Stop::Memory) {
            end_if_told(ctx, Stop::Memory.text());
        }
        ctx.array(self.answers.len() + usize::from(self.stop.is_some()));
        for &new in &self.answers {
            ctx.boolean(new);
        }
        if let Some(stop) = self.stop {
            ctx.error(stop.text());
        }
        Ok(())
    }
}
