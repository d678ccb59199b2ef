//! Columns whose bytes stand for something else: what a query takes for equal is not absent, and text is no number.
//! Filters that are another file's, that a writer made otherwise, that several threads read.

use super::*;
use std::io::{Seek, SeekFrom};

/// A file of these row groups with filters made here, opened.
fn of_file<T: DataType>(column: &str, row_groups: &[Vec<T::T>]) -> ColumnFilters
where
    T::T: Value,
{
    let plain = file::<T>(column, row_groups, WriterProperties::default());
    opened(&rewritten(&plain, row_groups, 0.0001)).1
}

/// A `FLOAT16` is as the other floats, whatever type its two bytes have.
#[test]
fn zeros_and_nans_of_16_bits() -> Result<()> {
    let [zero, minus_zero, other, nan] = [0_u16, 0x8000, 0x3E00, 0x7E00].map(u16::to_le_bytes);
    let of = |bytes: [u8; 2]| FixedLenByteArray::from(bytes.to_vec());
    let row_groups = [zero, minus_zero, other, nan].map(|bytes| vec![of(bytes)]);
    let column = "required fixed_len_byte_array(2) c (FLOAT16)";
    let filters = of_file::<FixedLenByteArrayType>(column, &row_groups);
    for bytes in [zero, minus_zero] {
        assert_eq!(filters.may_contain(&bytes)?, [0, 1]);
        assert_eq!(filters.may_contain(bytes.as_slice())?, [0, 1]);
        assert_eq!(filters.may_contain(&of(bytes))?, [0, 1]);
        assert_eq!(filters.may_contain_any(&[other.to_vec(), bytes.to_vec()])?, [0, 1, 2]);
        let answers = filters.may_contain_each(&[&other, &bytes])?;
        assert_eq!(answers.row_groups(0).collect::<Vec<_>>(), [2]);
        assert_eq!(answers.row_groups(1).collect::<Vec<_>>(), [0, 1]);
    }
    // Of either sign, quiet or not; the infinities next to them are numbers.
    for bits in [0x7E00_u16, 0xFE00, 0x7C01, 0xFFFF] {
        assert_eq!(filters.may_contain(&bits.to_le_bytes())?, [0, 1, 2, 3], "{bits:x}");
    }
    assert_eq!(filters.may_contain(&0x7C00_u16.to_le_bytes())?.len(), 0);
    // Other columns of two bytes have no zeros.
    let bytes = of_file::<FixedLenByteArrayType>("required fixed_len_byte_array(2) c", &row_groups);
    assert_eq!(bytes.may_contain(&minus_zero)?, [1]);
    assert_eq!(bytes.may_contain(&nan)?, [3]);
    Ok(())
}

/// Text of the right length would be absent everywhere from a column of numbers.
#[test]
fn numbers_are_no_text() -> Result<()> {
    let value = [b'7'; 12];
    let of_fixed = |column: &str, len: usize| {
        let values = [vec![FixedLenByteArray::from(value[..len].to_vec())]];
        of_file::<FixedLenByteArrayType>(&format!("required {column}"), &values)
    };
    let of_any = |column: &str, len: usize| {
        let values = [vec![ByteArray::from(value[..len].to_vec())]];
        of_file::<ByteArrayType>(&format!("required {column}"), &values)
    };
    let twelve = String::from("777777777777");
    for (filters, text) in [
        (of_any("binary c (DECIMAL(9, 2))", 4), "7777"),
        (of_any("binary c (BSON)", 4), "7777"),
        (of_fixed("fixed_len_byte_array(4) c (DECIMAL(9, 2))", 4), "7777"),
        (of_fixed("fixed_len_byte_array(2) c (FLOAT16)", 2), "77"),
        (of_fixed("fixed_len_byte_array(12) c (INTERVAL)", 12), &twelve),
    ] {
        assert_eq!(filters.may_contain(text.as_bytes())?, [0]);
        let message = filters.may_contain(text).unwrap_err().to_string();
        assert!(message.contains("BYTE_ARRAY") && message.contains(" for "), "{message}");
        assert!(filters.may_contain_any(&[text.to_string()]).is_err());
        assert!(filters.may_contain_each(&[text]).is_err());
    }
    let uuid = vec![FixedLenByteArray::from(vec![b'7'; 16])];
    let uuid =
        of_file::<FixedLenByteArrayType>("required fixed_len_byte_array(16) c (UUID)", &[uuid]);
    assert_eq!(uuid.may_contain(&[b'7'; 16])?, [0]);
    assert!(uuid.may_contain("7777777777777777").is_err());
    for filters in [
        of_any("binary c", 4),
        of_any("binary c (UTF8)", 4),
        of_any("binary c (ENUM)", 4),
        of_any("binary c (JSON)", 4),
        of_fixed("fixed_len_byte_array(4) c", 4),
    ] {
        assert_eq!(filters.may_contain("7777")?, [0]);
        assert_eq!(filters.may_contain("7778")?.len(), 0);
    }
    Ok(())
}

/// A `_metadata` file names the row groups of other files: at their offsets this file has other filters.
#[test]
fn row_groups_of_other_files() -> Result<()> {
    let part = |first: i64| {
        file::<Int64Type>("required int64 c", &[vec![first, first + 1]], with_filters())
    };
    let parts = [part(10), part(20)];
    let metadata = opened(&parts[0]).0;
    let groups = ["", "part-1.parquet"].iter().zip(&parts).map(|(path, part)| {
        let row_group = opened(part).0.row_group(0).clone();
        let chunk = row_group.column(0).clone().into_builder().set_file_path(path.to_string());
        row_group.into_builder().set_column_metadata(vec![chunk.build()?]).build()
    });
    let groups = groups.collect::<Result<Vec<_>>>()?;
    assert_eq!(
        groups[0].column(0).bloom_filter_offset(),
        groups[1].column(0).bloom_filter_offset(),
        "the wrong filter can be read"
    );
    let summary = ParquetMetaData::new(metadata.file_metadata().clone(), groups);
    let filters = ColumnFilters::read(&parts[0], &summary, 0)?;
    assert_eq!([filters.has_filter(0), filters.has_filter(1)], [true, false]);
    assert_eq!(filters.may_contain(&10_i64)?, [0, 1]);
    assert_eq!(filters.may_contain(&20_i64)?, [1], "a value is lost");
    Ok(())
}

/// parquet-go hashes truth values eight at a time, so its filter of these lacks both.
#[test]
fn truth_values_of_other_writers() -> Result<()> {
    let values = [vec![true, false]];
    let of = |writer: &str| {
        let properties = WriterProperties::builder().set_created_by(writer.to_string());
        file::<BoolType>("required boolean c", &values, properties.build())
    };
    for (writer, is_believed) in [
        ("parquet-rs version 60.1.0", true),
        ("github.com/parquet-go/parquet-go version 0.32.0(build )", false),
        ("parquet-cpp-arrow version 26.0.1", false),
        ("", false),
    ] {
        let metadata = opened(&of(writer)).0;
        assert_eq!(metadata.file_metadata().created_by(), Some(writer));
        let mut filter = Sbbf::new(&[0; 32]);
        filter.insert(&[0b01_u8][..]);
        let bytes = Some(Bytes::from(bytes_of(&filter)));
        let filters = ColumnFilters::of_bytes(&metadata, 0, vec![bytes])?;
        assert_eq!(filters.has_filter(0), is_believed, "{writer}");
        assert_eq!(filters.may_contain(&false)?.is_empty(), is_believed, "{writer}");
    }
    Ok(())
}

/// A filter of an encrypted column begins with the length of its encrypted header, which is no header.
#[test]
fn encrypted_filters_say_nothing() -> Result<()> {
    let values = [vec![1_i64]];
    let metadata = opened(&file::<Int64Type>("required int64 c", &values, with_filters())).0;
    // A nonce of 12 bytes, a header of 15 to 19 and a tag of 16; then the bits.
    for header_len in 15..=19_u32 {
        for seed in 0..200 {
            let mut bytes = (12 + header_len + 16).to_le_bytes().to_vec();
            bytes.extend((0..200).flat_map(|i| random(1000 * seed + i).to_le_bytes()));
            let filters = ColumnFilters::of_bytes(&metadata, 0, vec![Some(bytes.into())])?;
            assert!(!filters.has_filter(0));
            assert_eq!(filters.may_contain(&1_i64)?, [0]);
        }
    }
    Ok(())
}

/// Several threads read one file and its clones, which share a position: no filter is taken for another.
#[test]
fn files_are_read_by_several_threads() -> Result<()> {
    let row_groups: Vec<Vec<i64>> = (0..40).map(|i| (100 * i..100 * (i + 1)).collect()).collect();
    let bytes = file::<Int64Type>("required int64 c", &row_groups, with_filters());
    let known = opened(&bytes).0;
    let path = std::env::temp_dir().join(format!("bloomline-threads-{}", std::process::id()));
    std::fs::write(&path, &bytes)?;
    let mut file = std::fs::File::open(&path)?;
    for metadata in [without_lengths(&known)?, known] {
        file.seek(SeekFrom::Start(7))?;
        ColumnFilters::read(&file, &metadata, 0)?;
        assert_eq!(file.stream_position()?, 7, "others read from here on");
        let read = |file: &std::fs::File| {
            for _ in 0..100 {
                let filters = ColumnFilters::read(file, &metadata, 0).unwrap();
                for (i, values) in row_groups.iter().enumerate() {
                    assert!(filters.has_filter(i));
                    let found = filters.may_contain(&values[3]).unwrap();
                    assert!(found.contains(&i), "lost {} of {i}", values[3]);
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..3 {
                let clone = file.try_clone().unwrap();
                scope.spawn(move || read(&clone));
            }
            read(&file);
        });
    }
    drop(file);
    std::fs::remove_file(&path)?;
    Ok(())
}
