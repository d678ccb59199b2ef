//! Keys of every type, joins of every type.

use crate::table::{Session, joined, read, rows, text, write};
use crate::{JOIN_TYPES, Random};
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, FixedSizeBinaryArray, Float64Array, Int64Array,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int64Type, TimeUnit};
use datafusion::common::{JoinType, NullEquality};
use datafusion::logical_expr::LogicalPlanBuilder;
use datafusion::prelude::DataFrame;
use std::sync::Arc;

/// Types of keys, and whether a filter takes them.
fn types() -> Vec<(DataType, bool)> {
    let dictionary = |values| DataType::Dictionary(Box::new(DataType::Int16), Box::new(values));
    let taken = [
        DataType::Int8,
        DataType::Int16,
        DataType::Int32,
        DataType::Int64,
        DataType::UInt8,
        DataType::UInt16,
        DataType::UInt32,
        DataType::UInt64,
        DataType::Float32,
        DataType::Float64,
        DataType::Decimal32(7, 1),
        DataType::Decimal64(12, 2),
        DataType::Decimal128(20, 3),
        DataType::Decimal256(50, 4),
        DataType::Date32,
        DataType::Date64,
        DataType::Time32(TimeUnit::Second),
        DataType::Time64(TimeUnit::Nanosecond),
        DataType::Timestamp(TimeUnit::Millisecond, None),
        DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into())),
        DataType::Utf8,
        DataType::LargeUtf8,
        DataType::Utf8View,
        DataType::Binary,
        DataType::LargeBinary,
        DataType::BinaryView,
        DataType::FixedSizeBinary(5),
        dictionary(DataType::Utf8),
        // Of integers DataFusion itself cannot join.
        dictionary(DataType::Float64),
    ];
    taken.map(|taken| (taken, true)).into_iter().chain([(DataType::Boolean, false)]).collect()
}

/// Ids as keys of a type: equal if they are.
pub fn keys(ids: &[Option<i64>], of: &DataType) -> ArrayRef {
    let numbers: ArrayRef = Arc::new(Int64Array::from(ids.to_vec()));
    match of {
        DataType::Boolean => {
            let bits = ids.iter().map(|id| id.map(|id| id % 2));
            cast(&(Arc::new(bits.collect::<Int64Array>()) as ArrayRef), of).unwrap()
        }
        DataType::Date32 | DataType::Time32(_) => {
            cast(&cast(&numbers, &DataType::Int32).unwrap(), of).unwrap()
        }
        DataType::FixedSizeBinary(size) => {
            let width = *size as usize;
            let ids = ids.iter().map(|id| id.map(|id| format!("{id:0>width$}").into_bytes()));
            Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(ids, *size).unwrap())
        }
        // Some of these are longer than what a view holds itself.
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            let id = |id: &Option<i64>| id.map(|id| "k".repeat(id as usize % 20) + &id.to_string());
            let text: datafusion::arrow::array::StringArray = ids.iter().map(id).collect();
            cast(&(Arc::new(text) as ArrayRef), of).unwrap()
        }
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => {
            cast(&keys(ids, &DataType::Utf8), of).unwrap()
        }
        DataType::Dictionary(_, values) => cast(&keys(ids, values), of).unwrap(),
        _ => cast(&numbers, of).unwrap(),
    }
}

fn join(
    left: DataFrame,
    right: DataFrame,
    join_type: JoinType,
    columns: usize,
    nulls: NullEquality,
) -> DataFrame {
    let (state, left) = left.into_parts();
    let right = right.into_unoptimized_plan();
    let names = |name: &str| (0..columns).map(|i| format!("{name}_key{i}")).collect::<Vec<_>>();
    let plan = LogicalPlanBuilder::from(left)
        .join_detailed(right, join_type, (names("left"), names("right")), None, nulls)
        .unwrap()
        .build()
        .unwrap();
    DataFrame::new(state, plan)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_of_every_type() {
    let (folder, mut random) = (tempfile::tempdir().unwrap(), Random(1));
    for (number, (key, is_taken)) in types().into_iter().enumerate() {
        let folder = folder.path().join(number.to_string());
        let (left, right) = (random.ids(60, 100), random.ids(700, 100));
        let of = |ids: &[Option<i64>]| {
            ids.iter().map(|id| id.map(|id| if is_taken { id } else { id % 2 })).collect::<Vec<_>>()
        };
        write(&folder, "left", &[keys(&left, &key)], 2);
        write(&folder, "right", &[keys(&right, &key)], 3);
        let (left, right) = (of(&left), of(&right));
        let expected = joined(left.len(), right.len(), JoinType::Inner, |l, r| {
            left[l].is_some() && left[l] == right[r]
        });
        for session in Session::all() {
            let context = session.context();
            let (left, right) =
                (read(&context, &folder, "left").await, read(&context, &folder, "right").await);
            let joined = join(left, right, JoinType::Inner, 1, NullEquality::NullEqualsNothing);
            let plan = joined.create_physical_plan().await.unwrap();
            let text = text(&plan);
            assert_eq!(text.contains("bloom("), is_taken, "{key}: {text}");
            assert_eq!(rows(plan, &context).await, expected, "{key}, {session:?}: {text}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn joins_of_every_type() {
    let (folder, mut random) = (tempfile::tempdir().unwrap(), Random(2));
    // The sides change places where the left one is larger; one is empty.
    for (number, (left, right)) in
        [(40, 600), (600, 40), (300, 300), (0, 200), (200, 0)].into_iter().enumerate()
    {
        let folder = folder.path().join(number.to_string());
        let (left, right) = (random.ids(left, 400), random.ids(right, 400));
        write(&folder, "left", &[keys(&left, &DataType::Int64)], 2);
        write(&folder, "right", &[keys(&right, &DataType::Int64)], 2);
        for join_type in JOIN_TYPES {
            for nulls in [NullEquality::NullEqualsNothing, NullEquality::NullEqualsNull] {
                let expected = joined(left.len(), right.len(), join_type, |l, r| {
                    left[l] == right[r]
                        && (left[l].is_some() || nulls == NullEquality::NullEqualsNull)
                });
                for session in Session::all() {
                    let context = session.context();
                    let (left, right) = (
                        read(&context, &folder, "left").await,
                        read(&context, &folder, "right").await,
                    );
                    let joined = join(left, right, join_type, 1, nulls);
                    let plan = joined.create_physical_plan().await.unwrap();
                    let text = text(&plan);
                    assert_eq!(
                        rows(plan, &context).await,
                        expected,
                        "{nulls:?}, {session:?}: {text}"
                    );
                    // Which of these DataFusion runs depends on the sizes.
                    let keeps_rows = ["Right,", "Full,", "RightAnti,", "RightMark,"];
                    let keeps_rows =
                        keeps_rows.iter().any(|kept| text.contains(&format!("join_type={kept}")));
                    let is_join = text.contains("HashJoinExec");
                    assert_eq!(text.contains("bloom("), is_join && !keeps_rows, "{text}");
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_of_several_columns() {
    let (folder, mut random) = (tempfile::tempdir().unwrap(), Random(3));
    // A filter leaves out the column that it does not take.
    let of_types = [
        [DataType::Int32, DataType::Utf8, DataType::Date32],
        [DataType::Int64, DataType::Int64, DataType::Float64],
        [DataType::Utf8View, DataType::Boolean, DataType::UInt8],
    ];
    for (number, of_types) in of_types.into_iter().enumerate() {
        let folder = folder.path().join(number.to_string());
        let of = |rows, random: &mut Random| -> Vec<Vec<Option<i64>>> {
            of_types
                .iter()
                .map(|of| random.ids(rows, if *of == DataType::Boolean { 2 } else { 6 }))
                .collect()
        };
        let (left, right) = (of(30, &mut random), of(700, &mut random));
        for (name, columns) in [("left", &left), ("right", &right)] {
            let key: Vec<_> =
                columns.iter().zip(&of_types).map(|(ids, of)| keys(ids, of)).collect();
            write(&folder, name, &key, 2);
        }
        for nulls in [NullEquality::NullEqualsNothing, NullEquality::NullEqualsNull] {
            let expected = joined(30, 700, JoinType::Inner, |l, r| {
                (0..3).all(|i| {
                    let (left, right) = (left[i][l], right[i][r]);
                    left == right && (left.is_some() || nulls == NullEquality::NullEqualsNull)
                })
            });
            assert!(!expected.is_empty());
            for session in Session::all() {
                let context = session.context();
                let (left, right) =
                    (read(&context, &folder, "left").await, read(&context, &folder, "right").await);
                let joined = join(left, right, JoinType::Inner, 3, nulls);
                let plan = joined.create_physical_plan().await.unwrap();
                let text = text(&plan);
                assert!(text.contains("bloom("), "{text}");
                assert_eq!(rows(plan, &context).await, expected, "{nulls:?}, {session:?}: {text}");
            }
        }
    }
}

/// What is equal among floats is DataFusion's to say: the rows are those without the rule.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn floats_at_their_limits() {
    let (folder, mut random) = (tempfile::tempdir().unwrap(), Random(4));
    let edges =
        [0.0, -0.0, f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE, 1.0];
    let mut column = |rows| -> ArrayRef {
        Arc::new((0..rows).map(|_| Some(edges[random.below(8) as usize])).collect::<Float64Array>())
    };
    let (left, right) = (column(9), column(300));
    for (number, of) in
        [DataType::Float16, DataType::Float32, DataType::Float64].into_iter().enumerate()
    {
        let folder = folder.path().join(number.to_string());
        write(&folder, "left", &[cast(&left, &of).unwrap()], 1);
        write(&folder, "right", &[cast(&right, &of).unwrap()], 2);
        for session in Session::all() {
            let mut answers = Vec::new();
            for rule in [false, true] {
                let context = Session { rule, ..session }.context();
                let (left, right) =
                    (read(&context, &folder, "left").await, read(&context, &folder, "right").await);
                let joined = join(left, right, JoinType::Inner, 1, NullEquality::NullEqualsNothing);
                let plan = joined.create_physical_plan().await.unwrap();
                assert_eq!(text(&plan).contains("bloom("), rule);
                answers.push(rows(plan, &context).await);
            }
            assert!(!answers[0].is_empty());
            assert_eq!(answers[0], answers[1], "{of}, {session:?}");
        }
    }
}

#[test]
fn ids_are_keys() {
    let ids = [Some(3), None, Some(3), Some(4)];
    for (of, _) in types() {
        let keys = keys(&ids, &of);
        assert_eq!((keys.len(), keys.logical_null_count()), (4, 1), "{of}");
    }
    assert_eq!(keys(&ids, &DataType::Int64).as_primitive::<Int64Type>().value(3), 4);
}
