//! What could make a filter drop a row that the join needs: plans that run again, keys that cannot be had,
//! memory that is refused.

use crate::Random;
use crate::table::{Rows, Session, joined, read, rows, text, write};
use crate::types::keys;
use datafusion::arrow::array::{ArrayRef, Int64Array, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::catalog::cte_worktable::CteWorkTable;
use datafusion::catalog::streaming::StreamingTable;
use datafusion::common::{DataFusionError, JoinType, Result, exec_err};
use datafusion::datasource::provider_as_source;
use datafusion::execution::memory_pool::{MemoryPool, MemoryReservation};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::LogicalPlanBuilder;
use datafusion::physical_plan::execution_plan::reset_plan_states;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use datafusion::prelude::{DataFrame, SessionContext, cast, col, lit};
use std::fmt::{Debug, Display, Formatter};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

/// A table that has other rows each time it is read: first the id 0, then 1, and so on.
#[derive(Debug)]
struct Changing {
    schema: SchemaRef,
    reads: AtomicI64,
}

impl PartitionStream for Changing {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let id: ArrayRef =
            Arc::new(Int64Array::from(vec![self.reads.fetch_add(1, Ordering::Relaxed)]));
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), vec![Arc::clone(&id), id]);
        let batches = futures::stream::iter([batch.map_err(DataFusionError::from)]);
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), batches))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plans_run_again() {
    let folder = tempfile::tempdir().unwrap();
    let ids: Vec<_> = (0..500).map(|row| Some(row % 10)).collect();
    write(folder.path(), "many", &[keys(&ids, &DataType::Int64)], 2);
    for session in Session::all() {
        let context = session.context();
        // DataFusion's own filters keep what they know of the run before.
        context
            .state_ref()
            .write()
            .config_mut()
            .options_mut()
            .optimizer
            .enable_join_dynamic_filter_pushdown = false;
        let fields = ["few_key0", "few"].map(|name| Field::new(name, DataType::Int64, false));
        let schema = Arc::new(Schema::new(fields.to_vec()));
        let changing = Changing { schema: Arc::clone(&schema), reads: AtomicI64::new(0) };
        let table = StreamingTable::try_new(schema, vec![Arc::new(changing)]).unwrap();
        let few = context.read_table(Arc::new(table)).unwrap();
        let many = read(&context, folder.path(), "many").await;
        let joined = few.join(many, JoinType::Inner, &["few_key0"], &["many_key0"], None).unwrap();
        let joined = joined.select_columns(&["few", "many"]).unwrap();
        let plan = joined.create_physical_plan().await.unwrap();
        assert!(text(&plan).contains("bloom("), "{}", text(&plan));
        let of_run = |id: i64| -> Rows {
            (0..500).filter(|row| row % 10 == id).map(|row| vec![Some(id), Some(row)]).collect()
        };
        assert_eq!(rows(Arc::clone(&plan), &context).await, of_run(0), "{session:?}");
        let mut plan = plan;
        for id in 1..4 {
            plan = reset_plan_states(plan).unwrap();
            assert_eq!(rows(Arc::clone(&plan), &context).await, of_run(id), "{session:?}");
        }
    }
}

/// A walk along edges: the keys of each step are those that the step before has found.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn recursive_queries() {
    let folder = tempfile::tempdir().unwrap();
    // From each node to the next, up to 30, and none from there.
    let from: Vec<_> = (0..30).map(Some).collect();
    write(folder.path(), "edge", &[keys(&from, &DataType::Int64)], 2);
    for session in Session::all() {
        let context = session.context();
        let schema = Arc::new(Schema::new(vec![Field::new("node", DataType::Int64, true)]));
        let work = provider_as_source(Arc::new(CteWorkTable::new("walk", schema)));
        let work = LogicalPlanBuilder::scan("walk", work, None).unwrap();
        let edges = read(&context, folder.path(), "edge").await.into_unoptimized_plan();
        let step =
            work.join(edges, JoinType::Inner, (vec!["node"], vec!["edge_key0"]), None).unwrap();
        let step =
            step.project([(col("edge") + lit(1_i64)).alias("node")]).unwrap().build().unwrap();
        let start = LogicalPlanBuilder::empty(true).project([lit(25_i64).alias("node")]).unwrap();
        let walk =
            start.to_recursive_query(String::from("walk"), step, false).unwrap().build().unwrap();
        let plan = DataFrame::new(context.state(), walk).create_physical_plan().await.unwrap();
        assert!(text(&plan).contains("bloom("), "{}", text(&plan));
        let expected: Rows = (25..=30).map(|node| vec![Some(node)]).collect();
        assert_eq!(rows(plan, &context).await, expected, "{session:?}");
    }
}

/// A key that is computed, and an error for a row that the join never sees.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn computed_keys() {
    let folder = tempfile::tempdir().unwrap();
    let numbers: ArrayRef = Arc::new(StringArray::from_iter_values(
        (0..900).map(|row| if row < 500 { (row % 70).to_string() } else { format!("no {row}") }),
    ));
    let ids: Vec<_> = (0..40).map(Some).collect();
    write(folder.path(), "few", &[keys(&ids, &DataType::Int64)], 2);
    write(folder.path(), "many", &[numbers], 2);
    for session in Session::all() {
        let context = session.context();
        let few = read(&context, folder.path(), "few").await;
        let many = read(&context, folder.path(), "many").await;
        let many = many.filter(col("many").lt(lit(500_i64))).unwrap();
        let key = cast(col("many_key0"), DataType::Int64) + lit(1_i64);
        let plan =
            few.join_on(many, JoinType::Inner, [(col("few_key0") * lit(2_i64)).eq(key)]).unwrap();
        let plan = plan.create_physical_plan().await.unwrap();
        assert!(text(&plan).contains("bloom("), "{}", text(&plan));
        let expected = joined(40, 500, JoinType::Inner, |l, r| l * 2 == r % 70 + 1);
        assert_eq!(
            rows(Arc::clone(&plan), &context).await,
            expected,
            "{session:?} {}",
            text(&plan)
        );
    }
}

/// Refuses memory to those who collect keys, from the `n`th request on.
#[derive(Debug)]
struct Refusing {
    requests: AtomicUsize,
    granted: usize,
    reserved: AtomicUsize,
}

impl Display for Refusing {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        Debug::fmt(self, f)
    }
}

impl MemoryPool for Refusing {
    fn name(&self) -> &str {
        "refusing"
    }

    fn grow(&self, _: &MemoryReservation, more: usize) {
        self.reserved.fetch_add(more, Ordering::Relaxed);
    }

    fn shrink(&self, _: &MemoryReservation, less: usize) {
        self.reserved.fetch_sub(less, Ordering::Relaxed);
    }

    fn try_grow(&self, reservation: &MemoryReservation, more: usize) -> Result<()> {
        let collects = reservation.consumer().name().starts_with("CollectKeysExec");
        if collects && self.requests.fetch_add(1, Ordering::Relaxed) >= self.granted {
            return exec_err!("refused");
        }
        self.grow(reservation, more);
        Ok(())
    }

    fn reserved(&self) -> usize {
        self.reserved.load(Ordering::Relaxed)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_is_refused() {
    let (folder, mut random) = (tempfile::tempdir().unwrap(), Random(9));
    let (few, many) = (random.ids(1000, 2000), random.ids(1500, 2000));
    write(folder.path(), "few", &[keys(&few, &DataType::Int64)], 2);
    write(folder.path(), "many", &[keys(&many, &DataType::Int64)], 2);
    let expected =
        joined(1000, 1500, JoinType::Inner, |l, r| few[l].is_some() && few[l] == many[r]);
    for session in Session::all() {
        let mut filtered = 0;
        for granted in 0..20 {
            let pool = Arc::new(Refusing { requests: 0.into(), granted, reserved: 0.into() });
            let runtime =
                RuntimeEnvBuilder::new().with_memory_pool(Arc::clone(&pool) as _).build_arc();
            let state = session.builder().with_runtime_env(runtime.unwrap()).build();
            let context = SessionContext::new_with_state(state);
            let few = read(&context, folder.path(), "few").await;
            let many = read(&context, folder.path(), "many").await;
            let joined =
                few.join(many, JoinType::Inner, &["few_key0"], &["many_key0"], None).unwrap();
            let plan = joined.create_physical_plan().await.unwrap();
            assert_eq!(rows(Arc::clone(&plan), &context).await, expected, "{granted}, {session:?}");
            filtered += usize::from(text(&plan).contains(" keys"));
            drop((plan, context));
            assert_eq!(pool.reserved(), 0, "what was granted is given back");
        }
        assert!((1..20).contains(&filtered), "with enough memory there is a filter, {filtered}");
    }
}
