//! Filters for a writer of Arrow's columns: through `ArrowColumnChunk::close_mut`.

use super::*;
use arrow_array::{ArrayRef, Int64Array, StringArray};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowSchemaConverter;
use parquet::arrow::arrow_writer::{ArrowRowGroupWriterFactory, compute_leaves};

const ROWS: i64 = 500;

/// One row in seven is null.
fn id(group: i64, row: i64) -> Option<i64> {
    (row % 7 != 0).then_some(1000 * group + row)
}

/// A file of three row groups of ids and names, with filters made here.
fn written() -> Result<Bytes> {
    let field = |(name, of)| Field::new(name, of, true);
    let schema = Schema::new([("i", DataType::Int64), ("s", DataType::Utf8)].map(field).to_vec());
    let properties = WriterPropertiesPtr::default(); // without filters of its own
    let converted = ArrowSchemaConverter::new().convert(&schema)?;
    let mut bytes = Vec::new();
    let mut writer =
        SerializedFileWriter::new(&mut bytes, converted.root_schema_ptr(), properties)?;
    let factory = ArrowRowGroupWriterFactory::new(&writer, Arc::new(schema.clone()));
    for group in 0..3 {
        let ids: Vec<Option<i64>> = (0..ROWS).map(|row| id(group, row)).collect();
        let names: Vec<Option<String>> =
            ids.iter().map(|id| id.map(|id| format!("s{id}"))).collect();
        let arrays: [ArrayRef; 2] =
            [Arc::new(Int64Array::from(ids.clone())), Arc::new(StringArray::from(names.clone()))];
        let columns = factory.create_column_writers(group as usize)?;
        let mut row_group = writer.next_row_group()?;
        for (number, (mut column, array)) in columns.into_iter().zip(&arrays).enumerate() {
            for leaf in compute_leaves(schema.field(number), array)? {
                column.write(&leaf)?;
            }
            let mut chunk = column.close()?;
            assert!(chunk.close().bloom_filter.is_none());
            let of = chunk.close().metadata.column_descr_ptr();
            let mut filter = FilterBuilder::new(ROWS as u64, 0.01)?;
            match number {
                0 => filter.insert(&of, &ids.iter().flatten().collect::<Vec<_>>())?,
                _ => filter.insert(&of, &names.iter().flatten().collect::<Vec<_>>())?,
            }
            chunk.close_mut().bloom_filter = Some(filter.finish()?);
            chunk.append_to_row_group(&mut row_group)?;
        }
        row_group.close()?;
    }
    writer.close()?;
    Ok(bytes.into())
}

#[test]
fn filters_are_written_through_arrows_chunks() -> Result<()> {
    let file = written()?;
    let metadata = SerializedFileReader::new(file.clone())?.metadata().clone();
    for number in 0..2 {
        let filters = ColumnFilters::read(&file, &metadata, number)?;
        let mut absent = 0;
        for group in 0..3 {
            assert!(filters.has_filter(group));
            let chunk = metadata.row_group(group).column(number);
            let theirs = Sbbf::read_from_column_chunk(chunk, &file)?.unwrap();
            for asked in 0..4000_i64 {
                let name = format!("s{asked}");
                let (ours, theirs) = match number {
                    0 => (filters.may_contain(&asked)?, theirs.check(&asked)),
                    _ => (filters.may_contain(&name)?, theirs.check(name.as_str())),
                };
                assert_eq!(ours.contains(&group), theirs, "{asked} of column {number}");
                let row = asked - 1000 * group as i64;
                let stored = (0..ROWS).contains(&row) && id(group as i64, row).is_some();
                assert!(theirs || !stored, "lost {asked} of column {number}");
                absent += usize::from(!theirs);
            }
        }
        assert!(absent > 10_000, "{absent}");
    }
    Ok(())
}
