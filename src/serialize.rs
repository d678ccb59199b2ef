//! The feature `serde`: filters as the bytes of their encoded form, shapes as their fields.

use crate::filter::{CountingFilter, CuckooFilter, Filter, ScalableFilter, Window};
use crate::params::{CuckooParams, Params};
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;

macro_rules! shape {
    ($params:ident, $name:literal, $field:ident) => {
        const _: () = {
            #[derive(Serialize, Deserialize)]
            #[serde(rename = $name)]
            struct Fields {
                line_count: u64,
                $field: u32,
                seed: u64,
            }

            /// As its line count, its
            #[doc = stringify!($field)]
            /// and its seed.
            impl Serialize for $params {
                fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                    let (line_count, $field, seed) =
                        (self.line_count(), self.$field(), self.seed());
                    Fields { line_count, $field, seed }.serialize(to)
                }
            }

            impl<'de> Deserialize<'de> for $params {
                fn deserialize<D: Deserializer<'de>>(from: D) -> Result<$params, D::Error> {
                    let Fields { line_count, $field, seed } = Fields::deserialize(from)?;
                    $params::new(line_count, $field, seed).map_err(D::Error::custom)
                }
            }
        };
    };
}

shape!(Params, "Params", k);
shape!(CuckooParams, "CuckooParams", fingerprint_bits);

macro_rules! bytes {
    ($($kind:ident),*) => {$(
        /// As the bytes of its encoded form.
        impl Serialize for $kind {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_bytes(&self.to_bytes().map_err(S::Error::custom)?)
            }
        }

        /// From bytes or a sequence of bytes, all checked as decoding does.
        impl<'de> Deserialize<'de> for $kind {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<$kind, D::Error> {
                from.deserialize_bytes(Bytes($kind::decode, PhantomData))
            }
        }
    )*};
}

bytes!(Filter, CountingFilter, CuckooFilter, ScalableFilter, Window);

/// Takes bytes in whatever form a format has them, to be decoded.
struct Bytes<T>(fn(&[u8]) -> Result<T, crate::error::Error>, PhantomData<T>);

impl<'de, T> Visitor<'de> for Bytes<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes of an encoded filter")
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
