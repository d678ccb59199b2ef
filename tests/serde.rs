//! Filters inside structs that derive serde's traits, in a text format and in binary ones. Every kind alone:
//! `all/serialized.rs`.
#![cfg(all(target_arch = "x86_64", unix))]

use bloomline::{
    ConcurrentFilter, CountingFilter, CuckooFilter, CuckooParams, Error, Filter, Params,
    ScalableFilter, StaticParams, hash,
};
use ciborium::Value;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::fmt::Debug;

fn cbor(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes).unwrap();
    bytes
}

/// Checks that each format reads back what it wrote: from a slice, and from a stream if it can.
fn assert_returns<T: Serialize + DeserializeOwned + Debug + PartialEq>(value: &T, what: &str) {
    let text = serde_json::to_vec(value).unwrap();
    assert!(serde_json::from_slice::<T>(&text).unwrap() == *value, "JSON, {what}");
    assert!(serde_json::from_reader::<_, T>(&text[..]).unwrap() == *value, "JSON stream, {what}");
    let bytes = cbor(value);
    assert!(ciborium::from_reader::<T, _>(&bytes[..]).unwrap() == *value, "CBOR, {what}");
    let bytes = postcard::to_allocvec(value).unwrap();
    assert!(postcard::from_bytes::<T>(&bytes).unwrap() == *value, "postcard, {what}");
    let bytes = rmp_serde::to_vec(value).unwrap();
    assert!(rmp_serde::from_slice::<T>(&bytes).unwrap() == *value, "MessagePack, {what}");
    let stream = rmp_serde::from_read::<_, T>(&bytes[..]).unwrap();
    assert!(stream == *value, "MessagePack stream, {what}");
}

/// As docs/FORMAT.md has it of text.
fn base64(bytes: &[u8]) -> String {
    let digits: Vec<char> =
        ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(['+', '/']).collect();
    let bits: String = bytes.iter().map(|byte| format!("{byte:08b}")).collect();
    let mut text: String = bits
        .as_bytes()
        .chunks(6)
        .map(|six| format!("{:0<6}", str::from_utf8(six).unwrap()))
        .map(|six| digits[usize::from_str_radix(&six, 2).unwrap()])
        .collect();
    while !text.len().is_multiple_of(4) {
        text.push('=');
    }
    text
}

/// Filters in fields, with keys.
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq)]
struct Table {
    name: String,
    plain: Filter,
    shared: ConcurrentFilter,
    counting: CountingFilter,
    cuckoo: Option<CuckooFilter>,
    scalable: Vec<ScalableFilter>,
    params: (Params, CuckooParams, StaticParams),
}

fn table() -> Table {
    let params = (
        Params::for_rate(100, 0.01).unwrap().with_seed(u64::MAX),
        CuckooParams::for_rate(100, 0.01).unwrap().with_seed(5),
        StaticParams::for_rate(100, 0.01).unwrap().with_seed(6),
    );
    let hashes: Vec<u64> = (0..100).map(|key| hash::hash_u64(key, 0)).collect();
    let mut table = Table {
        name: "users".into(),
        plain: Filter::new(params.0).unwrap(),
        shared: ConcurrentFilter::new(params.0).unwrap(),
        counting: CountingFilter::new(params.0).unwrap(),
        cuckoo: Some(CuckooFilter::new(params.1).unwrap()),
        scalable: vec![ScalableFilter::new(50, 0.01, 3).unwrap()],
        params,
    };
    for hash in hashes {
        table.plain.insert_hash(hash);
        table.shared.insert_hash(hash);
        table.counting.insert_hash(hash);
        assert!(table.cuckoo.as_mut().unwrap().insert_hash(hash).is_ok());
        assert!(table.scalable[0].insert_hash(hash).is_ok());
    }
    table
}

#[test]
fn there_and_back() {
    let table = table();
    let text = serde_json::to_string(&table).unwrap();
    assert_eq!(serde_json::from_str::<Table>(&text).unwrap(), table);
    assert_eq!(
        serde_json::from_value::<Table>(serde_json::to_value(&table).unwrap()).unwrap(),
        table
    );
    assert_eq!(ciborium::from_reader::<Table, _>(&cbor(&table)[..]).unwrap(), table);
}

/// Formats treat short and long byte strings differently: CBOR's reader has 4,096 bytes of room.
#[test]
fn filters_return_at_every_size() {
    for lines in [1, 63, 64, 65, (1 << 20) / 64] {
        let mut filter = Filter::new(Params::new(lines, 7, 1).unwrap()).unwrap();
        (0..40 * lines).for_each(|key| _ = filter.insert(&key));
        assert_returns(&filter, &format!("a filter of {lines} lines"));
    }
}

#[test]
fn filters_are_their_encoded_bytes() {
    let table = table();
    let bytes = table.plain.to_bytes().unwrap();
    assert_eq!(serde_json::to_value(&table.plain).unwrap(), json!(base64(&bytes)));
    assert_eq!(Value::serialized(&table.plain).unwrap(), Value::Bytes(bytes.clone()));
    // A byte string of CBOR: a head of at most 9 bytes, then no byte more than the filter has.
    assert!(cbor(&table.plain).ends_with(&bytes) && cbor(&table.plain).len() <= bytes.len() + 9);
    let counting = table.counting.to_bytes().unwrap();
    assert_eq!(Value::serialized(&table.counting).unwrap(), Value::Bytes(counting));
}

#[test]
fn shapes_are_their_fields() {
    let cuckoo = CuckooParams::new(9, 12, 0).unwrap();
    let fixed = StaticParams::new(9, 7, 1).unwrap();
    for classic in [false, true] {
        let new = if classic { Params::classic } else { Params::new };
        let params = new(157, 6, u64::MAX).unwrap();
        let text = json!({ "line_count": 157, "k": 6, "seed": u64::MAX, "classic": classic });
        assert_eq!(serde_json::to_value(params).unwrap(), text);
        assert_eq!(serde_json::from_value::<Params>(text).unwrap(), params);
    }
    let text = json!({ "line_count": 157, "k": 6, "seed": 1 });
    assert_eq!(serde_json::from_value::<Params>(text).unwrap(), Params::new(157, 6, 1).unwrap());
    let text = json!({ "line_count": 9, "fingerprint_bits": 12, "seed": 0 });
    assert_eq!(serde_json::to_value(cuckoo).unwrap(), text);
    assert_eq!(serde_json::from_value::<CuckooParams>(text).unwrap(), cuckoo);
    let text = json!({ "line_count": 9, "rows": 7, "seed": 1 });
    assert_eq!(serde_json::to_value(fixed).unwrap(), text);
    assert_eq!(serde_json::from_value::<StaticParams>(text).unwrap(), fixed);
}

/// The error of decoding is in what serde says.
fn assert_fails<T: DeserializeOwned + Debug>(
    text: serde_json::Value,
    binary: &impl Serialize,
    error: &Error,
) {
    let said = serde_json::from_value::<T>(text).unwrap_err().to_string();
    assert!(said.contains(&error.to_string()), "{said}");
    let binary = cbor(binary);
    let said = format!("{:?}", ciborium::from_reader::<T, _>(&binary[..]).unwrap_err());
    assert!(said.contains(&error.to_string()), "{said}");
}

#[test]
fn what_is_not_valid_is_an_error() {
    for (text, error) in [
        (json!({ "line_count": 5, "k": 17, "seed": 0 }), Error::K(17)),
        (json!({ "line_count": 0, "k": 7, "seed": 0 }), Error::NoLines),
    ] {
        assert_fails::<Params>(text.clone(), &text, &error);
    }
    let text = json!({ "line_count": 5, "fingerprint_bits": 9, "seed": 0 });
    assert_fails::<CuckooParams>(text.clone(), &text, &Error::FingerprintBits(9));
    // Bytes, and a sequence of bytes, which some formats make of them.
    fn both<T: DeserializeOwned + Debug>(bytes: &[u8], error: Error) {
        assert_fails::<T>(json!(base64(bytes)), &bytes, &error);
        assert_fails::<T>(json!(base64(bytes)), &Value::Bytes(bytes.into()), &error);
    }
    let table = table();
    let mut bytes = table.plain.to_bytes().unwrap();
    assert_eq!(ciborium::from_reader::<Filter, _>(&cbor(&bytes)[..]).unwrap(), table.plain);
    both::<CuckooFilter>(&bytes, Error::Layout(1));
    bytes[0] ^= 1;
    both::<Filter>(&bytes, Error::Checksum);
    bytes.pop();
    both::<Filter>(&bytes, Error::NotAFilter);
    both::<CuckooFilter>(&[], Error::Truncated { needed: 64, given: 0 });
    for text in [
        json!("text"),
        json!(base64(b"text")),
        json!([1, 256]),
        json!(table.plain.to_bytes().unwrap()),
        json!([-1]),
        json!(null),
        json!({}),
    ] {
        serde_json::from_value::<Filter>(text.clone()).expect_err(&text.to_string());
    }
}
