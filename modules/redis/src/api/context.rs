//! The context of a call: replies, replication, events, the log.
#![allow(unsafe_code)]

use super::raw::{self, RawCtx, RawString};
use super::table;
use std::ffi::{CStr, CString, c_int, c_long, c_longlong};

/// How many bytes there may be.
pub(crate) struct Room {
    /// In one key.
    pub(crate) of_a_key: usize,
    /// More than there are.
    pub(crate) now: usize,
}

/// The context that the server made a call in. It lives as long as the call.
#[derive(Clone, Copy)]
pub(crate) struct Ctx(*mut RawCtx);

impl Ctx {
    /// # Safety
    /// `raw` is the context of this call, and the result does not outlive it.
    pub(crate) unsafe fn new(raw: *mut RawCtx) -> Ctx {
        Ctx(raw)
    }

    pub(crate) fn raw(self) -> *mut RawCtx {
        self.0
    }

    // ---- replies: each is a whole one, or the next element of an array or map ----

    pub(crate) fn integer(self, value: i64) {
        // SAFETY: the context of this call.
        unsafe { (table().reply_integer)(self.0, c_longlong::from(value)) };
    }

    /// A count, which the protocol keeps below 2^63.
    pub(crate) fn count(self, value: u64) {
        self.integer(i64::try_from(value).unwrap_or(i64::MAX));
    }

    /// A boolean in RESP3, 1 or 0 in RESP2.
    #[inline]
    pub(crate) fn boolean(self, value: bool) {
        // SAFETY: as above.
        unsafe { (table().reply_bool)(self.0, value.into()) };
    }

    /// An error, as the text says.
    pub(crate) fn error(self, text: &str) {
        let text = CString::new(text).unwrap_or_else(|_| c"ERR".to_owned());
        // SAFETY: as above; the text is copied.
        unsafe { (table().reply_error)(self.0, text.as_ptr()) };
    }

    pub(crate) fn wrong_arity(self) {
        // SAFETY: as above.
        unsafe { (table().wrong_arity)(self.0) };
    }

    pub(crate) fn ok(self) {
        self.simple(c"OK");
    }

    pub(crate) fn simple(self, text: &CStr) {
        // SAFETY: as above; the text is copied.
        unsafe { (table().reply_simple)(self.0, text.as_ptr()) };
    }

    /// A field's name in a map: a simple string, as RedisBloom's.
    pub(crate) fn label(self, name: &str) {
        self.simple(&CString::new(name).unwrap_or_default());
    }

    pub(crate) fn null(self) {
        // SAFETY: as above.
        unsafe { (table().reply_null)(self.0) };
    }

    pub(crate) fn bytes(self, bytes: &[u8]) {
        // SAFETY: as above; the bytes are copied.
        unsafe { (table().reply_bytes)(self.0, bytes.as_ptr().cast(), bytes.len()) };
    }

    /// The beginning of an array of so many elements.
    pub(crate) fn array(self, len: usize) {
        // SAFETY: as above.
        unsafe { (table().reply_array)(self.0, c_long::try_from(len).unwrap_or(c_long::MAX)) };
    }

    /// The beginning of so many pairs: a map in RESP3, an array of both in RESP2.
    pub(crate) fn map(self, pairs: usize) {
        // SAFETY: as above.
        unsafe { (table().reply_map)(self.0, c_long::try_from(pairs).unwrap_or(c_long::MAX)) };
    }

    /// A map of numbers. `more` pairs follow them.
    pub(crate) fn numbers(self, numbers: &[(&str, u64)], more: usize) {
        self.map(numbers.len() + more);
        for &(name, number) in numbers {
            self.label(name);
            self.count(number);
        }
    }

    /// The beginning of a reply that is one value of a map: a map of it in RESP3, an array without
    /// its name in RESP2.
    pub(crate) fn one_of_a_map(self, name: &str) {
        if self.speaks_resp3() {
            self.map(1);
            self.label(name);
        } else {
            self.array(1);
        }
    }

    /// Whether the client speaks RESP3.
    pub(crate) fn speaks_resp3(self) -> bool {
        self.flags() & raw::flags::RESP3 != 0
    }

    // ---- what else there is ----

    /// Sends a command to replicas and to the append-only file.
    pub(crate) fn replicate(self, command: &CStr, args: &[*mut RawString]) {
        // SAFETY: "v" takes a vector of strings and its length. The strings live: they are
        // arguments of this call, or `replicate_new` holds them.
        unsafe {
            (table().replicate)(self.0, command.as_ptr(), c"v".as_ptr(), args.as_ptr(), args.len());
        }
    }

    /// Replicates the command that the client sent.
    pub(crate) fn replicate_this(self) {
        // SAFETY: the context of this call.
        unsafe { (table().replicate_verbatim)(self.0) };
    }

    /// The same as [`Ctx::replicate`] with arguments that are not strings of the server yet, after one that is.
    pub(crate) fn replicate_new(self, command: &CStr, key: *mut RawString, args: &[&[u8]]) {
        let new = |bytes: &&[u8]| {
            // SAFETY: the context of this call; the bytes are copied.
            unsafe { (table().create_string)(self.0, bytes.as_ptr().cast(), bytes.len()) }
        };
        let mut strings = vec![key];
        strings.extend(args.iter().map(new));
        self.replicate(command, &strings);
        for &string in &strings[1..] {
            // SAFETY: made above; the server has its own reference.
            unsafe { (table().free_string)(self.0, string) };
        }
    }

    /// A keyspace event.
    pub(crate) fn notify(self, event: &CStr, key: *mut RawString) {
        // SAFETY: the context and a key's name of this call.
        unsafe { (table().notify)(self.0, raw::NOTIFY_MODULE, event.as_ptr(), key) };
    }

    /// How much memory `maxmemory` leaves; None if it is not set, or the server does not say.
    pub(crate) fn room(self) -> Option<Room> {
        let table = table();
        let ask = table.server_info?;
        let (number, text, free) =
            (table.server_number?, table.server_text?, table.free_server_info?);
        // SAFETY: the context of this call, a section's name; what is returned is freed once, after
        // it was read.
        unsafe {
            let info = ask(self.0, c"memory".as_ptr());
            if info.is_null() {
                return None;
            }
            // A field that is not there is 0.
            let field = |name: &CStr| {
                let mut error = 0;
                let number = number(info, name.as_ptr(), &raw mut error);
                usize::try_from(number).unwrap_or(usize::MAX)
            };
            let most = field(c"maxmemory");
            let used = field(c"used_memory").saturating_sub(field(c"mem_not_counted_for_evict"));
            let policy = text(info, c"maxmemory_policy".as_ptr());
            // Another policy evicts other keys.
            let keeps = !policy.is_null() && CStr::from_ptr(policy) == c"noeviction";
            free(self.0, info);
            let now = if keeps { most.saturating_sub(used) } else { most };
            (most > 0).then_some(Room { of_a_key: most, now })
        }
    }

    /// Whether the server's allocator is jemalloc, by what it says.
    pub(crate) fn has_jemalloc(self) -> bool {
        let table = table();
        let (Some(ask), Some(text), Some(free)) =
            (table.server_info, table.server_text, table.free_server_info)
        else {
            return false;
        };
        // SAFETY: as in `room`.
        unsafe {
            let info = ask(self.0, c"memory".as_ptr());
            if info.is_null() {
                return false;
            }
            let name = text(info, c"mem_allocator".as_ptr());
            let found = !name.is_null() && CStr::from_ptr(name).to_bytes().starts_with(b"jemalloc");
            free(self.0, info);
            found
        }
    }

    fn flags(self) -> c_int {
        // SAFETY: the context of this call.
        unsafe { (table().flags)(self.0) }
    }

    /// Whether a primary or the append-only file sent the command: then no limit and no clock of
    /// this server counts.
    pub(crate) fn is_replicated(self) -> bool {
        self.flags() & (raw::flags::REPLICATED | raw::flags::LOADING) != 0
    }

    /// Whether this server decides: the command comes from a client. On a replica that can be written
    /// to, too: what its clients add, no primary tells it.
    pub(crate) fn decides(self) -> bool {
        !self.is_replicated()
    }

    pub(crate) fn log(self, level: &CStr, text: &str) {
        let text = CString::new(text).unwrap_or_default();
        // SAFETY: the format takes one string.
        unsafe { (table().log)(self.0, level.as_ptr(), c"%s".as_ptr(), text.as_ptr()) };
    }
}

/// The server's clock: milliseconds since 1970.
pub(crate) fn now() -> u64 {
    // SAFETY: it only reads the clock.
    let now = unsafe { (table().milliseconds)() };
    u64::try_from(now).unwrap_or(0)
}
