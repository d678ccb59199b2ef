//! Every kind by serde's traits: as text, by what serde has itself, and in binary formats. Filters in structs
//! and in JSON: `tests/serde.rs`.
#![cfg(all(target_arch = "x86_64", unix))]

use crate::kinds;
use serde::Serialize;
use serde::de::value::{Error, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};
use std::fmt::{self, Debug, Display, Formatter};

/// A value as its text.
struct Text<'a, T>(&'a T);

impl<T: Serialize> Display for Text<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.serialize(f)
    }
}

/// Checks that each format reads back what it wrote: from a slice, and from a stream if it can.
fn assert_returns<T: Serialize + DeserializeOwned + Debug + PartialEq>(value: &T, what: &str) {
    let text = Text(value).to_string();
    let of_text: StrDeserializer<'_, Error> = text[..].into_deserializer();
    assert!(T::deserialize(of_text).unwrap() == *value, "text, {what}");
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes).unwrap();
    assert!(ciborium::from_reader::<T, _>(&bytes[..]).unwrap() == *value, "CBOR, {what}");
    let bytes = postcard::to_allocvec(value).unwrap();
    assert!(postcard::from_bytes::<T>(&bytes).unwrap() == *value, "postcard, {what}");
    let bytes = rmp_serde::to_vec(value).unwrap();
    assert!(rmp_serde::from_slice::<T>(&bytes).unwrap() == *value, "MessagePack, {what}");
    let stream = rmp_serde::from_read::<_, T>(&bytes[..]).unwrap();
    assert!(stream == *value, "MessagePack stream, {what}");
}

#[test]
fn every_kind_returns() {
    macro_rules! each {
        ($($name:ident: $kind:ident, $ranges:ident, $layouts:tt, $make:expr, $change:expr;)*) => {
            $(assert_returns(&kinds::made::$name::make(1), stringify!($name));)*
        };
    }
    kinds::kinds!(each);
}
