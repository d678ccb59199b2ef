//! Commands: what they return, and what the server knows of them.

use crate::api::raw::{self, CommandFn, RawCtx, RawString};
use crate::api::{Args, Ctx, table};
use std::borrow::Cow;
use std::ffi::{CStr, CString, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Why a command failed. Nothing was replied yet.
#[derive(Debug)]
pub(crate) enum Fail {
    /// An error with this text.
    Text(Cow<'static, str>),
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

impl From<bloomline::Error> for Fail {
    fn from(error: bloomline::Error) -> Fail {
        Fail::Text(format!("ERR {error}").into())
    }
}

/// What a command does with its key.
#[derive(Clone, Copy)]
pub(crate) enum Access {
    /// Reads it.
    Read,
    /// Writes, and may need memory.
    Write,
    /// Writes, and needs none.
    Shrink,
}

/// A command.
pub(crate) struct Command {
    /// What follows the prefix.
    pub(crate) name: &'static str,
    pub(crate) run: CommandFn,
    pub(crate) access: Access,
    /// The last of the arguments that are keys; -1: all from the first.
    pub(crate) last_key: c_int,
}

/// A command of one key: `command!("ADD", add, Write)`.
macro_rules! command {
    ($name:literal, $run:path, $access:ident) => {
        $crate::command::command!($name, $run, $access, 1)
    };
    ($name:literal, $run:path, $access:ident, $last_key:literal) => {{
        #[allow(unsafe_code)]
        unsafe extern "C" fn entry(
            ctx: *mut $crate::api::raw::RawCtx,
            argv: *mut *mut $crate::api::raw::RawString,
            argc: std::ffi::c_int,
        ) -> std::ffi::c_int {
            // SAFETY: the server calls it, with what `call` wants.
            unsafe { $crate::command::call(ctx, argv, argc, $run) }
        }
        $crate::command::Command {
            name: $name,
            run: entry,
            access: $crate::command::Access::$access,
            last_key: $last_key,
        }
    }};
}
pub(crate) use command;

/// Runs a command and replies if it failed.
///
/// # Safety
/// The arguments are those that the server gives to a command.
#[allow(unsafe_code)]
pub(crate) unsafe fn call(
    ctx: *mut RawCtx,
    argv: *mut *mut RawString,
    argc: c_int,
    run: fn(Ctx, Args<'_>) -> Outcome,
) -> c_int {
    // SAFETY: by the contract; both end with this call.
    let (ctx, args) = unsafe { (Ctx::new(ctx), Args::new(argv, argc)) };
    match catch_unwind(AssertUnwindSafe(|| run(ctx, args))) {
        Ok(Ok(())) => {}
        Ok(Err(Fail::Text(text))) => ctx.error(&text),
        Ok(Err(Fail::Arity)) => ctx.wrong_arity(),
        Ok(Err(Fail::WrongType)) => {
            ctx.error("WRONGTYPE Operation against a key holding the wrong kind of value");
        }
        Err(panic) => {
            // Dropping it could panic again.
            std::mem::forget(panic);
            ctx.log(c"warning", "a command panicked: please report it");
            ctx.error("ERR internal error");
        }
    }
    raw::OK
}

/// Registers a command under a prefix. Returns whether the server took it.
///
/// # Safety
/// `ctx` is what the server gives to `RedisModule_OnLoad`.
#[allow(unsafe_code)]
pub(crate) unsafe fn register(ctx: *mut RawCtx, prefix: &str, command: &Command) -> bool {
    let name = CString::new(format!("{prefix}{}", command.name)).expect("no byte is 0");
    // Servers derive no categories from the flags of a module's command.
    let (flags, categories): (&CStr, _) = match command.access {
        Access::Read => (c"readonly fast", "read fast"),
        Access::Write => (c"write deny-oom", "write slow"),
        Access::Shrink => (c"write fast", "write fast"),
    };
    let (table, last) = (table(), command.last_key);
    // SAFETY: the context of the call, and strings that the server copies.
    unsafe {
        let run = command.run;
        let done = (table.create_command)(ctx, name.as_ptr(), run, flags.as_ptr(), 1, last, 1);
        if done != raw::OK {
            return false;
        }
        if let (Some(get), Some(set)) = (table.get_command, table.set_acl_categories) {
            let own = if table.add_acl_category.is_some() { " bloomline" } else { "" };
            let categories = CString::new(format!("{categories}{own}")).expect("no byte is 0");
            let registered = get(ctx, name.as_ptr());
            if !registered.is_null() {
                set(registered, categories.as_ptr());
            }
        }
    }
    true
}
