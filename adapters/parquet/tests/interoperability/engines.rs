//! Filters that pyarrow and DuckDB wrote, and what DuckDB and pyarrow's Parquet C++ say of those that are made here.
//! `BLOOMLINE_PYTHON` names a Python that has both; without it nothing is tested, which the output says.

use super::*;
use crate::every_type::lost_nothing;
use std::path::{Path, PathBuf};
use std::process::Command;

const KEYS: usize = 400;

/// The number that stands for a key, as in `engines.py`.
fn number(key: usize) -> i64 {
    key as i64 * 7919 - 1_000_000
}

fn python(arguments: &[&str]) -> Option<String> {
    let python = std::env::var_os("BLOOMLINE_PYTHON").filter(|python| !python.is_empty())?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interoperability/engines.py");
    Some(output(Command::new(python).arg(script).args(arguments)))
}

fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Where the files are, and the program that asks Parquet C++, if it can be made.
struct Engines {
    directory: PathBuf,
    parquet_cpp: Option<PathBuf>,
}

impl Engines {
    fn path(&self, name: &str) -> String {
        self.directory.join(name).to_str().unwrap().to_string()
    }

    /// Tests a column of one of their files, and what they say of a file with filters made here.
    fn column<T: DataType>(&self, number: usize, column: &str, value: impl Fn(usize) -> T::T)
    where
        T::T: Value,
    {
        let name = column.split_whitespace().nth(2).unwrap();
        for file in ["pyarrow.parquet", "duckdb.parquet"] {
            self.compare(&self.path(file), number, name, &value);
        }
        let row_groups =
            [0, 1, 2].map(|i| (KEYS * i..KEYS * (i + 1)).map(&value).collect::<Vec<_>>());
        let plain = file::<T>(column, &row_groups, WriterProperties::default());
        let path = self.path("ours.parquet");
        std::fs::write(&path, rewritten(&plain, &row_groups, 0.05)).unwrap();
        self.compare(&path, 0, name, value);
    }

    /// What each says of keys: a line for a key, of the row groups that it may be in.
    fn answers(&self, path: &str, name: &str, keys: &[usize]) -> Vec<(&str, String)> {
        let words: Vec<String> = keys.iter().map(usize::to_string).collect();
        let mut arguments = vec![path, name];
        arguments.extend(words.iter().map(String::as_str));
        let mut answers = Vec::new();
        if let Some(program) = &self.parquet_cpp {
            answers.push(("Parquet C++", output(Command::new(program).args(&arguments))));
        }
        arguments.insert(0, "probe");
        answers.push(("DuckDB", python(&arguments).unwrap()));
        answers
    }

    /// Asks for every value of a file of theirs, of columns of all types. So many of these have no filter.
    fn types(&self, name: &str, without: usize) {
        let file = Bytes::from(std::fs::read(self.path(name)).unwrap());
        let reader = SerializedFileReader::new(file.clone()).unwrap();
        let columns = reader.metadata().file_metadata().schema_descr().num_columns();
        let asked: Vec<_> = (0..columns).map(|column| lost_nothing(&file, column)).collect();
        assert_eq!(asked.iter().filter(|asked| asked.is_none()).count(), without, "{name}");
        assert!(asked.iter().flatten().all(|&asked| asked > 2000), "{name}: {asked:?}");
    }

    /// What a column's filters say of keys here, and there.
    fn compare<V: Value>(&self, path: &str, column: usize, name: &str, value: impl Fn(usize) -> V) {
        let file = Bytes::from(std::fs::read(path).unwrap());
        let reader = SerializedFileReader::new(file.clone()).unwrap();
        let filters = ColumnFilters::read(&file, reader.metadata(), column).unwrap();
        let row_groups = filters.row_groups();
        assert!(
            (0..row_groups).all(|i| filters.has_filter(i)),
            "{path}, {name}: a filter is missing"
        );
        for key in 0..row_groups * KEYS {
            let found = filters.may_contain(&value(key)).unwrap();
            assert!(found.contains(&(key / KEYS)), "{path}, {name}: key {key} is lost");
        }
        let keys: Vec<usize> = (0..2 * row_groups * KEYS).step_by(31).collect();
        for (engine, theirs) in self.answers(path, name, &keys) {
            assert_eq!(theirs.lines().count(), keys.len(), "{engine}");
            let mut absent = 0;
            for (&key, line) in keys.iter().zip(theirs.lines()) {
                let expected: Vec<usize> =
                    line.split_whitespace().map(|i| i.parse().unwrap()).collect();
                let found = filters.may_contain(&value(key)).unwrap();
                assert_eq!(found, expected, "{engine} on {path}, {name}: key {key}");
                absent += row_groups - expected.len();
            }
            let enough = row_groups * keys.len() / 2;
            assert!(absent > enough, "{engine} on {path}, {name}: little is absent");
        }
    }
}

#[test]
fn pyarrow_and_duckdb() {
    let directory = std::env::temp_dir().join(format!("bloomline-parquet-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let Some(versions) = python(&["write", directory.to_str().unwrap()]) else {
        println!("not tested: BLOOMLINE_PYTHON names no Python with pyarrow and duckdb");
        return std::fs::remove_dir(&directory).unwrap();
    };
    println!("{versions}");
    let program = directory.join("parquet_cpp");
    let missing = python(&["compile", program.to_str().unwrap()]).unwrap();
    if !missing.is_empty() {
        println!("Parquet C++ is not asked: {missing}");
    }
    let engines = Engines { directory, parquet_cpp: missing.is_empty().then_some(program) };

    engines.column::<Int64Type>(0, "required int64 i", number);
    engines.column::<Int32Type>(1, "required int32 n", |key| number(key) as i32);
    engines.column::<DoubleType>(2, "required double d", |key| number(key) as f64 / 8.0);
    engines.column::<FloatType>(3, "required float f", |key| number(key) as f32 / 8.0);
    engines.column::<ByteArrayType>(4, "required binary s (UTF8)", |key| {
        ByteArray::from(format!("s{}", number(key)).as_str())
    });
    engines.column::<FixedLenByteArrayType>(
        5,
        "required fixed_len_byte_array(16) u (UUID)",
        |key| FixedLenByteArray::from(i128::from(number(key)).to_be_bytes().to_vec()),
    );
    for name in ["pyarrow", "pyarrow-plain", "pyarrow-pages"] {
        engines.types(&format!("types-{name}.parquet"), 0);
    }
    // DuckDB gives no filter to decimals of 128 bits, nor to enumerations.
    engines.types("types-duckdb.parquet", 1);
    engines.types("types-duckdb-sql.parquet", 2);
    std::fs::remove_dir_all(&engines.directory).unwrap();
}
