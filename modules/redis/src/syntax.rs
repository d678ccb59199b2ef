//! What a command takes, from the line that `docs/REDIS-COMMANDS.md` has of it.
//!
//! Words in lower case are arguments, the others stand for themselves. `[...]` may be left out; so may
//! `{...}`, which belongs to the names with `BL.` alone. `item [item ...]` is one or more.

use crate::api::{Arg, ArgKind};
use std::ffi::c_int;

/// How many words a command has, its name included; -n: n or more.
pub(crate) const fn arity(syntax: &str) -> c_int {
    let (text, mut i) = (syntax.as_bytes(), 0);
    let (mut words, mut inside, mut open) = (1, false, false);
    while i < text.len() {
        match text[i] {
            b'[' | b'{' => (inside, open) = (true, true),
            b']' | b'}' => inside = false,
            b' ' if !inside && !matches!(text[i + 1], b'[' | b'{') => words += 1,
            _ => {}
        }
        i += 1;
    }
    if open { -words } else { words }
}

/// The name of the command: the first word.
pub(crate) fn name(syntax: &str) -> &str {
    syntax.split_once(' ').map_or(syntax, |(name, _)| name)
}

/// Its arguments; those for the names with `BL.`, too, if it is one of these.
pub(crate) fn args(syntax: &str, own: bool) -> Vec<Arg> {
    let (mut args, mut token) = (Vec::<Arg>::new(), None);
    let mut rest = syntax.strip_prefix(name(syntax)).unwrap_or("").trim_start();
    while !rest.is_empty() {
        let in_brackets =
            rest.strip_prefix(['[', '{']).and_then(|rest| rest.split_once([']', '}']));
        if let Some((inside, after)) = in_brackets {
            if inside.ends_with("...") {
                args.last_mut().expect("what is repeated is before it").multiple = true;
            } else if own || !rest.starts_with('{') {
                args.push(Arg { optional: true, ..option(inside) });
            }
            rest = after.trim_start();
            continue;
        }
        let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
        rest = after.trim_start();
        if is_token(word) {
            token = Some(word.to_owned());
        } else {
            args.push(Arg { token: token.take(), ..Arg::new(word, kind(word)) });
        }
    }
    args
}

/// What is in brackets: a token, one and its value, or one of several.
fn option(text: &str) -> Arg {
    if text.contains('|') {
        let tokens = text.split('|').map(option).collect();
        return Arg::new("field", ArgKind::OneOf(tokens));
    }
    let (token, value) = text.split_once(' ').unwrap_or((text, ""));
    let arg = match value {
        "" => Arg::new(&token.to_ascii_lowercase(), ArgKind::Token),
        value => Arg::new(value, kind(value)),
    };
    Arg { token: Some(token.to_owned()), ..arg }
}

fn is_token(word: &str) -> bool {
    word.starts_with(|letter: char| letter.is_ascii_uppercase())
}

/// What is under a name.
fn kind(name: &str) -> ArgKind {
    match name {
        "key" | "dest" => ArgKind::Key(0),
        "source" => ArgKind::Key(1),
        "item" | "hashes" | "bytes" => ArgKind::Text,
        "rate" | "period" => ArgKind::Real,
        _ => ArgKind::Integer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_must_be_there_are_counted() {
        for (syntax, expected) in [
            ("CARD key", 2),
            ("ADD key item", 3),
            ("MADD key item [item ...]", -3),
            ("INFO key [CAPACITY|SIZE]", -2),
            ("INSERT key [CAPACITY n] {SEED n} ITEMS item [item ...]", -4),
            ("RESERVE key rate capacity {SEED n}", -4),
        ] {
            assert_eq!(arity(syntax), expected, "{syntax}");
        }
    }

    #[test]
    fn arguments_are_in_order_and_own_ones_only_where_they_belong() {
        let syntax = "INSERT key [CAPACITY n] [NOCREATE] {SEED n} ITEMS item [item ...]";
        assert_eq!(name(syntax), "INSERT");
        let shown = |own| {
            let token = |arg: &Arg| arg.token.clone().unwrap_or_default();
            let marks = |arg: &Arg| (token(arg), arg.optional, arg.multiple);
            args(syntax, own).iter().map(|arg| (arg.name.clone(), marks(arg))).collect::<Vec<_>>()
        };
        let expected = [
            ("key", ("", false, false)),
            ("n", ("CAPACITY", true, false)),
            ("nocreate", ("NOCREATE", true, false)),
            ("n", ("SEED", true, false)),
            ("item", ("ITEMS", false, true)),
        ];
        let expected = expected.map(|(name, (token, optional, multiple))| {
            (name.to_owned(), (token.to_owned(), optional, multiple))
        });
        assert_eq!(shown(true), expected);
        assert_eq!(shown(false), [&expected[..3], &expected[4..]].concat());
    }

    #[test]
    fn a_choice_is_one_argument() {
        let args = args("INFO key [CAPACITY|SIZE]", false);
        let ArgKind::OneOf(tokens) = &args[1].kind else { panic!("{:?}", args[1]) };
        assert!(args[1].optional && args[1].token.is_none() && tokens.len() == 2);
        assert_eq!(tokens[1].token.as_deref(), Some("SIZE"));
    }
}
