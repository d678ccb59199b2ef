//! What can be asked of a column: values that have its physical type.

use bloomline::engines::parquet::{hash, hash_batch};
use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::data_type::{ByteArray, FixedLenByteArray, Int96};
use parquet::errors::{ParquetError, Result};
use parquet::schema::types::ColumnDescriptor;

/// A value of a column: `i32` or `u32` of an `INT32`, `i64` or `u64` of an `INT64`, `f32`, `f64`,
/// `bool`; of a `BYTE_ARRAY` bytes and text, which a `FIXED_LEN_BYTE_ARRAY` takes too if they are as long
/// as its values; of an `INT96` 12 bytes. The trait is sealed.
///
/// * `0.0` and `-0.0` are equal to a query, and two values to a filter: it is asked for both.
/// * NaN may be in every row group, as NaNs of other bits may stand for it.
/// * A `FLOAT16` is asked by its two bytes, the low one first. So are its zeros and NaNs.
/// * A decimal, a date, a time or an integer of 8 or 16 bits is asked as the column stores it: a time in the
///   column's unit, the bytes of a decimal with the highest first.
/// * A decimal in a `BYTE_ARRAY` is to have as few bytes as can be. If its writer stored more, ask for those.
/// * Text is refused where the bytes are no text: in a decimal, a UUID, an interval, an `INT96`.
pub trait Value: Sealed {}

impl<T: Sealed + ?Sized> Value for T {}

/// What is asked of filters for one value.
pub enum Asked {
    /// A hash.
    One(u64),
    /// Any of two.
    Either(u64, u64),
    /// Nothing: it may be anywhere.
    Anything,
}

/// What seals [`Value`]: nobody outside can name it.
pub trait Sealed {
    /// Whether a column can have it.
    fn fits(&self, column: &ColumnDescriptor) -> bool;
    /// The hash that a filter of it has.
    fn hash(&self) -> u64;
    /// What a query asks of a column that can have it.
    fn asked(&self, _: &ColumnDescriptor) -> Asked {
        Asked::One(self.hash())
    }
    /// The hashes of several, one output for each.
    fn hash_all(values: &[Self], out: &mut [u64])
    where
        Self: Sized,
    {
        for (value, out) in values.iter().zip(out) {
            *out = value.hash();
        }
    }
}

/// Checks that a column can have a value.
pub(crate) fn check<V: Value + ?Sized>(value: &V, column: &ColumnDescriptor) -> Result<()> {
    if value.fits(column) {
        return Ok(());
    }
    let (asked, kind, length) =
        (std::any::type_name::<V>(), column.physical_type(), column.type_length());
    let length = if kind == Type::FIXED_LEN_BYTE_ARRAY { format!("({length})") } else { "".into() };
    let stands_for = match (column.logical_type_ref(), column.converted_type()) {
        (Some(logical), _) => format!(" for {logical:?}"),
        (None, ConvertedType::NONE) => "".into(),
        (None, converted) => format!(" for {converted}"),
    };
    Err(ParquetError::General(format!(
        "this value of type {asked} is none of column {:?}, which has {kind}{length}{stands_for}",
        column.path().string()
    )))
}

/// Whether the bytes of a column may be text: nothing says that they are anything else.
fn has_text(column: &ColumnDescriptor) -> bool {
    let logical = match column.logical_type_ref() {
        None => true,
        Some(kind) => matches!(
            kind,
            LogicalType::String | LogicalType::Enum | LogicalType::Json | LogicalType::Unknown
        ),
    };
    let converted = matches!(
        column.converted_type(),
        ConvertedType::NONE | ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON
    );
    logical && converted && column.physical_type() != Type::INT96
}

/// What is asked for a `FLOAT16` of these bits.
fn float16(bits: u16) -> Asked {
    let hash = |bits: u16| hash(&bits.to_le_bytes());
    match bits & 0x7FFF {
        0 => Asked::Either(hash(0), hash(0x8000)),
        magnitude if magnitude > 0x7C00 => Asked::Anything,
        _ => Asked::One(hash(bits)),
    }
}

macro_rules! numbers {
    ($($kind:ident: $($number:ty),+;)+) => {$($(
        impl Sealed for $number {
            fn fits(&self, column: &ColumnDescriptor) -> bool {
                column.physical_type() == Type::$kind
            }

            fn hash(&self) -> u64 {
                hash(self)
            }

            fn hash_all(values: &[$number], out: &mut [u64]) {
                hash_batch(values, out);
            }
        }
    )+)+};
}

numbers! {
    INT32: i32, u32;
    INT64: i64, u64;
}

macro_rules! floats {
    ($($kind:ident: $float:ty;)+) => {$(
        impl Sealed for $float {
            fn fits(&self, column: &ColumnDescriptor) -> bool {
                column.physical_type() == Type::$kind
            }

            fn hash(&self) -> u64 {
                hash(&self.to_bits())
            }

            fn asked(&self, _: &ColumnDescriptor) -> Asked {
                match self {
                    x if x.is_nan() => Asked::Anything,
                    0.0 => Asked::Either(hash(&(0.0 as $float).to_bits()), hash(&(-0.0 as $float).to_bits())),
                    x => Asked::One(Sealed::hash(x)),
                }
            }
        }
    )+};
}

floats! {
    FLOAT: f32;
    DOUBLE: f64;
}

impl Sealed for bool {
    fn fits(&self, column: &ColumnDescriptor) -> bool {
        column.physical_type() == Type::BOOLEAN
    }

    fn hash(&self) -> u64 {
        hash(&u8::from(*self))
    }
}

impl Sealed for [u8] {
    fn fits(&self, column: &ColumnDescriptor) -> bool {
        match column.physical_type() {
            Type::BYTE_ARRAY => true,
            Type::FIXED_LEN_BYTE_ARRAY => usize::try_from(column.type_length()) == Ok(self.len()),
            Type::INT96 => self.len() == 12,
            _ => false,
        }
    }

    fn hash(&self) -> u64 {
        hash(self)
    }

    fn asked(&self, column: &ColumnDescriptor) -> Asked {
        match *self {
            [low, high] if column.logical_type_ref() == Some(&LogicalType::Float16) => {
                float16(u16::from_le_bytes([low, high]))
            }
            _ => Asked::One(hash(self)),
        }
    }
}

macro_rules! bytes {
    ($($bytes:ty: $this:ident => $as:expr;)+) => {$(
        impl Sealed for $bytes {
            fn fits(&self, column: &ColumnDescriptor) -> bool {
                let $this = self;
                $as.is_some_and(|bytes| <[u8]>::fits(bytes, column))
            }

            fn hash(&self) -> u64 {
                let $this = self;
                hash::<[u8]>($as.unwrap_or_default())
            }

            fn asked(&self, column: &ColumnDescriptor) -> Asked {
                let $this = self;
                <[u8]>::asked($as.unwrap_or_default(), column)
            }
        }
    )+};
}

impl<const N: usize> Sealed for [u8; N] {
    fn fits(&self, column: &ColumnDescriptor) -> bool {
        self.as_slice().fits(column)
    }

    fn hash(&self) -> u64 {
        hash(self)
    }

    fn asked(&self, column: &ColumnDescriptor) -> Asked {
        self.as_slice().asked(column)
    }
}

bytes! {
    Vec<u8>: bytes => Some(bytes.as_slice());
    // Without data they are no value, and `data` panics.
    ByteArray: bytes => (*bytes != ByteArray::new()).then(|| bytes.data());
    FixedLenByteArray: bytes => (**bytes != ByteArray::new()).then(|| bytes.data());
}

/// Text is its bytes.
impl Sealed for str {
    fn fits(&self, column: &ColumnDescriptor) -> bool {
        has_text(column) && self.as_bytes().fits(column)
    }

    fn hash(&self) -> u64 {
        hash(self.as_bytes())
    }
}

impl Sealed for String {
    fn fits(&self, column: &ColumnDescriptor) -> bool {
        self.as_str().fits(column)
    }

    fn hash(&self) -> u64 {
        Sealed::hash(self.as_str())
    }
}

impl Sealed for Int96 {
    fn fits(&self, column: &ColumnDescriptor) -> bool {
        column.physical_type() == Type::INT96
    }

    fn hash(&self) -> u64 {
        let mut bytes = [0; 12];
        for (bytes, word) in bytes.chunks_exact_mut(4).zip(self.data()) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        hash(&bytes)
    }
}

impl<V: Sealed + ?Sized> Sealed for &V {
    fn fits(&self, column: &ColumnDescriptor) -> bool {
        (**self).fits(column)
    }

    fn hash(&self) -> u64 {
        Sealed::hash(*self)
    }

    fn asked(&self, column: &ColumnDescriptor) -> Asked {
        (**self).asked(column)
    }
}
