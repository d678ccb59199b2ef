//! Keys: opened for a call, closed with it.
#![allow(unsafe_code)]

use super::raw::{self, RawKey, RawString, RawType};
use super::{Ctx, table};
use crate::object::Object;
use std::marker::PhantomData;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The type of this module's values.
static TYPE: AtomicPtr<RawType> = AtomicPtr::new(null_mut());

/// Says what type the server has registered for this module.
pub(crate) fn set_type(registered: *mut RawType) {
    TYPE.store(registered, Ordering::Release);
}

/// An open key.
pub(crate) struct Key<'a> {
    key: *mut RawKey,
    call: PhantomData<&'a ()>,
}

/// What a key holds.
pub(crate) enum Found<T> {
    /// There is no such key.
    Absent,
    /// A value that is not of this module.
    Foreign,
    /// A value of this module.
    Ours(T),
}

impl Key<'_> {
    /// Opens a key that a command declares as its own. Each command opens a key once.
    pub(crate) fn open(ctx: Ctx, name: *mut RawString, write: bool) -> Self {
        let mode = if write { raw::KEY_READ | raw::KEY_WRITE } else { raw::KEY_READ };
        // SAFETY: the context and an argument of this call.
        let key = unsafe { (table().open_key)(ctx.raw(), name, mode) };
        Key { key, call: PhantomData }
    }

    fn pointer(&self) -> Found<*mut Object> {
        // SAFETY: an open key, or NULL, which is an absent one.
        let kind = unsafe { (table().key_type)(self.key) };
        if kind == raw::KEY_EMPTY {
            return Found::Absent;
        }
        // SAFETY: an open key.
        let found = unsafe { (table().get_type)(self.key) };
        if kind != raw::KEY_MODULE || found != TYPE.load(Ordering::Acquire) {
            return Found::Foreign;
        }
        // SAFETY: an open key of a module's type.
        Found::Ours(unsafe { (table().get_value)(self.key) }.cast())
    }

    /// What it holds.
    pub(crate) fn get(&self) -> Found<&Object> {
        match self.pointer() {
            Found::Absent => Found::Absent,
            Found::Foreign => Found::Foreign,
            // SAFETY: a value of this type is an `Object` that `set` or `rdb_load` gave away. It
            // lives until the key is changed, for which self is borrowed exclusively.
            Found::Ours(object) => Found::Ours(unsafe { &*object }),
        }
    }

    /// What it holds, to change it.
    pub(crate) fn get_mut(&mut self) -> Found<&mut Object> {
        match self.pointer() {
            Found::Absent => Found::Absent,
            Found::Foreign => Found::Foreign,
            // SAFETY: as above. The server runs one command at a time, and a command opens a key
            // once, so nobody else reaches the value.
            Found::Ours(object) => Found::Ours(unsafe { &mut *object }),
        }
    }

    /// Makes this the key's value; the old one is freed. The key is open for writing.
    pub(crate) fn set(&mut self, object: Object) {
        let object = Box::into_raw(Box::new(object));
        let kind = TYPE.load(Ordering::Acquire);
        // SAFETY: an open key, the type of this module, and a value of that type.
        let status = unsafe { (table().set_value)(self.key, kind, object.cast()) };
        if status != raw::OK {
            // SAFETY: the server did not take it.
            drop(unsafe { Box::from_raw(object) });
            panic!("the key is open for writing");
        }
    }

    /// Removes the key, which is open for writing.
    pub(crate) fn delete(&mut self) {
        // SAFETY: an open key.
        unsafe { (table().delete_key)(self.key) };
    }
}

impl Drop for Key<'_> {
    fn drop(&mut self) {
        // SAFETY: opened by `open`, closed only here; NULL is allowed.
        unsafe { (table().close_key)(self.key) };
    }
}
