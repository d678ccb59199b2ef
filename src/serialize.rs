//! The feature `serde`: filters as the bytes of their encoded form, or as their base64 in formats for
//! people (`docs/FORMAT.md`, as in Go), shapes as their fields.

use crate::shape::{CuckooParams, Params, StaticParams};
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;

/// `$flag` is a boolean of the shape, which `$is` returns, and `$made` what makes it of a shape.
macro_rules! shape {
    ($params:ident, $name:literal, $field:ident $(, $flag:ident $is:ident $made:ident)?) => {
        const _: () = {
            #[derive(Serialize, Deserialize)]
            #[serde(rename = $name)]
            struct Fields {
                line_count: u64,
                $field: u32,
                seed: u64,
                $(#[serde(default)]
                $flag: bool,)?
            }

            /// As its fields, each by the name of its getter without `is_`.
            impl Serialize for $params {
                fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                    let (line_count, $field, seed) =
                        (self.line_count(), self.$field(), self.seed());
                    Fields { line_count, $field, seed $(, $flag: self.$is())? }.serialize(to)
                }
            }

            impl<'de> Deserialize<'de> for $params {
                fn deserialize<D: Deserializer<'de>>(from: D) -> Result<$params, D::Error> {
                    let Fields { line_count, $field, seed $(, $flag)? } = Fields::deserialize(from)?;
                    let shape = $params::new(line_count, $field, seed).map_err(D::Error::custom)?;
                    $(let shape = if $flag { shape.$made() } else { shape };)?
                    Ok(shape)
                }
            }
        };
    };
}

shape!(Params, "Params", k, classic is_classic into_classic);
shape!(CuckooParams, "CuckooParams", fingerprint_bits);
shape!(StaticParams, "StaticParams", rows);

/// Gives a kind of filter both traits: `whole_values!` does so to all.
macro_rules! as_bytes {
    ($kind:ident) => {
        /// As the bytes of its encoded form; in formats that people read, such as JSON, as the
        /// base64 of these.
        impl serde::Serialize for $kind {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                crate::serialize::write(self.to_bytes(), to)
            }
        }

        /// From bytes or a sequence of bytes, or from base64 in formats that people read; all
        /// checked as decoding does.
        impl<'de> serde::Deserialize<'de> for $kind {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<$kind, D::Error> {
                crate::serialize::read($kind::decode, from)
            }
        }
    };
}
pub(crate) use as_bytes;

/// Writes the bytes of a filter.
pub(crate) fn write<S: Serializer>(
    bytes: Result<Vec<u8>, crate::error::Error>,
    to: S,
) -> Result<S::Ok, S::Error> {
    let bytes = bytes.map_err(S::Error::custom)?;
    if to.is_human_readable() {
        to.serialize_str(&to_base64(&bytes))
    } else {
        to.serialize_bytes(&bytes)
    }
}

/// Reads a filter by `decode`.
pub(crate) fn read<'de, D: Deserializer<'de>, T>(
    decode: fn(&[u8]) -> Result<T, crate::error::Error>,
    from: D,
) -> Result<T, D::Error> {
    let bytes = Bytes(decode, PhantomData);
    if from.is_human_readable() {
        from.deserialize_str(bytes)
    } else {
        // Not `deserialize_bytes`: a reader without the whole input may then have room for short bytes
        // only, as CBOR's has.
        from.deserialize_byte_buf(bytes)
    }
}

/// Takes bytes in whatever form a format has them, to be decoded.
struct Bytes<T>(fn(&[u8]) -> Result<T, crate::error::Error>, PhantomData<T>);

impl<'de, T> Visitor<'de> for Bytes<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes of an encoded filter, or their base64")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        self.visit_bytes(&from_base64(text).ok_or_else(|| E::custom("not base64, with padding"))?)
    }

    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<T, E> {
        self.0(bytes).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<T, A::Error> {
        // As many as come, not as many as it says: that may be any number.
        let mut bytes = Vec::new();
        while let Some(byte) = sequence.next_element()? {
            bytes.try_reserve(1).map_err(A::Error::custom)?;
            bytes.push(byte);
        }
        self.visit_bytes(&bytes)
    }
}

// ---- base64: RFC 4648, section 4, with padding ----

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn to_base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for part in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, i| bits << 8 | usize::from(*part.get(i).unwrap_or(&0)));
        for i in 0..4 {
            let digit = DIGITS[bits >> (18 - 6 * i) & 63];
            text.push(if i <= part.len() { digit.into() } else { '=' });
        }
    }
    text
}

/// The bytes; none if it is not base64, or bits that stand for no byte are set.
fn from_base64(text: &str) -> Option<Vec<u8>> {
    let mut values = [None; 256];
    (0u32..).zip(DIGITS).for_each(|(value, digit)| values[usize::from(*digit)] = Some(value));
    let digits = text.trim_end_matches('=');
    if !text.len().is_multiple_of(4) || text.len() - digits.len() > 2 {
        return None;
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(text.len() / 4 * 3).ok()?;
    for part in digits.as_bytes().chunks(4) {
        let mut bits = 0;
        for i in 0..4 {
            bits = bits << 6 | part.get(i).map_or(Some(0), |digit| values[usize::from(*digit)])?;
        }
        let three = bits.to_be_bytes();
        let (whole, none) = three[1..].split_at(part.len() * 6 / 8);
        if none.iter().any(|byte| *byte != 0) {
            return None;
        }
        bytes.extend_from_slice(whole);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_its_definition() {
        // RFC 4648, section 10.
        let pairs = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (bytes, text) in pairs {
            assert_eq!(to_base64(bytes.as_bytes()), text);
            assert_eq!(from_base64(text).unwrap(), bytes.as_bytes());
        }
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(from_base64(&to_base64(&all)).unwrap(), all);
        assert!(to_base64(&all).ends_with("+fr7/P3+/w=="));
        let wrong = [
            "Z",
            "Zg",
            "Zg=",
            "Zg===",
            "Z===",
            "=",
            "====",
            "Zg==Zg==",
            "Zh==",
            "Zm9=",
            "Zm9v=",
            "Zm-_",
            " Zm9v",
            "Zm9v\n",
            "Zm\u{f6}v",
        ];
        for text in wrong {
            assert_eq!(from_base64(text), None, "{text}");
        }
    }
}
