//! Keys: opened for a call, closed with it; and what a command finds in one.
#![allow(unsafe_code)]

use crate::api::raw::{self, RawKey, RawString, RawType};
use crate::api::{Args, Ctx, table};
use crate::command::{Fail, Outcome, fail};
use crate::image::Kind;
use crate::object::{Object, Value};
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

/// The answer of every command to a key that has not fully arrived.
pub(crate) fn still_loading<T>() -> Result<T, Fail> {
    fail("ERR the filter is still being loaded")
}

/// The filter of a key, whose absence is an error.
pub(crate) fn value_of<'k>(key: &'k Key<'_>) -> Result<&'k Value, Fail> {
    match key.get() {
        Found::Absent => Err(Fail::Text("ERR not found".into())),
        Found::Foreign => Err(Fail::WrongType),
        Found::Ours(Object { value: Value::Loading(_), .. }) => still_loading(),
        Found::Ours(object) => Ok(&object.value),
    }
}

/// What adding to a static filter returns.
pub(crate) fn read_only<T>() -> Result<T, Fail> {
    fail("ERR a static filter is read-only: build another and import it")
}

/// What a command finds of its own kind in a key; None if there is no such key. `of_kind` picks it.
pub(crate) fn find<'k, T>(
    key: &'k Key<'_>,
    of_kind: impl FnOnce(&'k Value) -> Option<T>,
) -> Result<Option<T>, Fail> {
    match key.get() {
        Found::Absent => Ok(None),
        Found::Foreign => Err(Fail::WrongType),
        Found::Ours(Object { value: Value::Loading(_), .. }) => still_loading(),
        Found::Ours(object) => of_kind(&object.value).map(Some).ok_or(Fail::WrongType),
    }
}

/// Whether a filter of this kind can be made in a key: there must be none.
pub(crate) fn must_be_absent(key: &Key<'_>, kind: Kind) -> Outcome {
    match key.get() {
        Found::Absent => Ok(()),
        Found::Ours(object)
            if [kind, Kind::Static, Kind::Loading].contains(&object.value.kind()) =>
        {
            fail("ERR item exists")
        }
        Found::Ours(_) | Found::Foreign => Err(Fail::WrongType),
    }
}

/// What EXISTS and COUNT make of a key that holds no filter at all: an error, but by the names that
/// RedisBloom has, none, for no item is in it. A filter of another kind is an error by every name: it
/// may have the item.
pub(crate) fn or_nothing<T>(
    args: Args<'_>,
    key: &Key<'_>,
    found: Result<Option<T>, Fail>,
) -> Result<Option<T>, Fail> {
    match found {
        Err(Fail::WrongType) if !args.is_own() && matches!(key.get(), Found::Foreign) => Ok(None),
        found => found,
    }
}
