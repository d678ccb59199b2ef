//! No value of a file is lost, whatever the type of its column: each is read from its pages and asked for. The files
//! are those of the crate, of columns of Arrow, and in `engines.rs` those of other engines.

use super::*;
use arrow_array::builder::*;
use arrow_array::types::*;
use arrow_array::*;
use arrow_schema::{DataType as ArrowType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::file::properties::WriterVersion;

/// Asks the filters of a column for all of its values, of all row groups. Returns how many there were, or none if
/// no row group has a filter.
pub fn lost_nothing(file: &Bytes, column: usize) -> Option<usize> {
    let reader = SerializedFileReader::new(file.clone()).unwrap();
    let filters = ColumnFilters::read(file, reader.metadata(), column).unwrap();
    let name = reader.metadata().file_metadata().schema_descr().column(column).path().string();
    let (mut asked, mut has_filter) = (0, false);
    for group in (0..filters.row_groups()).filter(|&group| filters.has_filter(group)) {
        has_filter = true;
        asked += match reader.get_row_group(group).unwrap().get_column_reader(column).unwrap() {
            ColumnReader::BoolColumnReader(of) => all_found(&filters, group, of, &name),
            ColumnReader::Int32ColumnReader(of) => all_found(&filters, group, of, &name),
            ColumnReader::Int64ColumnReader(of) => all_found(&filters, group, of, &name),
            ColumnReader::Int96ColumnReader(of) => all_found(&filters, group, of, &name),
            ColumnReader::FloatColumnReader(of) => all_found(&filters, group, of, &name),
            ColumnReader::DoubleColumnReader(of) => all_found(&filters, group, of, &name),
            ColumnReader::ByteArrayColumnReader(of) => all_found(&filters, group, of, &name),
            ColumnReader::FixedLenByteArrayColumnReader(of) => {
                all_found(&filters, group, of, &name)
            }
        };
    }
    has_filter.then_some(asked)
}

fn all_found<T: DataType>(
    filters: &ColumnFilters,
    group: usize,
    mut column: ColumnReaderImpl<T>,
    name: &str,
) -> usize
where
    T::T: Value,
{
    let (mut values, mut definitions, mut repetitions) = (vec![], vec![], vec![]);
    loop {
        let levels = (Some(&mut definitions), Some(&mut repetitions));
        let (records, ..) = column.read_records(1000, levels.0, levels.1, &mut values).unwrap();
        if records == 0 {
            break;
        }
    }
    let answers = filters.may_contain_each(&values).unwrap();
    for (i, value) in values.iter().enumerate() {
        assert!(answers.get(group, i), "{name}: {value:?} of row group {group} is lost");
        assert!(filters.may_contain(value).unwrap().contains(&group), "{name}: {value:?}");
    }
    values.len()
}

/// Number `row` of a column: one in nine is null, the first ones are the ends of 64 bits, and many repeat.
fn number(row: usize) -> Option<i64> {
    let ends = [0, -1, i64::MAX, i64::MIN, 1 << 31, -1 << 31, 1 << 15, 255];
    let any = || random(row as u64 % 700) as i64;
    (row % 9 != 8).then(|| ends.get(row).copied().unwrap_or_else(any))
}

fn primitive<T: ArrowPrimitiveType>(rows: usize, value: impl Fn(i64) -> T::Native) -> ArrayRef {
    let values = (0..rows).map(|row| number(row).map(&value));
    Arc::new(values.collect::<PrimitiveArray<T>>())
}

fn text(row: usize) -> Option<String> {
    number(row).map(|number| number.to_string().repeat(row % 4))
}

/// Half floats of any bits.
fn float16(rows: usize) -> ArrayRef {
    type Half = <Float16Type as ArrowPrimitiveType>::Native;
    primitive::<Float16Type>(rows, |number| Half::from_bits(number as u16))
}

fn fixed(rows: usize, width: usize) -> ArrayRef {
    let bytes = |row| number(row).map(|number| number.to_be_bytes().repeat(3)[..width].to_vec());
    let values = (0..rows).map(bytes);
    Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(values, width as i32).unwrap())
}

/// Arrays that name their values by numbers, in other orders than they come.
fn indirect(rows: usize) -> Vec<(&'static str, ArrayRef)> {
    let words: Vec<String> = (0..100).map(|i| format!("word {}", random(i))).collect();
    let keys = |row: usize| number(row).map(|number| number.rem_euclid(100) as i8);
    let keys: Int8Array = (0..rows).map(keys).collect();
    let of =
        |values: ArrayRef| -> ArrayRef { Arc::new(DictionaryArray::new(keys.clone(), values)) };
    let some = words.iter().enumerate().map(|(i, word)| (i % 7 != 6).then_some(word));
    let long: Vec<i64> = (0..100).map(|i| random(i) as i64).collect();
    let ends =
        (1..=rows as i32 / 3).map(|run| if run == rows as i32 / 3 { rows as i32 } else { 3 * run });
    let runs: StringArray = (0..rows / 3).map(text).collect();
    vec![
        ("dictionary of text", of(Arc::new(StringArray::from_iter(some)))),
        ("dictionary of large text", of(Arc::new(LargeStringArray::from(words.clone())))),
        ("dictionary of views", of(Arc::new(StringViewArray::from_iter_values(&words)))),
        ("dictionary of INT64", of(Arc::new(Int64Array::from(long)))),
        ("dictionary of fixed bytes", of(fixed(100, 5))),
        ("runs", Arc::new(RunArray::try_new(&Int32Array::from_iter_values(ends), &runs).unwrap())),
    ]
}

fn nested(rows: usize) -> Vec<(&'static str, ArrayRef)> {
    let mut lists = ListBuilder::new(Int32Builder::new());
    for row in 0..rows {
        (0..row % 4).for_each(|i| {
            lists.values().append_option(number(row + i).map(|number| number as i32));
        });
        lists.append(row % 5 != 0);
    }
    let field = |name, of| Arc::new(Field::new(name, of, true));
    let parts: Vec<(Arc<Field>, ArrayRef)> = vec![
        (field("a", ArrowType::Int16), primitive::<Int16Type>(rows, |x| x as i16)),
        (field("b", ArrowType::Utf8), Arc::new((0..rows).map(text).collect::<StringArray>())),
    ];
    vec![("list", Arc::new(lists.finish())), ("struct", Arc::new(StructArray::from(parts)))]
}

fn columns(rows: usize) -> Vec<(&'static str, ArrayRef)> {
    let texts: Vec<Option<String>> = (0..rows).map(text).collect();
    let bytes: Vec<Option<&[u8]>> =
        texts.iter().map(|text| text.as_ref().map(|text| text.as_bytes())).collect();
    let truths: BooleanArray = (0..rows).map(|row| number(row).map(|x| x & 1 == 1)).collect();
    let day = |x: i64| x.rem_euclid(86_400);
    let small = |x: i64| x % 1_000_000;
    let wide = |x: i64| i256_of(x);
    let mut columns: Vec<(&str, ArrayRef)> = vec![
        ("i8", primitive::<Int8Type>(rows, |x| x as i8)),
        ("i16", primitive::<Int16Type>(rows, |x| x as i16)),
        ("i32", primitive::<types::Int32Type>(rows, |x| x as i32)),
        ("i64", primitive::<types::Int64Type>(rows, |x| x)),
        ("u8", primitive::<UInt8Type>(rows, |x| x as u8)),
        ("u16", primitive::<UInt16Type>(rows, |x| x as u16)),
        ("u32", primitive::<UInt32Type>(rows, |x| x as u32)),
        ("u64", primitive::<UInt64Type>(rows, |x| x as u64)),
        ("f16", float16(rows)),
        ("f32", primitive::<Float32Type>(rows, |x| f32::from_bits(x as u32))),
        ("f64", primitive::<Float64Type>(rows, |x| f64::from_bits(x as u64))),
        ("date32", primitive::<Date32Type>(rows, |x| x as i32)),
        ("date64", primitive::<Date64Type>(rows, |x| x % 100_000 * 86_400_000)),
        ("time s", primitive::<Time32SecondType>(rows, |x| day(x) as i32)),
        ("time ms", primitive::<Time32MillisecondType>(rows, |x| day(x) as i32)),
        ("time us", primitive::<Time64MicrosecondType>(rows, day)),
        ("time ns", primitive::<Time64NanosecondType>(rows, day)),
        ("stamp s", primitive::<TimestampSecondType>(rows, small)),
        ("stamp ms", primitive::<TimestampMillisecondType>(rows, |x| x)),
        ("stamp us", primitive::<TimestampMicrosecondType>(rows, |x| x)),
        ("stamp ns", primitive::<TimestampNanosecondType>(rows, |x| x)),
        ("duration", primitive::<DurationNanosecondType>(rows, |x| x)),
        ("months", primitive::<IntervalYearMonthType>(rows, |x| x as i32)),
        ("decimal32", primitive::<Decimal32Type>(rows, |x| small(x) as i32)),
        ("decimal64", primitive::<Decimal64Type>(rows, small)),
        ("decimal128", primitive::<Decimal128Type>(rows, i128::from)),
        ("decimal256", primitive::<Decimal256Type>(rows, wide)),
        ("truth", Arc::new(truths)),
        ("text", Arc::new(StringArray::from(texts.clone()))),
        ("large text", Arc::new(LargeStringArray::from(texts.clone()))),
        ("text view", Arc::new(StringViewArray::from_iter(texts.clone()))),
        ("bytes", Arc::new(BinaryArray::from(bytes.clone()))),
        ("large bytes", Arc::new(LargeBinaryArray::from(bytes.clone()))),
        ("bytes view", Arc::new(BinaryViewArray::from_iter(bytes))),
        ("fixed bytes", fixed(rows, 17)),
    ];
    columns.extend(indirect(rows));
    columns.extend(nested(rows));
    columns
}

fn i256_of(x: i64) -> <Decimal256Type as ArrowPrimitiveType>::Native {
    <Decimal256Type as ArrowPrimitiveType>::Native::from_i128(i128::from(x) << 60)
}

/// With and without dictionaries, with such that grow too large, in short pages, from slices of arrays.
#[test]
fn arrows_columns() {
    let rows = 3000;
    let columns = columns(rows);
    let fields: Vec<Field> = columns
        .iter()
        .map(|(name, array)| Field::new(*name, array.data_type().clone(), true))
        .collect();
    let schema = Arc::new(Schema::new(fields));
    let arrays = columns.iter().map(|(_, array)| array.clone()).collect();
    let batch = RecordBatch::try_new(schema.clone(), arrays).unwrap();
    for dictionary in [0, 300, 1 << 20] {
        let properties = WriterProperties::builder()
            .set_bloom_filter_enabled(true)
            .set_dictionary_enabled(dictionary > 0)
            .set_dictionary_page_size_limit(dictionary)
            .set_data_page_row_count_limit(100)
            .set_statistics_truncate_length(Some(1))
            .set_writer_version(match dictionary {
                300 => WriterVersion::PARQUET_2_0,
                _ => WriterVersion::PARQUET_1_0,
            });
        let mut bytes = Vec::new();
        let mut writer =
            ArrowWriter::try_new(&mut bytes, schema.clone(), Some(properties.build())).unwrap();
        for first in [0, 700, 1800] {
            for part in [first, first + 350] {
                writer.write(&batch.slice(part, 350)).unwrap();
            }
            writer.flush().unwrap();
        }
        writer.close().unwrap();
        let file = Bytes::from(bytes);
        let leaves = columns.len() + 1; // the struct has two
        for leaf in 0..leaves {
            let asked = lost_nothing(&file, leaf).expect("a filter");
            assert!(asked > 900, "column {leaf}: {asked}");
        }
    }
}
