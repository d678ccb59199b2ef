//! Bloomline's filters against those of the crate `parquet`: the same bytes, the same answers, in files that
//! either of them wrote. `engines.rs` has those of other engines, `through_arrow.rs` those of Arrow's columns.

mod engines;
mod every_type;
mod meaning;
mod through_arrow;

use bloomline::Key;
use bloomline::engines::parquet as ours;
use bloomline::hash::hash_u64;
use bloomline_parquet::{ColumnFilters, FilterBuilder, Value};
use bytes::Bytes;
use parquet::bloom_filter::Sbbf;
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::*;
use parquet::errors::Result;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::properties::{BloomFilterPosition, WriterProperties, WriterPropertiesPtr};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::sync::Arc;

/// Number `i` of a sequence without pattern.
fn random(i: u64) -> u64 {
    hash_u64(i, 5)
}

fn bytes_of(filter: &Sbbf) -> Vec<u8> {
    let mut bytes = Vec::new();
    filter.write(&mut bytes).unwrap();
    bytes
}

/// Inserts the value that a number stands for into a filter of the crate, and returns its hash here.
type Insert = fn(u64, &mut Sbbf) -> u64;

/// Both of one value: what the crate takes, and the key here.
fn both<T: AsBytes + ?Sized>(filter: &mut Sbbf, value: &T, key: &(impl Key + ?Sized)) -> u64 {
    filter.insert(value);
    ours::hash(key)
}

/// Every physical type.
const TYPES: [(&str, Insert); 8] = [
    ("BOOLEAN", |i, filter| both(filter, &(i % 2 == 1), &(i as u8 % 2))),
    ("INT32", |i, filter| both(filter, &(i as i32), &(i as i32))),
    ("INT64", |i, filter| both(filter, &(i as i64), &(i as i64))),
    ("INT96", |i, filter| {
        let bytes = [&i.to_le_bytes()[..], &7_u32.to_le_bytes()].concat();
        both(filter, &Int96::from(vec![i as u32, (i >> 32) as u32, 7]), bytes.as_slice())
    }),
    ("FLOAT", |i, filter| both(filter, &f32::from_bits(i as u32), &(i as u32))),
    ("DOUBLE", |i, filter| both(filter, &f64::from_bits(i), &i)),
    ("BYTE_ARRAY", |i, filter| {
        let text = format!("{i:0$}", i as usize % 40);
        both(filter, &ByteArray::from(text.as_str()), text.as_str())
    }),
    ("FIXED_LEN_BYTE_ARRAY", |i, filter| {
        let bytes = [i, !i].map(u64::to_be_bytes).concat();
        both(filter, &FixedLenByteArray::from(bytes.clone()), bytes.as_slice())
    }),
];

/// Over sizes, rates, values and types: header and bits are the crate's, byte for byte.
#[test]
fn filters_are_equal_to_the_byte() {
    let mut compared = 0;
    for most in [1, 10, 26, 100, 1000, 4096, 10_000, 60_000, 100_000, 300_000] {
        for rate in [0.5, 0.1, 0.05, 0.01, 0.001] {
            for count in [0, most / 7, most, 2 * most].map(|count| count.min(20_000)) {
                for (name, insert) in TYPES {
                    let mut theirs = Sbbf::new_with_ndv_fpp(most, rate).unwrap();
                    let insert = |i| insert(random(i + most), &mut theirs);
                    let hashes: Vec<u64> = (0..count).map(insert).collect();
                    let bits_len = ours::bits_len(most, ours::bits_per_key(rate).unwrap()).unwrap();
                    let mut built = vec![0; 19 + bits_len];
                    let header_len = ours::write_header(bits_len, &mut built).unwrap();
                    built.truncate(header_len + bits_len);
                    ours::insert_hashes(&mut built[header_len..], &hashes).unwrap();
                    let expected = bytes_of(&theirs);
                    assert!(built == expected, "{name}: {most} values at {rate}, {count} inserted");
                    compared += 1;
                }
            }
        }
    }
    assert_eq!(compared, 200 * TYPES.len());
}

/// A file of one required column and of a row group for each slice.
fn file<T: DataType>(
    column: &str,
    row_groups: &[Vec<T::T>],
    properties: WriterProperties,
) -> Bytes {
    let schema = Arc::new(parse_message_type(&format!("message m {{ {column}; }}")).unwrap());
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties)).unwrap();
    for values in row_groups {
        let mut row_group = writer.next_row_group().unwrap();
        let mut column = row_group.next_column().unwrap().unwrap();
        column.typed::<T>().write_batch(values, None, None).unwrap();
        column.close().unwrap();
        row_group.close().unwrap();
    }
    writer.close().unwrap();
    bytes.into()
}

fn with_filters() -> WriterProperties {
    let end = BloomFilterPosition::End;
    let properties = WriterProperties::builder().set_bloom_filter_enabled(true);
    properties.set_bloom_filter_fpp(0.05).set_bloom_filter_position(end).build()
}

fn opened(file: &Bytes) -> (ParquetMetaData, ColumnFilters) {
    let reader = SerializedFileReader::new(file.clone()).unwrap();
    let metadata = reader.metadata().clone();
    let filters = ColumnFilters::read(file, &metadata, 0).unwrap();
    (metadata, filters)
}

/// The same file with filters that are made here, in place of none.
fn rewritten<V: Value>(file: &Bytes, row_groups: &[Vec<V>], rate: f64) -> Bytes {
    let reader = SerializedFileReader::new(file.clone()).unwrap();
    let metadata = reader.metadata();
    let schema = metadata.file_metadata().schema_descr();
    let (mut bytes, properties) = (Vec::new(), WriterPropertiesPtr::default());
    let root = schema.root_schema_ptr();
    let mut writer = SerializedFileWriter::new(&mut bytes, root, properties).unwrap();
    for (chunks, values) in metadata.row_groups().iter().zip(row_groups) {
        let mut builder = FilterBuilder::new(100_000, rate).unwrap();
        let (first, rest) = values.split_at(values.len() / 2);
        builder.insert(&schema.column(0), first).unwrap();
        builder.insert(&schema.column(0), rest).unwrap();
        let chunk = ColumnCloseResult {
            bytes_written: chunks.column(0).compressed_size() as u64,
            rows_written: chunks.num_rows() as u64,
            metadata: chunks.column(0).clone(),
            bloom_filter: Some(builder.finish().unwrap()),
            column_index: None,
            offset_index: None,
        };
        let mut row_group = writer.next_row_group().unwrap();
        row_group.append_column(file, chunk).unwrap();
        row_group.close().unwrap();
    }
    writer.close().unwrap();
    bytes.into()
}

const ROW_GROUPS: u64 = 7;

/// Of one type: what the crate wrote answers here as there, and what is made here answers there as here. Row
/// group `i` has the limits `i`, `i + 7` and so on of the type, behind its other values.
fn one_type<T: DataType>(column: &str, limits: &[T::T], value: impl Fn(u64) -> T::T)
where
    T::T: Value + AsBytes,
{
    one_type_of::<T>(column, limits, |value| vec![value.clone()], value);
}

/// The same where a query takes other values for equal to one: all of those, or none if it is equal to nothing
/// and may be anywhere.
fn one_type_of<T: DataType>(
    column: &str,
    limits: &[T::T],
    equal: impl Fn(&T::T) -> Vec<T::T>,
    value: impl Fn(u64) -> T::T,
) where
    T::T: Value + AsBytes,
{
    let limits_of = |i: u64| limits.iter().skip(i as usize).step_by(ROW_GROUPS as usize).cloned();
    let random_of = |i: u64| (0..200 + 50 * i).map(move |j| random(1000 * i + j)).map(&value);
    let row_groups: Vec<Vec<T::T>> =
        (0..ROW_GROUPS).map(|i| random_of(i).chain(limits_of(i)).collect()).collect();
    let plain = file::<T>(column, &row_groups, WriterProperties::default());
    let theirs = file::<T>(column, &row_groups, with_filters());
    let ours = rewritten(&plain, &row_groups, 0.05);
    assert!((0..7).all(|i| !opened(&plain).1.has_filter(i)));

    let present = row_groups.iter().flatten().cloned();
    let absent = (0..2000).map(|i| value(random(1_000_000 + i)));
    let asked: Vec<T::T> = present.chain(absent).collect();
    for file in [theirs, ours] {
        let (metadata, filters) = opened(&file);
        let expected: Vec<Sbbf> = (0..metadata.num_row_groups())
            .map(|i| Sbbf::read_from_column_chunk(metadata.row_group(i).column(0), &file))
            .map(|filter| filter.unwrap().expect("a filter"))
            .collect();
        for (values, filter) in row_groups.iter().zip(&expected) {
            assert!(values.iter().all(|value| filter.check(value)), "{column}: a value is lost");
        }
        let is_in = |i: usize, value: &T::T| {
            let equal = equal(value);
            equal.is_empty() || equal.iter().any(|value| expected[i].check(value))
        };
        assert!((0..7).all(|i| filters.has_filter(i)) && !filters.has_filter(7));
        let answers = filters.may_contain_each(&asked).unwrap();
        let mut some = [false; 2];
        for (j, value) in asked.iter().enumerate() {
            let expected: Vec<usize> = (0..7).filter(|&i| is_in(i, value)).collect();
            assert_eq!(filters.may_contain(value).unwrap(), expected, "{column}: {value:?}");
            assert_eq!(answers.row_groups(j).collect::<Vec<_>>(), expected, "{column}: {value:?}");
            some[usize::from(expected.len() < 7)] = true;
        }
        assert!(some[1], "{column}: nothing is absent");
        for (i, values) in row_groups.iter().enumerate() {
            let all = answers.values(i).filter(|&j| asked[j] == values[0]).count();
            assert!(all > 0, "{column}");
            for start in [0, values.len() - 2] {
                for count in [0, 1, 3, values.len()] {
                    let asked = &values[start..values.len().min(start + count)];
                    let any = |&i: &usize| asked.iter().any(|value| is_in(i, value));
                    let expected: Vec<usize> = (0..7).filter(any).collect();
                    assert_eq!(filters.may_contain_any(asked).unwrap(), expected, "{column}");
                }
            }
        }
    }
}

#[test]
fn integers() {
    let limits = [i32::MIN, i32::MAX, 0, -1, i32::MIN + 1, 1];
    one_type::<Int32Type>("required int32 c", &limits, |i| i as i32);
    let limits = [i64::MIN, i64::MAX, 0, -1, i64::MIN + 1, 1, i64::from(i32::MIN)];
    one_type::<Int64Type>("required int64 c", &limits, |i| i as i64);
    let limits = [0, u32::MAX].map(|word| Int96::from(vec![word; 3]));
    one_type::<Int96Type>("required int96 c", &limits, |i| {
        Int96::from(vec![i as u32, (i >> 32) as u32, random(i) as u32])
    });
}

/// Zeros are equal to a query, and NaN may be anywhere.
macro_rules! floats {
    ($kind:ty, $float:ident, $column:literal) => {
        let (most, least) = ($float::MAX, $float::MIN_POSITIVE);
        let ends = [$float::INFINITY, -$float::INFINITY, $float::NAN, 0.0, -0.0];
        let limits = [&ends[..], &[most, -most, least, least / 2.0, $float::EPSILON]].concat();
        let equal = |value: &$float| match value {
            x if x.is_nan() => vec![],
            0.0 => vec![0.0, -0.0],
            x => vec![*x],
        };
        one_type_of::<$kind>($column, &limits, equal, |i| i as $float / 3.0);
    };
}

#[test]
fn floats() {
    floats!(FloatType, f32, "required float c");
    floats!(DoubleType, f64, "required double c");
}

#[test]
fn byte_arrays() {
    let text = |i: u64| "x".repeat(i as usize % 40) + &i.to_string();
    let limits = [vec![], vec![0], vec![0; 2], vec![0xFF; 1000]].map(ByteArray::from);
    one_type::<ByteArrayType>("required binary c", &limits, |i| ByteArray::from(text(i).as_str()));
    let limits = [0, 0xFF].map(|byte| FixedLenByteArray::from(vec![byte; 16]));
    one_type::<FixedLenByteArrayType>("required fixed_len_byte_array(16) c", &limits, |i| {
        FixedLenByteArray::from([i.to_le_bytes(), random(i).to_le_bytes()].concat())
    });
}

/// Both values have a filter that tells them apart, here and there.
#[test]
fn truth_values() {
    let row_groups = [vec![true], vec![false, false], vec![true, false]];
    let plain = file::<BoolType>("required boolean c", &row_groups, WriterProperties::default());
    let file = rewritten(&plain, &row_groups, 0.01);
    let (metadata, filters) = opened(&file);
    for (value, expected) in [(true, [0, 2]), (false, [1, 2])] {
        assert_eq!(filters.may_contain(&value).unwrap(), expected);
        let is_in = |&i: &usize| {
            let chunk = metadata.row_group(i).column(0);
            Sbbf::read_from_column_chunk(chunk, &file).unwrap().unwrap().check(&value)
        };
        assert_eq!((0..3).filter(is_in).collect::<Vec<_>>(), expected);
    }
}

/// What a query takes for equal is not absent because its bytes differ.
fn zeros_and_nans_of<T: DataType>(column: &str, of: impl Fn(f64) -> T::T)
where
    T::T: Value,
{
    let row_groups = [0.0, -0.0, 1.5, f64::NAN].map(|value| vec![of(value)]);
    let plain = file::<T>(column, &row_groups, WriterProperties::default());
    let (_, filters) = opened(&rewritten(&plain, &row_groups, 0.0001));
    for zero in [0.0, -0.0] {
        assert_eq!(filters.may_contain(&of(zero)).unwrap(), [0, 1]);
        assert_eq!(filters.may_contain_any(&[7.25, zero].map(&of)).unwrap(), [0, 1]);
    }
    assert_eq!(filters.may_contain(&of(-f64::NAN)).unwrap(), [0, 1, 2, 3]);
    assert_eq!(filters.may_contain_any(&[of(f64::NAN)]).unwrap(), [0, 1, 2, 3]);
    // Behind words that are full, too.
    let mut asked: Vec<T::T> = (0..130).map(|_| of(7.25)).collect();
    (asked[1], asked[64], asked[129]) = (of(-0.0), of(1.5), of(f64::NAN));
    let answers = filters.may_contain_each(&asked).unwrap();
    let values = |i| {
        let values: Vec<usize> = answers.values(i).collect();
        assert_eq!(answers.count(i), values.len());
        values
    };
    assert_eq!([0, 1, 2, 3].map(values), [vec![1, 129], vec![1, 129], vec![64, 129], vec![129]]);
    assert!(answers.get(4, 0) && answers.get(0, 130) && !answers.get(0, 0));
    assert_eq!(answers.count(4), 130);
}

#[test]
fn zeros_and_nans() {
    zeros_and_nans_of::<FloatType>("required float c", |value| value as f32);
    zeros_and_nans_of::<DoubleType>("required double c", |value| value);
}

/// A value of another type would be absent everywhere: it is refused.
#[test]
fn other_types_are_refused() {
    let values = [vec![1_i64, 2, 3]];
    let int64 = opened(&file::<Int64Type>("required int64 c", &values, with_filters())).1;
    assert_eq!(int64.may_contain(&2_u64).unwrap(), [0]);
    let message = int64.may_contain(&2_i32).unwrap_err().to_string();
    assert!(
        message.contains("i32") && message.contains("INT64") && message.contains("\"c\""),
        "{message}"
    );
    assert!(int64.may_contain(&1.0).is_err() && int64.may_contain("1").is_err());
    assert!(int64.may_contain(&true).is_err() && int64.may_contain(&[0_u8; 8]).is_err());
    assert!(int64.may_contain_any(&["1"]).is_err() && int64.may_contain_each(&[1_i32]).is_err());
    let values = [vec![FixedLenByteArray::from(vec![7; 5])]];
    let column = "required fixed_len_byte_array(5) c";
    let fixed = opened(&file::<FixedLenByteArrayType>(column, &values, with_filters())).1;
    assert_eq!(fixed.may_contain(&[7_u8; 5]).unwrap(), [0]);
    assert_eq!(fixed.may_contain_any(&[vec![7_u8; 5]]).unwrap(), [0]);
    assert!(fixed.may_contain(&[7_u8; 4]).is_err() && fixed.may_contain("77777777").is_err());
    let values = [vec![Int96::from(vec![7, 8, 9])]];
    let int96 = opened(&file::<Int96Type>("required int96 c", &values, with_filters())).1;
    let twelve = [[7, 0, 0, 0], [8, 0, 0, 0], [9, 0, 0, 0]].concat();
    assert_eq!(int96.may_contain(&twelve).unwrap(), [0]);
    assert!(int96.may_contain("twelve bytes").is_err());
    assert!(int96.may_contain_any(&["twelve bytes".to_string()]).is_err());
    let values = [vec![ByteArray::from("plum")]];
    let text =
        opened(&file::<ByteArrayType>("required binary c (UTF8)", &values, with_filters())).1;
    assert_eq!(text.may_contain("plum").unwrap(), [0]);
    assert_eq!(text.may_contain_any(&[String::from("plum")]).unwrap(), [0]);
    assert_eq!(text.may_contain(b"plum").unwrap(), [0]);
    assert_eq!(text.may_contain(&ByteArray::from("plum")).unwrap(), [0]);
    assert!(
        text.may_contain(&ByteArray::new()).is_err()
            && fixed.may_contain(&FixedLenByteArray::default()).is_err()
    );
    assert!(FilterBuilder::new(10, 1.0).is_err() && FilterBuilder::new(10, f64::NAN).is_err());
}

/// Where a filter is missing, cut or unknown, every value may be.
#[test]
fn filters_that_cannot_be_read() {
    let row_groups: Vec<Vec<i64>> = (0..5).map(|i| vec![i]).collect();
    let good = file::<Int64Type>("required int64 c", &row_groups, with_filters());
    let (metadata, filters) = opened(&good);
    assert_eq!(filters.may_contain(&3_i64).unwrap(), [3]);
    let bytes = |i: usize| {
        let chunk = metadata.row_group(i).column(0);
        let (start, len) =
            (chunk.bloom_filter_offset().unwrap(), chunk.bloom_filter_length().unwrap());
        good.slice(start as usize..start as usize + len as usize)
    };
    let mut unknown = bytes(2).to_vec();
    let algorithm = unknown.iter().position(|&byte| byte == 0x1C).unwrap() + 1;
    unknown[algorithm] = 0x2C;
    let mut all: Vec<Option<Bytes>> = (0..5).map(|i| Some(bytes(i))).collect();
    all[0] = None;
    all[1] = Some(bytes(1).slice(..40));
    all[2] = Some(unknown.into());
    all[4] = Some(Bytes::from_static(&[0; 64]));
    let filters = ColumnFilters::of_bytes(&metadata, 0, all.clone()).unwrap();
    assert_eq!([0, 1, 2, 3, 4].map(|i| filters.has_filter(i)), [false, false, false, true, false]);
    assert_eq!(filters.may_contain(&3_i64).unwrap(), [0, 1, 2, 3, 4]);
    assert_eq!(filters.may_contain_any(&[7_i64, 8]).unwrap(), [0, 1, 2, 4]);
    assert_eq!(filters.may_contain_each(&[7_i64]).unwrap().row_groups(0).count(), 4);
    all.pop();
    assert!(ColumnFilters::of_bytes(&metadata, 0, all).is_err());
    assert!(ColumnFilters::read(&good, &metadata, 1).is_err());
    // A file that ends before its filters.
    let short = good.slice(..bytes(0).len());
    let filters = ColumnFilters::read(&short, &metadata, 0).unwrap();
    assert_eq!(filters.may_contain(&7_i64).unwrap(), [0, 1, 2, 3, 4]);
}

/// A file of three row groups.
fn three_row_groups() -> Bytes {
    let row_groups: Vec<Vec<i64>> =
        (0..3).map(|i| (0..3000).map(|j| 3 * j + i).collect()).collect();
    file::<Int64Type>("required int64 c", &row_groups, with_filters())
}

/// The same, but nothing says how long a filter is.
fn without_lengths(metadata: &ParquetMetaData) -> Result<ParquetMetaData> {
    let groups = metadata.row_groups().iter().map(|row_group| {
        let chunk =
            row_group.column(0).clone().into_builder().set_bloom_filter_length(None).build()?;
        row_group.clone().into_builder().set_column_metadata(vec![chunk]).build()
    });
    let groups = groups.collect::<Result<Vec<_>>>()?;
    Ok(ParquetMetaData::new(metadata.file_metadata().clone(), groups))
}

/// Older files do not say how long a filter is.
#[test]
fn filters_without_a_length() -> Result<()> {
    let good = three_row_groups();
    let (metadata, known) = opened(&good);
    let older = without_lengths(&metadata)?;
    let filters = ColumnFilters::read(&good, &older, 0)?;
    let asked: Vec<i64> = (0..12_000).collect();
    assert!((0..3).all(|i| filters.has_filter(i)));
    let (answers, expected) = (filters.may_contain_each(&asked)?, known.may_contain_each(&asked)?);
    assert!((0..3).all(|i| answers.values(i).eq(expected.values(i))));
    // Bits that go on behind the end of the file.
    let first = metadata.row_group(2).column(0).bloom_filter_offset().unwrap() as usize;
    let filters = ColumnFilters::read(&good.slice(..first + 2000), &older, 0)?;
    assert_eq!([0, 1, 2].map(|i| filters.has_filter(i)), [true, true, false]);
    Ok(())
}

/// A file whose row groups all name one filter does not make a reader keep that filter for each of them: those
/// that are kept fit into the file together, as filters do not overlap.
#[test]
fn filters_take_no_more_memory_than_the_file() -> Result<()> {
    let bytes = three_row_groups();
    let metadata = opened(&bytes).0;
    let len = metadata.row_group(1).column(0).bloom_filter_length().unwrap() as usize;
    assert!(len > ours::MAX_HEADER_LEN, "{len}");
    let path = std::env::temp_dir().join(format!("bloomline-room-{}", std::process::id()));
    std::fs::write(&path, &bytes)?;
    let file = std::fs::File::open(&path)?;
    for metadata in [without_lengths(&metadata)?, metadata] {
        let row_groups = vec![metadata.row_group(1).clone(); 10_000];
        let crafted = ParquetMetaData::new(metadata.file_metadata().clone(), row_groups);
        let filters = ColumnFilters::read(&file, &crafted, 0)?;
        let kept = (0..10_000).filter(|&i| filters.has_filter(i)).count();
        assert_eq!(kept, bytes.len() / len, "of {len} bytes in {}", bytes.len());
        // In the others everything may be.
        assert!(filters.may_contain(&2_i64)?.len() >= 10_000 - kept);
        assert_eq!(filters.may_contain(&1_i64)?.len(), 10_000);
    }
    drop(file);
    std::fs::remove_file(&path)?;
    Ok(())
}
