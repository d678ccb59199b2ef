//! The types of the server's interface, as its header declares them.

use std::ffi::{c_char, c_int, c_void};

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
    /// The server is a primary.
    pub(crate) const PRIMARY: c_int = 1 << 2;
    /// The command comes from the primary or from the append-only file.
    pub(crate) const REPLICATED: c_int = 1 << 12;
    /// The server is reading its data.
    pub(crate) const LOADING: c_int = 1 << 13;
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
