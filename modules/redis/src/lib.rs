//! Bloomline's filters as a module for Redis and Valkey: `docs/REDIS-COMMANDS.md` has the commands.
//!
//! | where | what it is |
//! |---|---|
//! | `lib.rs` | loading: the type, the commands, the options |
//! | `api/` | the server's interface, made safe |
//! | `allocator.rs` | memory from the server |
//! | `command.rs`, `syntax.rs`, `parse.rs`, `items.rs`, `added.rs`, `config.rs`, `limit.rs` | what commands share: failures, numbers, batches, their answers, options, the guard |
//! | `object.rs`, `key.rs`, `datatype.rs` | the value of a key, how commands find it, and what the server does with it |
//! | `image.rs`, `dump.rs`, `loading.rs`, `arrived.rs`, `finish.rs` | a value as bytes, and how these come and go |
//! | `probe.rs` | EXISTS and MEXISTS of every kind |
//! | `bloom/`, `cuckoo/`, `own/` | the kinds of filters and their commands |
//! | `info.rs` | the section of INFO |
#![allow(unsafe_code)]

mod added;
mod allocator;
mod api;
mod arrived;
mod bloom;
mod command;
mod config;
mod cuckoo;
mod datatype;
mod dump;
mod finish;
mod image;
mod info;
mod items;
mod key;
mod limit;
mod loading;
mod object;
mod own;
mod parse;
mod probe;
mod syntax;

use api::raw::{API_VERSION, ERR, OK, RawCtx, RawString, options};
use api::{Args, Ctx, table};
use command::Command;
use config::Config;
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The version of the module: major, minor and patch as two digits each.
const VERSION: c_int = 100;

/// What the server calls when it loads the module.
///
/// # Safety
/// Only a server calls it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn RedisModule_OnLoad(
    ctx: *mut c_void,
    argv: *mut *mut c_void,
    argc: c_int,
) -> c_int {
    let (ctx, argv) = (ctx.cast::<RawCtx>(), argv.cast::<*mut RawString>());
    // SAFETY: the server gives its context.
    if unsafe { api::fill(ctx) }.is_err() {
        // There may be no function to log with.
        return ERR;
    }
    // SAFETY: the server gives its context.
    allocator::start(unsafe { Ctx::new(ctx) }.has_jemalloc());
    // SAFETY: what the server gave.
    let loaded = catch_unwind(AssertUnwindSafe(|| unsafe { load(ctx, argv, argc) }));
    if loaded.is_ok_and(|loaded| loaded.is_some()) { OK } else { ERR }
}

/// Registers all there is. None, with a line in the log, if the module cannot work.
///
/// # Safety
/// The arguments are those of `RedisModule_OnLoad`, and the table is filled.
unsafe fn load(ctx: *mut RawCtx, argv: *mut *mut RawString, argc: c_int) -> Option<()> {
    let (table, name) = (table(), c"bloomline");
    // SAFETY: the context of the call and a name that stays.
    unsafe {
        if (table.is_name_busy)(name.as_ptr()) != 0 {
            return None;
        }
        (table.set_attributes)(ctx, name.as_ptr(), VERSION, API_VERSION);
    }
    // SAFETY: context and arguments of this call.
    let (context, args) = unsafe { (Ctx::new(ctx), Args::new(argv, argc)) };
    let failed = |text: &str| context.log(c"warning", text);
    let config = Config::read(args.iter()).map_err(|error| failed(&error)).ok()?;
    // The server counts the memory of its allocator alone.
    bloomline::set_huge_pages(false);
    allocator::set_huge_pages(config.huge_pages);
    let compat = config.compat;
    config::set(config);
    // SAFETY: the context of the call.
    unsafe {
        if !datatype::register(ctx) {
            failed("the type bloomline is taken by another module");
            return None;
        }
        (table.set_options)(
            ctx,
            options::HANDLE_IO_ERRORS | options::HANDLE_ASYNC_LOAD | options::HANDLE_SLOT_MIGRATION,
        );
        if let Some(add) = table.add_acl_category {
            add(ctx, c"bloomline".as_ptr());
        }
        for &(prefix, commands) in OWN {
            if !commands.iter().all(|command| command::register(ctx, prefix, command)) {
                failed(&format!("a command {prefix}* is taken by another module"));
                return None;
            }
        }
        for &(prefix, commands) in if compat { SHARED } else { &[] } {
            let taken = |command| !command::register(ctx, prefix, command);
            if commands.iter().any(taken) {
                context.log(
                    c"notice",
                    &format!("{prefix}* is registered by another module: use BL.* for this one"),
                );
            }
        }
        (table.register_info)(ctx, info::fill);
    }
    Some(())
}

/// The commands of our own names.
const OWN: &[(&str, &[Command])] = &[
    ("BL.", bloom::COMMANDS),
    ("BL.", own::COMMANDS),
    ("BL.W.", own::WINDOW_COMMANDS),
    ("BL.C.", own::COUNTING_COMMANDS),
    ("BL.G.", own::GROWING_COMMANDS),
    ("BL.CF.", cuckoo::COMMANDS),
    ("BL.CF.", cuckoo::OWN_COMMANDS),
];

/// The same commands under names that other modules may have taken.
const SHARED: &[(&str, &[Command])] = &[("BF.", bloom::COMMANDS), ("CF.", cuckoo::COMMANDS)];
