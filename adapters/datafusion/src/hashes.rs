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
