//! The columns of a join's key, as hashes. Both sides of a join are hashed here: keys that are equal to the
//! join have equal hashes.

use bloomline::{Filter, Params, Probe};
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BinaryViewArray, FixedSizeBinaryArray, LargeBinaryArray,
    downcast_primitive_array,
};
use datafusion::arrow::buffer::{Buffer, NullBuffer};
use datafusion::arrow::compute::take;
use datafusion::arrow::datatypes::DataType;

/// So many rows are hashed and probed together: their hashes stay in the L1 cache.
pub(crate) const RUN: usize = 1024;

/// What a key is hashed as. Values of one class that are equal are hashed alike, dictionary or not.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Class {
    /// Text and bytes of any kind.
    Bytes,
    /// Floating point numbers.
    Float(DataType),
    /// Any other type whose values are as wide as each other.
    Fixed(DataType),
}

impl Class {
    /// The class of a type; none, if keys of this type are left alone.
    pub(crate) fn of(data_type: &DataType) -> Option<Class> {
        Some(match data_type {
            DataType::Dictionary(_, values) => Class::of(values)?,
            DataType::Utf8
            | DataType::LargeUtf8
            | DataType::Utf8View
            | DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
            | DataType::FixedSizeBinary(_) => Class::Bytes,
            DataType::Float16 | DataType::Float32 | DataType::Float64 => {
                Class::Float(data_type.clone())
            }
            DataType::Interval(_) => return None,
            _ if data_type.is_primitive() => Class::Fixed(data_type.clone()),
            _ => return None,
        })
    }
}

/// A column of keys. It borrows nothing and copies no values.
pub(crate) struct KeyColumn {
    values: Values,
    nulls: Option<NullBuffer>,
}

enum Values {
    /// Integers and the like, of 1 to 32 bytes.
    Fixed(Buffer, usize),
    /// Floating point numbers of 2, 4 or 8 bytes.
    Float(Buffer, usize),
    Bytes(BinaryArray),
    LargeBytes(LargeBinaryArray),
    Views(BinaryViewArray),
    FixedSize(FixedSizeBinaryArray),
    /// For each row the number of a value, and the hashes of the values.
    Codes(Vec<usize>, Vec<u64>),
}

impl KeyColumn {
    /// The column of an array; none, if it is not of this class.
    pub(crate) fn of(array: &ArrayRef, class: &Class, hasher: &Hasher) -> Option<KeyColumn> {
        if Class::of(array.data_type()).as_ref() != Some(class) {
            return None;
        }
        Some(KeyColumn { values: values(array, class, hasher)?, nulls: array.logical_nulls() })
    }

    /// Which rows are not null; none, if no row is.
    pub(crate) fn nulls(&self) -> Option<&NullBuffer> {
        self.nulls.as_ref()
    }

    /// Writes the hashes of the rows from `first` on. Those of nulls are of no use.
    fn hash(&self, hasher: &Hasher, first: usize, out: &mut [u64]) {
        let rows = first..first + out.len();
        match &self.values {
            Values::Fixed(values, 1) => hasher.all(&values.typed_data::<u8>()[rows], out),
            Values::Fixed(values, 2) => hasher.all(&values.typed_data::<u16>()[rows], out),
            Values::Fixed(values, 4) => hasher.all(&values.typed_data::<u32>()[rows], out),
            Values::Fixed(values, 8) => hasher.all(&values.typed_data::<u64>()[rows], out),
            Values::Fixed(values, 16) => hasher.all(&values.typed_data::<i128>()[rows], out),
            Values::Fixed(values, _) => {
                hasher.all(&values.as_slice().as_chunks::<32>().0[rows], out);
            }
            Values::Float(values, 2) => {
                let values = &values.typed_data::<u16>()[rows];
                hasher.each(values.iter().map(|&bits| float(bits, 0x7C00, 0x7FFF)), out);
            }
            Values::Float(values, 4) => {
                let values = &values.typed_data::<u32>()[rows];
                hasher
                    .each(values.iter().map(|&bits| float(bits, 0x7F80_0000, u32::MAX >> 1)), out);
            }
            Values::Float(values, _) => {
                let values = &values.typed_data::<u64>()[rows];
                hasher
                    .each(values.iter().map(|&bits| float(bits, 0x7FF << 52, u64::MAX >> 1)), out);
            }
            Values::Bytes(array) => hasher.each(rows.map(|row| array.value(row)), out),
            Values::LargeBytes(array) => hasher.each(rows.map(|row| array.value(row)), out),
            Values::Views(array) => hasher.each(rows.map(|row| array.value(row)), out),
            Values::FixedSize(array) => hasher.each(rows.map(|row| array.value(row)), out),
            Values::Codes(codes, hashes) => {
                for (out, &code) in out.iter_mut().zip(&codes[rows]) {
                    *out = hashes[code];
                }
            }
        }
    }
}

/// The bits of a float that stand for all that may be equal to it: both zeros, all that are not numbers.
fn float<T: Into<u64> + Copy>(bits: T, infinity: T, magnitude: T) -> u64 {
    let (bits, infinity, magnitude) = (bits.into(), infinity.into(), magnitude.into());
    match bits & magnitude {
        0 => 0,
        number if number > infinity => magnitude,
        _ => bits,
    }
}

fn values(array: &ArrayRef, class: &Class, hasher: &Hasher) -> Option<Values> {
    if let Some(dictionary) = array.as_any_dictionary_opt() {
        let of = dictionary.values();
        if of.is_empty() {
            return Some(Values::Codes(vec![0; array.len()], vec![0]));
        }
        if of.len() > array.len() {
            // A slice: most of the dictionary is of other rows.
            return values(&take(of, dictionary.keys(), None).ok()?, class, hasher);
        }
        let column = KeyColumn::of(of, class, hasher)?;
        let mut hashes = vec![0; of.len()];
        column.hash(hasher, 0, &mut hashes);
        return Some(Values::Codes(dictionary.normalized_keys(), hashes));
    }
    Some(match array.data_type() {
        DataType::Utf8 => Values::Bytes(array.as_string::<i32>().clone().into()),
        DataType::LargeUtf8 => Values::LargeBytes(array.as_string::<i64>().clone().into()),
        DataType::Utf8View => Values::Views(array.as_string_view().clone().to_binary_view()),
        DataType::Binary => Values::Bytes(array.as_binary::<i32>().clone()),
        DataType::LargeBinary => Values::LargeBytes(array.as_binary::<i64>().clone()),
        DataType::BinaryView => Values::Views(array.as_binary_view().clone()),
        DataType::FixedSizeBinary(_) => Values::FixedSize(array.as_fixed_size_binary().clone()),
        data_type => {
            let width = data_type.primitive_width()?;
            let array: &dyn Array = array;
            let bytes = downcast_primitive_array!(
                array => array.values().inner().clone(),
                _ => return None,
            );
            match class {
                Class::Float(_) => Values::Float(bytes, width),
                _ => Values::Fixed(bytes, width),
            }
        }
    })
}

/// What hashes keys as the filters of a join do.
#[derive(Debug)]
pub(crate) struct Hasher(Filter);

impl Hasher {
    /// The hasher for filters of this seed.
    pub(crate) fn new(seed: u64) -> Result<Hasher, bloomline::Error> {
        Ok(Hasher(Filter::new(Params::for_rate(1, 0.5)?.with_seed(seed))?))
    }

    fn all<K: bloomline::Key>(&self, keys: &[K], out: &mut [u64]) {
        self.0.hash_keys(keys, out);
    }

    fn each<K: bloomline::Key>(&self, keys: impl Iterator<Item = K>, out: &mut [u64]) {
        out.iter_mut().zip(keys).for_each(|(out, key)| *out = self.0.hash(&key));
    }

    /// Writes the hashes of the rows from `first` on, at most [`RUN`] of them, of a key of these columns.
    pub(crate) fn hash_rows(&self, columns: &[KeyColumn], first: usize, out: &mut [u64]) {
        let mut others = [0; RUN];
        for (i, column) in columns.iter().enumerate() {
            if i == 0 {
                column.hash(self, first, out);
                continue;
            }
            let others = &mut others[..out.len()];
            column.hash(self, first, others);
            for (out, other) in out.iter_mut().zip(others) {
                // The order of columns counts: (1, 2) and (2, 1) are two keys.
                *out = out.rotate_left(29).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ *other;
            }
        }
    }
}

/// Which rows have a value in all of these columns; none, if all have.
pub(crate) fn valid(columns: &[KeyColumn]) -> Option<NullBuffer> {
    columns.iter().fold(None, |valid, column| NullBuffer::union(valid.as_ref(), column.nulls()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::array::{
        Decimal256Array, DictionaryArray, DurationNanosecondArray, Float32Array, Int8Array,
        Int32Array, Int64Array, LargeStringArray, RunArray, StringArray, StringViewArray,
        UInt16Array,
    };
    use datafusion::arrow::buffer::ScalarBuffer;
    use datafusion::arrow::compute::cast;
    use datafusion::arrow::datatypes::{Int32Type, i256};
    use std::sync::Arc;

    /// The hashes of the rows of an array that are not null.
    fn hashes(array: &ArrayRef) -> Vec<Option<u64>> {
        let (hasher, class) = (Hasher::new(0).unwrap(), Class::of(array.data_type()).unwrap());
        let columns = [KeyColumn::of(array, &class, &hasher).unwrap()];
        let mut out = vec![0; array.len()];
        for (run, out) in out.chunks_mut(RUN).enumerate() {
            hasher.hash_rows(&columns, run * RUN, out);
        }
        let valid = valid(&columns);
        let is_valid = |row| valid.as_ref().is_none_or(|valid| valid.is_valid(row));
        out.into_iter().enumerate().map(|(row, hash)| is_valid(row).then_some(hash)).collect()
    }

    /// Of an array and of slices of it: each row has the hash of its key.
    fn rows_have<K: bloomline::Key>(array: &ArrayRef, keys: &[Option<K>]) {
        let hasher = Hasher::new(0).unwrap();
        let expected: Vec<_> =
            keys.iter().map(|key| key.as_ref().map(|key| hasher.0.hash(key))).collect();
        for first in [0, 1, 7, 64, 1999, array.len()] {
            for len in [0, 1, 9, 100, 1100, array.len()] {
                let len = len.min(array.len() - first);
                let slice = array.slice(first, len);
                assert_eq!(
                    hashes(&slice),
                    expected[first..first + len],
                    "{}, {first}, {len}",
                    array.data_type()
                );
            }
        }
    }

    const ROWS: usize = 2100;

    /// One row in five is null; of some values there are many.
    fn number(row: usize) -> Option<i64> {
        (row % 5 != 4).then(|| (row as i64 % 150).wrapping_mul(0x1234_5678_9ABC_DEF1))
    }

    #[test]
    fn bytes_of_every_kind_are_hashed_alike() {
        let text = |row| number(row).map(|number| number.to_string().repeat(row % 3));
        let texts: Vec<Option<String>> = (0..ROWS).map(text).collect();
        let keys: Vec<Option<&[u8]>> =
            texts.iter().map(|text| text.as_ref().map(|text| text.as_bytes())).collect();
        let plain: ArrayRef = Arc::new(StringArray::from(texts.clone()));
        let dictionary = |values| DataType::Dictionary(Box::new(DataType::Int16), Box::new(values));
        for kind in [
            DataType::Utf8,
            DataType::LargeUtf8,
            DataType::Utf8View,
            DataType::Binary,
            DataType::LargeBinary,
            DataType::BinaryView,
            dictionary(DataType::Utf8),
            dictionary(DataType::LargeBinary),
            dictionary(DataType::Utf8View),
        ] {
            rows_have(&cast(&plain, &kind).unwrap(), &keys);
        }
        let eights = (0..ROWS).map(|row| number(row).map(i64::to_be_bytes));
        let eights: Vec<Option<[u8; 8]>> = eights.collect();
        let fixed = FixedSizeBinaryArray::try_from_sparse_iter_with_size(eights.iter().copied(), 8);
        let keys: Vec<_> = eights.iter().map(|key| key.as_ref().map(|key| &key[..])).collect();
        rows_have(&(Arc::new(fixed.unwrap()) as ArrayRef), &keys);
    }

    #[test]
    fn numbers_are_hashed_by_their_width() {
        let numbers: Vec<_> = (0..ROWS).map(number).collect();
        let plain: ArrayRef = Arc::new(Int64Array::from(numbers.clone()));
        rows_have(&plain, &numbers);
        let duration = DurationNanosecondArray::from(numbers.clone());
        rows_have(&(Arc::new(duration) as ArrayRef), &numbers);
        let small = numbers.iter().map(|number| number.map(|number| number as u16));
        let small: Vec<Option<u16>> = small.collect();
        rows_have(&(Arc::new(UInt16Array::from(small.clone())) as ArrayRef), &small);
        let wide = numbers.iter().map(|number| number.map(i256::from)).collect();
        let wide: Vec<Option<i256>> = wide;
        let keys: Vec<_> = wide.iter().map(|wide| wide.map(i256::to_le_bytes)).collect();
        rows_have(&(Arc::new(Decimal256Array::from(wide)) as ArrayRef), &keys);
        let dictionary = DataType::Dictionary(Box::new(DataType::Int16), Box::new(DataType::Int64));
        rows_have(&cast(&plain, &dictionary).unwrap(), &numbers);
    }

    /// Keys that are null name no value, or one that is not there; values may be null, and be dictionaries.
    #[test]
    fn dictionaries_of_any_form() {
        let keys = ScalarBuffer::from(vec![0, 99, 2, 1, -5, 3]);
        let nulls = NullBuffer::from(vec![true, false, true, true, false, true]);
        let keys = Int8Array::new(keys, Some(nulls));
        let words = vec![Some("pear"), None, Some("plum"), Some("pear")];
        let expected = [Some("pear"), None, Some("plum"), None, None, Some("pear")]
            .map(|x| x.map(str::as_bytes));
        let values: [ArrayRef; 3] = [
            Arc::new(StringArray::from(words.clone())),
            Arc::new(LargeStringArray::from(words.clone())),
            Arc::new(StringViewArray::from(words)),
        ];
        let hasher = Hasher::new(0).unwrap();
        let of = |array: &ArrayRef| hashes(array);
        for values in values {
            let inner = DictionaryArray::new(Int32Array::from(vec![3, 1, 2, 0]), values.clone());
            let both: [ArrayRef; 2] = [values, Arc::new(inner)];
            for values in both {
                let array: ArrayRef = Arc::new(DictionaryArray::new(keys.clone(), values));
                let expected = expected.map(|key| key.map(|key| hasher.0.hash(key)));
                assert_eq!(of(&array), expected);
                // Fewer rows than words.
                assert_eq!(of(&array.slice(2, 3)), expected[2..5]);
            }
        }
        let none: ArrayRef = Arc::new(StringArray::from(Vec::<&str>::new()));
        let nulls: ArrayRef = Arc::new(DictionaryArray::new(Int8Array::new_null(3), none));
        assert_eq!(of(&nulls), [None; 3]);
    }

    /// What may be equal has one hash; what has no class has no filter.
    #[test]
    fn floats_and_other_types() {
        let zeros: ArrayRef =
            Arc::new(Float32Array::from(vec![0.0, -0.0, f32::NAN, -f32::NAN, 1.0, -1.0]));
        for kind in [DataType::Float16, DataType::Float32, DataType::Float64] {
            let hashes = hashes(&cast(&zeros, &kind).unwrap());
            assert!(hashes[0] == hashes[1] && hashes[2] == hashes[3], "{kind}");
            assert!(hashes[0] != hashes[2] && hashes[4] != hashes[5], "{kind}");
        }
        let runs = RunArray::<Int32Type>::try_new(
            &Int32Array::from(vec![2, 3]),
            &StringArray::from(vec!["pear", "plum"]),
        );
        assert_eq!(Class::of(runs.unwrap().data_type()), None);
        assert_eq!(Class::of(&DataType::Null), None);
        let hasher = Hasher::new(0).unwrap();
        let class = Class::of(&DataType::Int32).unwrap();
        assert!(KeyColumn::of(&zeros, &class, &hasher).is_none(), "of another class");
    }
}
