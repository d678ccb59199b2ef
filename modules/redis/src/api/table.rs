//! The functions of the server, looked up by name when the module is loaded. So the module needs no
//! header of a server, and loads on any that has the functions it cannot do without.
#![allow(unsafe_code)]

use super::raw::*;
use std::ffi::{CStr, c_char, c_int, c_long, c_longlong, c_void};
use std::sync::OnceLock;

type GetApi = unsafe extern "C" fn(*const c_char, *mut c_void) -> c_int;

static TABLE: OnceLock<Table> = OnceLock::new();

/// The functions.
///
/// # Panics
/// Before the server has loaded the module.
#[inline]
pub(crate) fn table() -> &'static Table {
    TABLE.get().expect("the server has loaded the module")
}

/// Looks all functions up.
///
/// # Errors
/// The name of one that the server lacks.
///
/// # Safety
/// `ctx` is what the server gives to `RedisModule_OnLoad`.
pub(crate) unsafe fn fill(ctx: *mut RawCtx) -> Result<(), &'static CStr> {
    // SAFETY: the first field of a context is the function that looks the others up: so
    // the header of the server reads it.
    let get_api = unsafe { *ctx.cast::<Option<GetApi>>() }.ok_or(c"RedisModule_GetApi")?;
    // SAFETY: just read from the server.
    let table = unsafe { Table::look_up(get_api) }?;
    let _ = TABLE.set(table);
    Ok(())
}

/// Looks one function up.
///
/// # Safety
/// `get_api` is the server's, and `F` a pointer to a function of the type that `name` has there.
unsafe fn look_up<F: Copy>(get_api: GetApi, name: &'static CStr) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    let mut found: *mut c_void = std::ptr::null_mut();
    // SAFETY: the function writes a pointer to where the second argument points.
    let status = unsafe { get_api(name.as_ptr(), (&raw mut found).cast()) };
    if status != OK || found.is_null() {
        return None;
    }
    // SAFETY: a function of that type, by the contract, and not NULL.
    Some(unsafe { std::mem::transmute_copy(&found) })
}

macro_rules! table {
    (
        needed { $($field:ident = $name:literal : $type:ty;)+ }
        optional { $($may:ident = $may_name:literal : $may_type:ty;)+ }
    ) => {
        /// A field for each function, of the type that it has in the server's header.
        // Tests run without a server's allocator.
        #[cfg_attr(test, allow(dead_code))]
        pub(crate) struct Table {
            $(pub(crate) $field: $type,)+
            $(pub(crate) $may: Option<$may_type>,)+
        }

        impl Table {
            /// # Safety
            /// `get_api` is the server's.
            unsafe fn look_up(get_api: GetApi) -> Result<Table, &'static CStr> {
                Ok(Table {
                    // SAFETY: the types are those of the server's header.
                    $($field: unsafe { look_up(get_api, $name) }.ok_or($name)?,)+
                    // SAFETY: as above.
                    $($may: unsafe { look_up(get_api, $may_name) },)+
                })
            }
        }
    };
}

type Ctx = *mut RawCtx;
type Str = *mut RawString;
type Io = *mut RawIo;

table! {
    needed {
        is_name_busy = c"RedisModule_IsModuleNameBusy": unsafe extern "C" fn(*const c_char) -> c_int;
        set_attributes = c"RedisModule_SetModuleAttribs":
            unsafe extern "C" fn(Ctx, *const c_char, c_int, c_int);
        set_options = c"RedisModule_SetModuleOptions": unsafe extern "C" fn(Ctx, c_int);
        create_command = c"RedisModule_CreateCommand": unsafe extern "C" fn(
            Ctx, *const c_char, CommandFn, *const c_char, c_int, c_int, c_int) -> c_int;
        create_type = c"RedisModule_CreateDataType": unsafe extern "C" fn(
            Ctx, *const c_char, c_int, *mut TypeMethods) -> *mut RawType;
        flags = c"RedisModule_GetContextFlags": unsafe extern "C" fn(Ctx) -> c_int;
        log = c"RedisModule_Log":
            unsafe extern "C" fn(Ctx, *const c_char, *const c_char, ...);
        milliseconds = c"RedisModule_Milliseconds": unsafe extern "C" fn() -> c_longlong;
        notify = c"RedisModule_NotifyKeyspaceEvent":
            unsafe extern "C" fn(Ctx, c_int, *const c_char, Str) -> c_int;
        replicate = c"RedisModule_Replicate":
            unsafe extern "C" fn(Ctx, *const c_char, *const c_char, ...) -> c_int;
        replicate_verbatim = c"RedisModule_ReplicateVerbatim": unsafe extern "C" fn(Ctx) -> c_int;

        wrong_arity = c"RedisModule_WrongArity": unsafe extern "C" fn(Ctx) -> c_int;
        reply_integer = c"RedisModule_ReplyWithLongLong":
            unsafe extern "C" fn(Ctx, c_longlong) -> c_int;
        reply_bool = c"RedisModule_ReplyWithBool": unsafe extern "C" fn(Ctx, c_int) -> c_int;
        reply_error = c"RedisModule_ReplyWithError":
            unsafe extern "C" fn(Ctx, *const c_char) -> c_int;
        reply_simple = c"RedisModule_ReplyWithSimpleString":
            unsafe extern "C" fn(Ctx, *const c_char) -> c_int;
        reply_array = c"RedisModule_ReplyWithArray": unsafe extern "C" fn(Ctx, c_long) -> c_int;
        reply_map = c"RedisModule_ReplyWithMap": unsafe extern "C" fn(Ctx, c_long) -> c_int;
        reply_null = c"RedisModule_ReplyWithNull": unsafe extern "C" fn(Ctx) -> c_int;
        reply_bytes = c"RedisModule_ReplyWithStringBuffer":
            unsafe extern "C" fn(Ctx, *const c_char, usize) -> c_int;

        open_key = c"RedisModule_OpenKey": unsafe extern "C" fn(Ctx, Str, c_int) -> *mut RawKey;
        close_key = c"RedisModule_CloseKey": unsafe extern "C" fn(*mut RawKey);
        delete_key = c"RedisModule_DeleteKey": unsafe extern "C" fn(*mut RawKey) -> c_int;
        key_type = c"RedisModule_KeyType": unsafe extern "C" fn(*mut RawKey) -> c_int;
        get_type = c"RedisModule_ModuleTypeGetType":
            unsafe extern "C" fn(*mut RawKey) -> *mut RawType;
        get_value = c"RedisModule_ModuleTypeGetValue":
            unsafe extern "C" fn(*mut RawKey) -> *mut c_void;
        set_value = c"RedisModule_ModuleTypeSetValue":
            unsafe extern "C" fn(*mut RawKey, *mut RawType, *mut c_void) -> c_int;

        create_string = c"RedisModule_CreateString":
            unsafe extern "C" fn(Ctx, *const c_char, usize) -> Str;
        free_string = c"RedisModule_FreeString": unsafe extern "C" fn(Ctx, Str);
        string_bytes = c"RedisModule_StringPtrLen":
            unsafe extern "C" fn(*const RawString, *mut usize) -> *const c_char;

        save_unsigned = c"RedisModule_SaveUnsigned": unsafe extern "C" fn(Io, u64);
        load_unsigned = c"RedisModule_LoadUnsigned": unsafe extern "C" fn(Io) -> u64;
        save_bytes = c"RedisModule_SaveStringBuffer":
            unsafe extern "C" fn(Io, *const c_char, usize);
        load_bytes = c"RedisModule_LoadStringBuffer":
            unsafe extern "C" fn(Io, *mut usize) -> *mut c_char;
        io_failed = c"RedisModule_IsIOError": unsafe extern "C" fn(Io) -> c_int;
        log_io = c"RedisModule_LogIOError":
            unsafe extern "C" fn(Io, *const c_char, *const c_char, ...);
        emit_aof = c"RedisModule_EmitAOF":
            unsafe extern "C" fn(Io, *const c_char, *const c_char, ...);
        digest_bytes = c"RedisModule_DigestAddStringBuffer":
            unsafe extern "C" fn(*mut RawDigest, *const c_char, usize);
        digest_end = c"RedisModule_DigestEndSequence": unsafe extern "C" fn(*mut RawDigest);

        register_info = c"RedisModule_RegisterInfoFunc":
            unsafe extern "C" fn(Ctx, InfoFn) -> c_int;
        info_section = c"RedisModule_InfoAddSection":
            unsafe extern "C" fn(*mut RawInfo, *const c_char) -> c_int;
        info_number = c"RedisModule_InfoAddFieldULongLong":
            unsafe extern "C" fn(*mut RawInfo, *const c_char, u64) -> c_int;

        alloc = c"RedisModule_Alloc": unsafe extern "C" fn(usize) -> *mut c_void;
        calloc = c"RedisModule_Calloc": unsafe extern "C" fn(usize, usize) -> *mut c_void;
        realloc = c"RedisModule_Realloc":
            unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void;
        free = c"RedisModule_Free": unsafe extern "C" fn(*mut c_void);
    }
    optional {
        try_alloc = c"RedisModule_TryAlloc": unsafe extern "C" fn(usize) -> *mut c_void;
        try_calloc = c"RedisModule_TryCalloc": unsafe extern "C" fn(usize, usize) -> *mut c_void;
        try_realloc = c"RedisModule_TryRealloc":
            unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void;
        malloc_size = c"RedisModule_MallocSize": unsafe extern "C" fn(*mut c_void) -> usize;
        server_info = c"RedisModule_GetServerInfo":
            unsafe extern "C" fn(Ctx, *const c_char) -> *mut RawServerInfo;
        free_server_info = c"RedisModule_FreeServerInfo":
            unsafe extern "C" fn(Ctx, *mut RawServerInfo);
        server_number = c"RedisModule_ServerInfoGetFieldUnsigned":
            unsafe extern "C" fn(*mut RawServerInfo, *const c_char, *mut c_int) -> u64;
        server_text = c"RedisModule_ServerInfoGetFieldC":
            unsafe extern "C" fn(*mut RawServerInfo, *const c_char) -> *const c_char;
        add_acl_category = c"RedisModule_AddACLCategory":
            unsafe extern "C" fn(Ctx, *const c_char) -> c_int;
        get_command = c"RedisModule_GetCommand":
            unsafe extern "C" fn(Ctx, *const c_char) -> *mut RawCommand;
        set_command_info = c"RedisModule_SetCommandInfo":
            unsafe extern "C" fn(*mut RawCommand, *const CommandInfo) -> c_int;
        set_acl_categories = c"RedisModule_SetCommandACLCategories":
            unsafe extern "C" fn(*mut RawCommand, *const c_char) -> c_int;
    }
}
