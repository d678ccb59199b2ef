//! Commands: what they return, and what the server knows of them.

use crate::api::raw::{self, CommandFn, RawCtx, RawString, key_flags};
use crate::api::{ArgKind, Args, Ctx, Description, Keys, describe, end, table};
use crate::syntax;
use bloomline::Error;
use std::borrow::Cow;
use std::ffi::{CStr, CString, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;

/// Why a command failed. Nothing was replied yet.
#[derive(Debug)]
pub(crate) enum Fail {
    /// An error with this text.
    Text(Cow<'static, str>),
    /// An error with this text, for memory or since bytes are damaged: what no server may ignore that
    /// was told to do it.
    Undone(Cow<'static, str>),
    /// Too many or too few arguments.
    Arity,
    /// The key holds something else.
    WrongType,
}

/// What a command returns; if it did not fail it has replied.
pub(crate) type Outcome = Result<(), Fail>;

/// A failure with a text.
pub(crate) fn fail<T>(text: &'static str) -> Result<T, Fail> {
    Err(Fail::Text(text.into()))
}

/// Why a filter could not be made, if it was for memory.
pub(crate) fn no_memory<E>(_: E) -> Fail {
    Fail::Undone("ERR Insufficient memory to create filter".into())
}

/// Why a filter could not be made.
pub(crate) fn not_made(error: Error, otherwise: &'static str) -> Fail {
    match error {
        Error::OutOfMemory | Error::LineCount(_) => no_memory(error),
        _ => Fail::Text(otherwise.into()),
    }
}

impl From<Error> for Fail {
    fn from(error: Error) -> Fail {
        let text = format!("ERR {error}").into();
        match error {
            Error::OutOfMemory | Error::Checksum => Fail::Undone(text),
            _ => Fail::Text(text),
        }
    }
}

/// Ends a server that could not do, for memory or since bytes are damaged, what its primary or its
/// append-only file told it. It would go on without the items, and deny them.
pub(crate) fn end_if_told(ctx: Ctx, why: &str) {
    if ctx.is_replicated() {
        let why =
            format!("a filter would lack what the primary or the append-only file has: {why}");
        ctx.log(c"warning", &format!("{why}: the server ends"));
        end();
    }
}

/// What a command does with its key, or with the first of them; it reads the others.
#[derive(Clone, Copy)]
pub(crate) enum Access {
    /// Reads it.
    Read,
    /// Adds to it, and may need memory.
    Insert,
    /// Changes it, and needs no memory.
    Update,
    /// Removes from it.
    Delete,
}

/// A command.
pub(crate) struct Command {
    /// What it takes: see `syntax.rs`. What follows the prefix is the name.
    pub(crate) syntax: &'static str,
    pub(crate) access: Access,
    pub(crate) run: CommandFn,
    /// What it does, for COMMAND DOCS.
    pub(crate) summary: &'static str,
    /// The work it does. `links` are the filters of a series.
    pub(crate) complexity: &'static str,
}

/// A command: `command!("ADD key item", Insert, add, "Adds an item.", "O(links)")`.
macro_rules! command {
    ($syntax:literal, $access:ident, $run:path, $summary:literal, $complexity:literal) => {{
        #[allow(unsafe_code)]
        unsafe extern "C" fn entry(
            ctx: *mut $crate::api::raw::RawCtx,
            argv: *mut *mut $crate::api::raw::RawString,
            argc: std::ffi::c_int,
        ) -> std::ffi::c_int {
            const ARITY: std::ffi::c_int = $crate::syntax::arity($syntax);
            // SAFETY: the server calls it, with what `call` wants.
            unsafe { $crate::command::call(ctx, argv, argc, ARITY, $run) }
        }
        $crate::command::Command {
            syntax: $syntax,
            access: $crate::command::Access::$access,
            run: entry,
            summary: $summary,
            complexity: $complexity,
        }
    }};
}
pub(crate) use command;

/// Runs a command, unless it has too few arguments or too many, and replies if it failed.
///
/// # Safety
/// The arguments are those that the server gives to a command.
#[allow(unsafe_code)]
pub(crate) unsafe fn call(
    ctx: *mut RawCtx,
    argv: *mut *mut RawString,
    argc: c_int,
    arity: c_int,
    run: fn(Ctx, Args<'_>) -> Outcome,
) -> c_int {
    // SAFETY: by the contract; both end with this call.
    let (ctx, args) = unsafe { (Ctx::new(ctx), Args::new(argv, argc)) };
    // Servers check it, too, if they know of it.
    if argc != arity && (arity > 0 || argc < -arity) {
        ctx.wrong_arity();
        return raw::OK;
    }
    match catch_unwind(AssertUnwindSafe(|| run(ctx, args))) {
        Ok(Ok(())) => {}
        Ok(Err(Fail::Text(text))) => ctx.error(&text),
        Ok(Err(Fail::Undone(text))) => {
            end_if_told(ctx, &text);
            ctx.error(&text);
        }
        Ok(Err(Fail::Arity)) => ctx.wrong_arity(),
        Ok(Err(Fail::WrongType)) => {
            ctx.error("WRONGTYPE Operation against a key holding the wrong kind of value");
        }
        Err(panic) => {
            // Dropping it could panic again.
            std::mem::forget(panic);
            ctx.log(c"warning", "a command panicked: please report it");
            end_if_told(ctx, "a command panicked");
            ctx.error("ERR internal error");
        }
    }
    raw::OK
}

/// The version of the module that first had the commands.
const SINCE: &str = "0.1.0";

/// Registers a command under a prefix. Returns whether the server took it.
///
/// # Safety
/// `ctx` is what the server gives to `RedisModule_OnLoad`.
#[allow(unsafe_code)]
pub(crate) unsafe fn register(ctx: *mut RawCtx, prefix: &str, command: &Command) -> bool {
    let syntax = command.syntax;
    // In lower case, as the server's own and RedisBloom's: statistics have the name as it is here.
    let name = format!("{prefix}{}", syntax::name(syntax)).to_ascii_lowercase();
    let name = CString::new(name).expect("no byte is 0");
    // Servers derive no categories from the flags of a module's command.
    let (flags, categories, first): (&CStr, _, _) = match command.access {
        Access::Read => (c"readonly fast", "read fast", READS),
        Access::Insert => {
            (c"write deny-oom", "write slow", key_flags::READ_WRITE | key_flags::INSERT)
        }
        Access::Update => (c"write fast", "write fast", key_flags::READ_WRITE | key_flags::UPDATE),
        Access::Delete => (c"write fast", "write fast", key_flags::READ_WRITE | key_flags::DELETE),
    };
    let args = syntax::args(syntax, prefix.starts_with("BL."));
    let has_sources = args.iter().any(|arg| arg.kind == ArgKind::Key(1));
    let keys =
        [Keys { first: 1, last: 0, flags: first }, Keys { first: 2, last: -1, flags: READS }];
    let keys = if has_sources { &keys[..] } else { &keys[..1] };
    let (table, last_key) = (table(), if has_sources { -1 } else { 1 });
    // SAFETY: the context of the call, and strings that the server copies.
    unsafe {
        let run = command.run;
        let done = (table.create_command)(ctx, name.as_ptr(), run, flags.as_ptr(), 1, last_key, 1);
        if done != raw::OK {
            return false;
        }
        let registered = table.get_command.map_or(null_mut(), |get| get(ctx, name.as_ptr()));
        if registered.is_null() {
            return true;
        }
        let (summary, complexity, arity) =
            (command.summary, command.complexity, syntax::arity(syntax));
        let told = Description { summary, complexity, since: SINCE, arity, keys, args: &args };
        if !describe(registered, &told) {
            Ctx::new(ctx).log(c"notice", &format!("no COMMAND DOCS of {prefix}{syntax}"));
        }
        if let Some(set) = table.set_acl_categories {
            let own = if table.add_acl_category.is_some() { " bloomline" } else { "" };
            let categories = CString::new(format!("{categories}{own}")).expect("no byte is 0");
            set(registered, categories.as_ptr());
        }
    }
    true
}

/// What reading commands do with their keys.
const READS: u64 = key_flags::READ_ONLY | key_flags::ACCESS;
