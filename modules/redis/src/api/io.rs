//! Dumps: RDB, also of DUMP and of full resynchronisation, and the rewriting of the append-only
//! file.
#![allow(unsafe_code)]

use super::raw::{RawIo, RawString, flags};
use super::table;
use std::ffi::{CStr, CString, c_int, c_longlong};
use std::ptr::null_mut;

/// A dump that is written.
pub(crate) struct Writer(*mut RawIo);

impl Writer {
    /// # Safety
    /// `io` is what the server gave to this call of `rdb_save`.
    pub(crate) unsafe fn new(io: *mut RawIo) -> Writer {
        Writer(io)
    }

    pub(crate) fn number(&mut self, number: u64) {
        // SAFETY: the dump of this call.
        unsafe { (table().save_unsigned)(self.0, number) };
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        // SAFETY: as above; the bytes are copied.
        unsafe { (table().save_bytes)(self.0, bytes.as_ptr().cast(), bytes.len()) };
    }

    /// Makes saving fail: the server then keeps the file that it has. A module has no call for that. But
    /// it may read from a dump, and where that fails, as in one that is written, the server marks the dump
    /// as failed and asks the same mark when it has saved the value.
    pub(crate) fn fail(&mut self) {
        let text = c"a filter cannot be saved: there is no memory for a copy of it";
        // SAFETY: the dump of this call, of which nothing is read; the format takes one string.
        let failed = unsafe {
            let table = table();
            (table.log_io)(self.0, c"warning".as_ptr(), c"%s".as_ptr(), text.as_ptr());
            (table.load_unsigned)(self.0);
            (table.io_failed)(self.0) != 0
        };
        if !failed {
            // A dump that says so of itself.
            self.number(0);
        }
    }
}

/// A dump that is read.
pub(crate) struct Reader(*mut RawIo);

/// Bytes that the server has allocated.
pub(crate) struct Chunk(*mut u8, usize);

impl Reader {
    /// # Safety
    /// `io` is what the server gave to this call of `rdb_load`.
    pub(crate) unsafe fn new(io: *mut RawIo) -> Reader {
        Reader(io)
    }

    /// The next number; None if the dump has none.
    pub(crate) fn number(&mut self) -> Option<u64> {
        // SAFETY: the dump of this call.
        let number = unsafe { (table().load_unsigned)(self.0) };
        (!self.failed()).then_some(number)
    }

    /// The next bytes; None if the dump has none.
    pub(crate) fn bytes(&mut self) -> Option<Chunk> {
        let mut len = 0;
        // SAFETY: the dump of this call.
        let bytes = unsafe { (table().load_bytes)(self.0, &raw mut len) };
        if bytes.is_null() {
            return None;
        }
        let chunk = Chunk(bytes.cast(), len);
        (!self.failed()).then_some(chunk)
    }

    fn failed(&self) -> bool {
        // SAFETY: the dump of this call.
        unsafe { (table().io_failed)(self.0) != 0 }
    }

    pub(crate) fn log(&self, text: &str) {
        let text = CString::new(text).unwrap_or_default();
        // SAFETY: the format takes one string.
        unsafe { (table().log_io)(self.0, c"warning".as_ptr(), c"%s".as_ptr(), text.as_ptr()) };
    }
}

impl std::ops::Deref for Chunk {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the server gave so many bytes, which are this one's.
        unsafe { std::slice::from_raw_parts(self.0, self.1) }
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        // SAFETY: the server allocated it for the module to free.
        unsafe { (table().free)(self.0.cast()) };
    }
}

/// The append-only file, as it is rewritten.
pub(crate) struct Aof {
    io: *mut RawIo,
    key: *mut RawString,
}

impl Aof {
    /// # Safety
    /// Both are what the server gave to this call of `aof_rewrite`.
    pub(crate) unsafe fn new(io: *mut RawIo, key: *mut RawString) -> Aof {
        Aof { io, key }
    }

    /// A command with the key, a number, and bytes.
    pub(crate) fn emit(&mut self, command: &CStr, number: u64, bytes: &[u8]) {
        let number = c_longlong::try_from(number).unwrap_or(c_longlong::MAX);
        // SAFETY: "slb" takes a string, a number, and bytes with their length.
        unsafe {
            (table().emit_aof)(
                self.io,
                command.as_ptr(),
                c"slb".as_ptr(),
                self.key,
                number,
                bytes.as_ptr(),
                bytes.len(),
            );
        }
    }

    /// A chunk of a file: offset, length of the file, bytes; and its capacity, if it has one.
    pub(crate) fn emit_import(
        &mut self,
        [offset, total]: [u64; 2],
        bytes: &[u8],
        capacity: u64,
        layout: Option<&str>,
    ) {
        let number = |n: u64| c_longlong::try_from(n).unwrap_or(c_longlong::MAX);
        let (command, (start, len)) = (c"BL.IMPORT", (bytes.as_ptr(), bytes.len()));
        let layout = layout.map(|layout| CString::new(layout).unwrap_or_default());
        // SAFETY: "sllb" takes a string, two numbers, and bytes with their length; "cl" a C string
        // and a number; "cc" two C strings.
        unsafe {
            let (emit, io) = (table().emit_aof, self.io);
            let (offset, total) = (number(offset), number(total));
            let (word, named) = (c"CAPACITY".as_ptr(), c"LAYOUT".as_ptr());
            if let Some(layout) = layout {
                let (format, layout) = (c"sllbclcc".as_ptr(), layout.as_ptr());
                let (capacity, name) = (number(capacity), command.as_ptr());
                let key = self.key;
                emit(
                    io, name, format, key, offset, total, start, len, word, capacity, named, layout,
                );
            } else if capacity == 0 {
                emit(io, command.as_ptr(), c"sllb".as_ptr(), self.key, offset, total, start, len);
            } else {
                let format = c"sllbcl".as_ptr();
                let capacity = number(capacity);
                let name = command.as_ptr();
                emit(io, name, format, self.key, offset, total, start, len, word, capacity);
            }
        }
    }
}

unsafe extern "C" {
    fn _exit(status: c_int) -> !;
}

/// Ends the process at once.
pub(crate) fn end() -> ! {
    // SAFETY: as the server ends its children.
    unsafe { _exit(1) }
}

/// Ends the process, if it is a child that saves: then saving has failed, and the server keeps the file
/// that it has. A file that lacks a filter could not be loaded, or would deny its items.
pub(crate) fn end_child() {
    // SAFETY: the server takes NULL for no context.
    if unsafe { (table().flags)(null_mut()) } & flags::CHILD != 0 {
        end();
    }
}
