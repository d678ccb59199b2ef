//! The type `bloomline`: what the server calls for values of it. Nothing unwinds into the server.
#![allow(unsafe_code)]

use crate::api::raw::{METHODS_VERSION, RawCtx, RawDigest, RawIo, RawString, TypeMethods};
use crate::api::{Aof, Reader, Writer, end_child, table};
use crate::arrived::Arrived;
use crate::image::{self, Header};
use crate::key::set_type;
use crate::object::{Object, Value};
use bloomline::Error;
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{null, null_mut};

/// The version of a dump. Older ones stay readable.
const ENCODING: c_int = 1;

/// Registers the type. Returns whether the server took it.
///
/// # Safety
/// `ctx` is what the server gives to `RedisModule_OnLoad`.
pub(crate) unsafe fn register(ctx: *mut RawCtx) -> bool {
    let mut methods = TypeMethods {
        version: METHODS_VERSION,
        rdb_load,
        rdb_save,
        aof_rewrite,
        mem_usage,
        digest,
        free,
        aux_load: null(),
        aux_save: null(),
        aux_save_triggers: 0,
        free_effort,
        unlink: null(),
        copy,
        defrag: null(),
        mem_usage2: null(),
        free_effort2: null(),
        unlink2: null(),
        copy2: null(),
    };
    // SAFETY: the context of the call; the methods are copied.
    let registered =
        unsafe { (table().create_type)(ctx, c"bloomline".as_ptr(), ENCODING, &raw mut methods) };
    set_type(registered);
    !registered.is_null()
}

/// What `work` returns; `otherwise` if it panics.
fn caught<T>(otherwise: T, work: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(otherwise)
}

/// The object of a value.
///
/// # Safety
/// `value` is one of this type, and nobody changes it during the call.
unsafe fn object<'a>(value: *const c_void) -> &'a Object {
    // SAFETY: values of this type are objects, by the contract.
    unsafe { &*value.cast::<Object>() }
}

unsafe extern "C" fn rdb_save(io: *mut RawIo, value: *mut c_void) {
    // SAFETY: the server gives a dump and a value of this type.
    let (mut writer, object) = unsafe { (Writer::new(io), object(value)) };
    let is_written = caught(false, || {
        let result = object.value.image().and_then(|(header, files)| {
            writer.bytes(&header.to_bytes());
            image::in_chunks(&files, &mut |chunk: &[u8]| writer.bytes(chunk))
        });
        result.is_ok()
    });
    if is_written {
        writer.number(1);
    } else {
        end_child();
        writer.fail();
    }
}

unsafe extern "C" fn rdb_load(io: *mut RawIo, encoding: c_int) -> *mut c_void {
    // SAFETY: the server gives a dump.
    let mut reader = unsafe { Reader::new(io) };
    caught(null_mut(), || {
        if encoding > ENCODING {
            reader.log("a filter was saved by a later version of the module");
            return null_mut();
        }
        match load(&mut reader) {
            Ok(value) => Box::into_raw(Box::new(Object::new(value))).cast(),
            Err(error) => {
                reader.log(&format!("a filter in the dump cannot be read: {error}"));
                null_mut()
            }
        }
    })
}

/// A value from a dump, which anybody may have made: only what has arrived is allocated.
fn load(reader: &mut Reader) -> Result<Value, Error> {
    let cut = |given| Error::Truncated { needed: 0, given };
    let header = Header::parse(&reader.bytes().ok_or(cut(0))?)?;
    let mut body = Arrived::default();
    while body.len() < header.body {
        let chunk = reader.bytes().ok_or(cut(body.len()))?;
        let arrived = body.len().saturating_add(chunk.len() as u64);
        if chunk.is_empty() || arrived > header.body {
            return Err(Error::Truncated { needed: header.body, given: arrived });
        }
        body.push(&chunk, header.body)?;
    }
    if reader.number() != Some(1) {
        return Err(cut(header.body));
    }
    Value::from_image(&header, &mut body)
}

unsafe extern "C" fn aof_rewrite(io: *mut RawIo, key: *mut RawString, value: *mut c_void) {
    // SAFETY: the server gives the file, a key and its value, of this type.
    let (mut aof, object) = unsafe { (Aof::new(io, key), object(value)) };
    caught((), || {
        if let Value::Loading(loading) = &object.value {
            return loading.rewrite(&mut aof);
        }
        let result = object.value.image().and_then(|(header, files)| {
            aof.emit(c"BL.LOADCHUNK", 1, &header.to_bytes());
            let mut iterator = 1;
            image::in_chunks(&files, &mut |chunk: &[u8]| {
                iterator += chunk.len() as u64;
                aof.emit(c"BL.LOADCHUNK", iterator, chunk);
            })
        });
        if result.is_err() {
            end_child();
        }
    });
}

unsafe extern "C" fn mem_usage(value: *const c_void) -> usize {
    // SAFETY: a value of this type.
    let object = unsafe { object(value) };
    caught(0, || object.memory())
}

unsafe extern "C" fn digest(digest: *mut RawDigest, value: *mut c_void) {
    // SAFETY: a value of this type.
    let object = unsafe { object(value) };
    caught((), || {
        let add = |bytes: &[u8]| {
            // SAFETY: the digest of this call; the bytes are read.
            unsafe { (table().digest_bytes)(digest, bytes.as_ptr().cast(), bytes.len()) };
        };
        let _ = object.value.image().and_then(|(header, files)| {
            add(&header.to_bytes());
            image::in_chunks(&files, &mut |chunk: &[u8]| add(chunk))
        });
        // SAFETY: the digest of this call.
        unsafe { (table().digest_end)(digest) };
    });
}

unsafe extern "C" fn free(value: *mut c_void) {
    // SAFETY: the server gives a value of this type back, and no longer has it.
    let object = unsafe { Box::from_raw(value.cast::<Object>()) };
    caught((), || drop(object));
}

unsafe extern "C" fn free_effort(_: *mut RawString, value: *const c_void) -> usize {
    // SAFETY: a value of this type.
    let object = unsafe { object(value) };
    caught(1, || object.free_effort())
}

unsafe extern "C" fn copy(
    _: *mut RawString,
    _: *mut RawString,
    value: *const c_void,
) -> *mut c_void {
    // SAFETY: a value of this type.
    let object = unsafe { object(value) };
    caught(null_mut(), || match object.try_clone() {
        Ok(copy) => Box::into_raw(Box::new(copy)).cast(),
        Err(_) => null_mut(),
    })
}
