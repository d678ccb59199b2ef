//! Tables in files, sessions with and without the rule, and the plain definition of a join.

use bloomline_datafusion::BloomJoin;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use datafusion::arrow::datatypes::{Field, Int64Type, Schema};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::JoinType;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::physical_plan::{ExecutionPlan, collect, displayable};
use datafusion::prelude::{DataFrame, ParquetReadOptions, SessionConfig, SessionContext};
use std::collections::HashSet;
use std::fs::{File, create_dir_all};
use std::path::Path;
use std::sync::Arc;

/// What of a session differs between tests.
#[derive(Clone, Copy, Debug)]
pub struct Session {
    pub rule: bool,
    pub partitions: usize,
    /// Whether scans filter rows themselves.
    pub scans_filter: bool,
    /// Whether a small build side is read once for all partitions.
    pub broadcasts: bool,
}

impl Session {
    /// All of them, with the rule.
    pub fn all() -> impl Iterator<Item = Session> {
        (0..8).map(|bits| Session {
            rule: true,
            partitions: if bits & 1 == 0 { 1 } else { 3 },
            scans_filter: bits & 2 == 0,
            broadcasts: bits & 4 == 0,
        })
    }

    pub fn config(self) -> SessionConfig {
        let mut config = SessionConfig::new()
            .with_target_partitions(self.partitions)
            .with_batch_size(100)
            .with_repartition_file_scans(false);
        let options = config.options_mut();
        options.execution.parquet.pushdown_filters = self.scans_filter;
        options.execution.parquet.schema_force_view_types = self.broadcasts;
        if !self.broadcasts {
            options.optimizer.hash_join_single_partition_threshold = 0;
            options.optimizer.hash_join_single_partition_threshold_rows = 0;
        }
        config
    }

    pub fn builder(self) -> SessionStateBuilder {
        let session = SessionStateBuilder::new().with_default_features().with_config(self.config());
        if self.rule { BloomJoin::default().add_to(session) } else { session }
    }

    pub fn context(self) -> SessionContext {
        SessionContext::new_with_state(self.builder().build())
    }
}

/// A table in a folder: key columns, and the number of each row, in so many files.
pub fn write(folder: &Path, name: &str, key: &[ArrayRef], files: usize) {
    let rows = key[0].len();
    let mut fields: Vec<_> = (0..key.len())
        .map(|i| Field::new(format!("{name}_key{i}"), key[i].data_type().clone(), true))
        .collect();
    fields.push(Field::new(name, datafusion::arrow::datatypes::DataType::Int64, false));
    let schema = Arc::new(Schema::new(fields));
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows as i64));
    let columns = key.iter().cloned().chain([numbers]).collect();
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns).unwrap();
    let folder = folder.join(name);
    create_dir_all(&folder).unwrap();
    for file in 0..files {
        let (first, end) = (rows * file / files, rows * (file + 1) / files);
        let out = File::create(folder.join(format!("{file}.parquet"))).unwrap();
        let mut writer = ArrowWriter::try_new(out, Arc::clone(&schema), None).unwrap();
        writer.write(&batch.slice(first, end - first)).unwrap();
        writer.close().unwrap();
    }
}

/// The table of a folder.
pub async fn read(context: &SessionContext, folder: &Path, name: &str) -> DataFrame {
    let path = format!("{}/", folder.join(name).display());
    context.read_parquet(path, ParquetReadOptions::default()).await.unwrap()
}

/// Rows as the numbers of the rows that they are made of, or null; in order.
pub type Rows = Vec<Vec<Option<i64>>>;

/// The rows of a plan: of the columns `left` and `right`, and what else is 64 bits wide or a mark.
pub async fn rows(plan: Arc<dyn ExecutionPlan>, context: &SessionContext) -> Rows {
    let mut all = Vec::new();
    for batch in collect(plan, context.task_ctx()).await.unwrap() {
        let numbers = batch.schema_ref().fields().iter().zip(batch.columns()).filter_map(
            |(field, column)| {
                let is_asked = !field.name().contains("_key");
                is_asked.then(|| match column.as_boolean_opt() {
                    Some(marks) => marks.iter().map(|mark| mark.map(i64::from)).collect::<Vec<_>>(),
                    None => column.as_primitive::<Int64Type>().iter().collect(),
                })
            },
        );
        let numbers: Vec<_> = numbers.collect();
        all.extend(
            (0..batch.num_rows()).map(|row| numbers.iter().map(|column| column[row]).collect()),
        );
    }
    all.sort();
    all
}

/// A plan as EXPLAIN has it.
pub fn text(plan: &Arc<dyn ExecutionPlan>) -> String {
    displayable(plan.as_ref()).indent(false).to_string()
}

/// The plain definition of a join: which rows it has, if these pairs of rows match.
pub fn joined(
    left: usize,
    right: usize,
    join_type: JoinType,
    matches: impl Fn(usize, usize) -> bool,
) -> Rows {
    let pairs: HashSet<(usize, usize)> = (0..left)
        .flat_map(|l| (0..right).map(move |r| (l, r)))
        .filter(|&(l, r)| matches(l, r))
        .collect();
    let lefts: HashSet<_> = pairs.iter().map(|&(l, _)| l).collect();
    let rights: HashSet<_> = pairs.iter().map(|&(_, r)| r).collect();
    let number = |row: usize| Some(row as i64);
    let both = pairs.iter().map(|&(l, r)| vec![number(l), number(r)]);
    let lonely_left = (0..left).filter(|row| !lefts.contains(row));
    let lonely_right = (0..right).filter(|row| !rights.contains(row));
    let left_and_null = lonely_left.clone().map(|l| vec![number(l), None]);
    let null_and_right = lonely_right.clone().map(|r| vec![None, number(r)]);
    let mut rows: Rows = match join_type {
        JoinType::Inner => both.collect(),
        JoinType::Left => both.chain(left_and_null).collect(),
        JoinType::Right => both.chain(null_and_right).collect(),
        JoinType::Full => both.chain(left_and_null).chain(null_and_right).collect(),
        JoinType::LeftSemi => lefts.iter().map(|&l| vec![number(l)]).collect(),
        JoinType::RightSemi => rights.iter().map(|&r| vec![number(r)]).collect(),
        JoinType::LeftAnti => lonely_left.map(|l| vec![number(l)]).collect(),
        JoinType::RightAnti => lonely_right.map(|r| vec![number(r)]).collect(),
        JoinType::LeftMark => {
            (0..left).map(|l| vec![number(l), Some(lefts.contains(&l).into())]).collect()
        }
        JoinType::RightMark => {
            (0..right).map(|r| vec![number(r), Some(rights.contains(&r).into())]).collect()
        }
    };
    rows.sort();
    rows
}
