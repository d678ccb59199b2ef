//! The types of the server's interface, as its header declares them.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::{null, null_mut};

macro_rules! opaque {
    ($($(#[$doc:meta])* $name:ident;)+) => {$(
        $(#[$doc])*
        #[repr(C)]
        pub(crate) struct $name {
            _nothing: [u8; 0],
        }
    )+};
}

opaque! {
    /// What a call is made in.
    RawCtx;
    /// A string of the server.
    RawString;
    /// An open key.
    RawKey;
    /// A type that a module has registered.
    RawType;
    /// A dump that is written or read.
    RawIo;
    /// A digest that is computed.
    RawDigest;
    /// What INFO is written to.
    RawInfo;
    /// A command that is registered.
    RawCommand;
    /// What INFO says, to be read.
    RawServerInfo;
}

/// The status of calls that did what they should.
pub(crate) const OK: c_int = 0;
/// The status of those that did not.
pub(crate) const ERR: c_int = 1;
/// The version of the interface.
pub(crate) const API_VERSION: c_int = 1;

/// Bits of a context's flags.
pub(crate) mod flags {
    use std::ffi::c_int;
    /// The command comes from the primary or from the append-only file.
    pub(crate) const REPLICATED: c_int = 1 << 12;
    /// The server is reading its data.
    pub(crate) const LOADING: c_int = 1 << 13;
    /// The process is a child, which saves.
    pub(crate) const CHILD: c_int = 1 << 20;
    /// The client speaks RESP3.
    pub(crate) const RESP3: c_int = 1 << 22;
}

/// What a module can do, as bits.
pub(crate) mod options {
    use std::ffi::c_int;
    /// It takes an error while a dump is read.
    pub(crate) const HANDLE_IO_ERRORS: c_int = 1 << 0;
    /// Its data can be read while the old data still serves.
    pub(crate) const HANDLE_ASYNC_LOAD: c_int = 1 << 2;
    /// Its keys can move between nodes slot by slot (Valkey 9).
    pub(crate) const HANDLE_SLOT_MIGRATION: c_int = 1 << 5;
}

/// How a key is opened.
pub(crate) const KEY_READ: c_int = 1;
/// To be written, too.
pub(crate) const KEY_WRITE: c_int = 2;
/// There is no such key.
pub(crate) const KEY_EMPTY: c_int = 0;
/// The value is that of a module.
pub(crate) const KEY_MODULE: c_int = 6;

/// The class of keyspace events that modules send.
pub(crate) const NOTIFY_MODULE: c_int = 1 << 13;

/// A command's function.
pub(crate) type CommandFn = unsafe extern "C" fn(*mut RawCtx, *mut *mut RawString, c_int) -> c_int;
/// The function that fills INFO.
pub(crate) type InfoFn = unsafe extern "C" fn(*mut RawInfo, c_int);

/// The version of [`TypeMethods`].
pub(crate) const METHODS_VERSION: u64 = 4;

/// What the server calls for values of a type; NULL: not there. The names are those of the header.
#[repr(C)]
pub(crate) struct TypeMethods {
    pub(crate) version: u64,
    pub(crate) rdb_load: unsafe extern "C" fn(*mut RawIo, c_int) -> *mut c_void,
    pub(crate) rdb_save: unsafe extern "C" fn(*mut RawIo, *mut c_void),
    pub(crate) aof_rewrite: unsafe extern "C" fn(*mut RawIo, *mut RawString, *mut c_void),
    pub(crate) mem_usage: unsafe extern "C" fn(*const c_void) -> usize,
    pub(crate) digest: unsafe extern "C" fn(*mut RawDigest, *mut c_void),
    pub(crate) free: unsafe extern "C" fn(*mut c_void),
    pub(crate) aux_load: *const c_char,
    pub(crate) aux_save: *const c_char,
    pub(crate) aux_save_triggers: c_int,
    pub(crate) free_effort: unsafe extern "C" fn(*mut RawString, *const c_void) -> usize,
    pub(crate) unlink: *const c_char,
    pub(crate) copy:
        unsafe extern "C" fn(*mut RawString, *mut RawString, *const c_void) -> *mut c_void,
    pub(crate) defrag: *const c_char,
    pub(crate) mem_usage2: *const c_char,
    pub(crate) free_effort2: *const c_char,
    pub(crate) unlink2: *const c_char,
    pub(crate) copy2: *const c_char,
}

/// What RedisModule_SetCommandInfo takes. The server reads lists by the sizes that `version` states, up
/// to an entry of zeros.
#[repr(C)]
pub(crate) struct CommandInfo {
    pub(crate) version: *const CommandInfoVersion,
    pub(crate) summary: *const c_char,
    pub(crate) complexity: *const c_char,
    pub(crate) since: *const c_char,
    pub(crate) history: *mut HistoryEntry,
    pub(crate) tips: *const c_char,
    pub(crate) arity: c_int,
    pub(crate) key_specs: *mut KeySpec,
    pub(crate) args: *mut CommandArg,
}

/// The version of [`CommandInfo`], and the sizes of what it lists.
#[repr(C)]
pub(crate) struct CommandInfoVersion {
    pub(crate) version: c_int,
    pub(crate) sizeof_history_entry: usize,
    pub(crate) sizeof_key_spec: usize,
    pub(crate) sizeof_arg: usize,
}

/// What changed in a version.
#[repr(C)]
pub(crate) struct HistoryEntry {
    since: *const c_char,
    changes: *const c_char,
}

/// An argument.
#[repr(C)]
pub(crate) struct CommandArg {
    pub(crate) name: *const c_char,
    pub(crate) kind: c_int,
    pub(crate) key_spec_index: c_int,
    pub(crate) token: *const c_char,
    pub(crate) summary: *const c_char,
    pub(crate) since: *const c_char,
    pub(crate) flags: c_int,
    pub(crate) deprecated_since: *const c_char,
    pub(crate) subargs: *mut CommandArg,
    /// Redis 7.0 has no such field. Later servers read it whatever the version says.
    pub(crate) display_text: *const c_char,
}

impl CommandArg {
    /// The end of a list.
    pub(crate) const NONE: CommandArg = CommandArg {
        name: null(),
        kind: 0,
        key_spec_index: 0,
        token: null(),
        summary: null(),
        since: null(),
        flags: 0,
        deprecated_since: null(),
        subargs: null_mut(),
        display_text: null(),
    };
}

/// Where keys are, and what becomes of them.
#[repr(C)]
pub(crate) struct KeySpec {
    notes: *const c_char,
    flags: u64,
    begin_search_type: c_int,
    begin_search: BeginSearch,
    find_keys_type: c_int,
    /// Of the last key, step, limit.
    find_keys: [c_int; 3],
}

/// Where the first key is: at an index, or behind a word.
#[repr(C)]
union BeginSearch {
    index: c_int,
    keyword: (*const c_char, c_int),
}

impl KeySpec {
    const UNUSED: BeginSearch = BeginSearch { keyword: (null(), 0) };

    /// The end of a list.
    pub(crate) const NONE: KeySpec = KeySpec {
        notes: null(),
        flags: 0,
        begin_search_type: 0,
        begin_search: KeySpec::UNUSED,
        find_keys_type: 0,
        find_keys: [0; 3],
    };

    /// The keys from `first` on up to `last` after it, or to the end if that is -1.
    pub(crate) fn range(flags: u64, first: c_int, last: c_int) -> KeySpec {
        const INDEX: c_int = 2;
        const RANGE: c_int = 2;
        KeySpec {
            flags,
            begin_search_type: INDEX,
            begin_search: BeginSearch { index: first },
            find_keys_type: RANGE,
            find_keys: [last, 1, 0],
            ..KeySpec::NONE
        }
    }
}

/// What becomes of keys, as bits.
pub(crate) mod key_flags {
    /// They are only read.
    pub(crate) const READ_ONLY: u64 = 1 << 0;
    /// They are changed.
    pub(crate) const READ_WRITE: u64 = 1 << 1;
    /// Data of users is returned or copied.
    pub(crate) const ACCESS: u64 = 1 << 4;
    /// Data of users is changed, maybe by what was there.
    pub(crate) const UPDATE: u64 = 1 << 5;
    /// Data of users is added, and none changed.
    pub(crate) const INSERT: u64 = 1 << 6;
    /// Data of users is removed.
    pub(crate) const DELETE: u64 = 1 << 7;
}

/// What an argument is.
pub(crate) mod arg_type {
    use std::ffi::c_int;
    pub(crate) const STRING: c_int = 0;
    pub(crate) const INTEGER: c_int = 1;
    pub(crate) const DOUBLE: c_int = 2;
    pub(crate) const KEY: c_int = 3;
    pub(crate) const PURE_TOKEN: c_int = 6;
    pub(crate) const ONEOF: c_int = 7;
}

/// How often an argument may be there, as bits.
pub(crate) mod arg_flags {
    use std::ffi::c_int;
    pub(crate) const OPTIONAL: c_int = 1 << 0;
    pub(crate) const MULTIPLE: c_int = 1 << 1;
}
