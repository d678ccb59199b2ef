//! What the server tells clients of a command: COMMAND DOCS, COMMAND INFO, which keys it reads and
//! writes.
#![allow(unsafe_code)]

use super::raw::{CommandArg, CommandInfo, CommandInfoVersion, HistoryEntry, KeySpec, RawCommand};
use super::raw::{OK, arg_flags, arg_type};
use super::table;
use std::ffi::{CString, c_char, c_int};
use std::ptr::{null, null_mut};

/// An argument.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Arg {
    pub(crate) name: String,
    pub(crate) kind: ArgKind,
    /// The word before it, or that it is.
    pub(crate) token: Option<String>,
    pub(crate) optional: bool,
    pub(crate) multiple: bool,
}

/// What an argument is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ArgKind {
    Text,
    Integer,
    Real,
    /// A key, of the keys with this number.
    Key(c_int),
    /// A word that stands for itself.
    Token,
    /// One of these.
    OneOf(Vec<Arg>),
}

impl Arg {
    pub(crate) fn new(name: &str, kind: ArgKind) -> Arg {
        Arg { name: name.to_owned(), kind, token: None, optional: false, multiple: false }
    }
}

/// All that is said of a command.
pub(crate) struct Description<'a> {
    pub(crate) summary: &'a str,
    pub(crate) complexity: &'a str,
    pub(crate) since: &'a str,
    pub(crate) arity: c_int,
    pub(crate) keys: &'a [Keys],
    pub(crate) args: &'a [Arg],
}

/// Keys among the arguments.
#[derive(Clone, Copy)]
pub(crate) struct Keys {
    /// The first one's place.
    pub(crate) first: c_int,
    /// The last one's, counted from the first; -1: all arguments from there on.
    pub(crate) last: c_int,
    /// Bits of [`raw::key_flags`](super::raw::key_flags).
    pub(crate) flags: u64,
}

/// What the server reads lives here until it has copied it.
#[derive(Default)]
struct Arena {
    strings: Vec<CString>,
    args: Vec<Vec<CommandArg>>,
}

impl Arena {
    fn string(&mut self, text: &str) -> *const c_char {
        // A string does not move when its owner does.
        self.strings.push(CString::new(text).expect("no byte is 0"));
        self.strings.last().map_or(null(), |string| string.as_ptr())
    }

    fn args(&mut self, args: &[Arg]) -> *mut CommandArg {
        let mut raw: Vec<CommandArg> = args.iter().map(|arg| self.arg(arg)).collect();
        // The end.
        raw.push(CommandArg::NONE);
        // Nor do the elements of a vector.
        let start = raw.as_mut_ptr();
        self.args.push(raw);
        start
    }

    fn arg(&mut self, arg: &Arg) -> CommandArg {
        let (kind, subargs) = match &arg.kind {
            ArgKind::Text => (arg_type::STRING, null_mut()),
            ArgKind::Integer => (arg_type::INTEGER, null_mut()),
            ArgKind::Real => (arg_type::DOUBLE, null_mut()),
            ArgKind::Key(_) => (arg_type::KEY, null_mut()),
            ArgKind::Token => (arg_type::PURE_TOKEN, null_mut()),
            ArgKind::OneOf(args) => (arg_type::ONEOF, self.args(args)),
        };
        let key_spec_index = if let ArgKind::Key(i) = arg.kind { i } else { -1 };
        let optional = if arg.optional { arg_flags::OPTIONAL } else { 0 };
        let multiple = if arg.multiple { arg_flags::MULTIPLE } else { 0 };
        CommandArg {
            name: self.string(&arg.name),
            kind,
            key_spec_index,
            token: arg.token.as_ref().map_or(null(), |token| self.string(token)),
            flags: optional | multiple,
            subargs,
            ..CommandArg::NONE
        }
    }
}

/// Tells the server of a command. Returns whether it took it; true if it does not take such things.
///
/// # Safety
/// `command` is one that this module has registered, and the server is loading the module.
pub(crate) unsafe fn describe(command: *mut RawCommand, told: &Description<'_>) -> bool {
    let Some(set) = table().set_command_info else { return true };
    let version = CommandInfoVersion {
        version: 1,
        sizeof_history_entry: size_of::<HistoryEntry>(),
        sizeof_key_spec: size_of::<KeySpec>(),
        sizeof_arg: size_of::<CommandArg>(),
    };
    let mut arena = Arena::default();
    let spec = |keys: &Keys| KeySpec::range(keys.flags, keys.first, keys.last);
    let mut keys: Vec<KeySpec> = told.keys.iter().map(spec).collect();
    keys.push(KeySpec::NONE);
    let info = CommandInfo {
        version: &raw const version,
        summary: arena.string(told.summary),
        complexity: arena.string(told.complexity),
        since: arena.string(told.since),
        history: null_mut(),
        tips: null(),
        arity: told.arity,
        key_specs: keys.as_mut_ptr(),
        args: arena.args(told.args),
    };
    // SAFETY: a command of this module; all that `info` points to lives until the end of this
    // function, each list ends with an entry of zeros, and the server copies them.
    unsafe { set(command, &raw const info) == OK }
}
