//! Filters that pyarrow and DuckDB wrote, and what DuckDB says of those that are made here. `BLOOMLINE_PYTHON`
//! names a Python that has both; without it nothing is tested, which the output says.

use super::*;
use std::path::Path;
use std::process::Command;

const KEYS: usize = 400;

/// The number that stands for a key, as in `engines.py`.
fn number(key: usize) -> i64 {
    key as i64 * 7919 - 1_000_000
}

fn python(arguments: &[&str]) -> Option<String> {
    let python = std::env::var_os("BLOOMLINE_PYTHON").filter(|python| !python.is_empty())?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interoperability/engines.py");
    let output = Command::new(python).arg(script).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

/// What a column's filters say of keys here, and in DuckDB.
fn compare<V: Value>(path: &str, column: usize, name: &str, value: impl Fn(usize) -> V) {
    let file = Bytes::from(std::fs::read(path).unwrap());
    let reader = SerializedFileReader::new(file.clone()).unwrap();
    let filters = ColumnFilters::read(&file, reader.metadata(), column).unwrap();
    let row_groups = filters.row_groups();
    assert!((0..row_groups).all(|i| filters.has_filter(i)), "{path}, {name}: a filter is missing");
    for key in 0..row_groups * KEYS {
        let found = filters.may_contain(&value(key)).unwrap();
        assert!(found.contains(&(key / KEYS)), "{path}, {name}: key {key} is lost");
    }
    let keys: Vec<usize> = (0..2 * row_groups * KEYS).step_by(31).collect();
    let words: Vec<String> = keys.iter().map(usize::to_string).collect();
    let mut arguments = vec!["probe", path, name];
    arguments.extend(words.iter().map(String::as_str));
    let theirs = python(&arguments).unwrap();
    assert_eq!(theirs.lines().count(), keys.len());
    let mut absent = 0;
    for (&key, line) in keys.iter().zip(theirs.lines()) {
        let expected: Vec<usize> = line.split_whitespace().map(|i| i.parse().unwrap()).collect();
        assert_eq!(
            filters.may_contain(&value(key)).unwrap(),
            expected,
            "{path}, {name}: key {key}"
        );
        absent += row_groups - expected.len();
    }
    assert!(absent > row_groups * keys.len() / 2, "{path}, {name}: little is absent");
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
    let path = |name: &str| directory.join(name).to_str().unwrap().to_string();
    for name in ["pyarrow.parquet", "duckdb.parquet"] {
        compare(&path(name), 0, "i", number);
        compare(&path(name), 1, "n", |key| number(key) as i32);
        compare(&path(name), 2, "d", |key| number(key) as f64 / 8.0);
        compare(&path(name), 3, "s", |key| format!("s{}", number(key)));
    }

    let row_groups = [0, 1, 2].map(|i| (0..KEYS).map(|key| number(KEYS * i + key)).collect());
    let plain = file::<Int64Type>("required int64 i", &row_groups, WriterProperties::default());
    std::fs::write(path("ours.parquet"), rewritten(&plain, &row_groups, 0.05)).unwrap();
    compare(&path("ours.parquet"), 0, "i", number);
    let text = |numbers: &Vec<i64>| -> Vec<ByteArray> {
        numbers.iter().map(|number| ByteArray::from(format!("s{number}").as_str())).collect()
    };
    let row_groups: Vec<_> = row_groups.iter().map(text).collect();
    let column = "required binary s (UTF8)";
    let plain = file::<ByteArrayType>(column, &row_groups, WriterProperties::default());
    std::fs::write(path("ours.parquet"), rewritten(&plain, &row_groups, 0.05)).unwrap();
    compare(&path("ours.parquet"), 0, "s", |key| format!("s{}", number(key)));
    std::fs::remove_dir_all(&directory).unwrap();
}
