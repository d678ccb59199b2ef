//! The node above a join's build side: its rows pass unchanged, their keys are collected.

use crate::hashes::{KeyColumn, RUN, valid};
use crate::keys::BuildKeys;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, Statistics};
use datafusion::config::ConfigOptions;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{RecordBatchStream, SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::execution_plan::{
    CardinalityEffect, ChildrenPropertiesMode, ReplaceChildrenOptions,
};
use datafusion::physical_plan::filter_pushdown::{FilterDescription, FilterPushdownPhase};
use datafusion::physical_plan::metrics::{
    BaselineMetrics, Count, ExecutionPlanMetricsSet, MetricBuilder, MetricsSet,
};
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::{Stream, StreamExt};
use std::fmt::Formatter;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// Passes the rows of a join's build side on, and keeps the hashes of their keys for the filter.
#[derive(Clone, Debug)]
pub struct CollectKeysExec {
    input: Arc<dyn ExecutionPlan>,
    key: Vec<Arc<dyn PhysicalExpr>>,
    keys: Arc<BuildKeys>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl CollectKeysExec {
    pub(crate) fn new(
        input: Arc<dyn ExecutionPlan>,
        key: Vec<Arc<dyn PhysicalExpr>>,
        keys: Arc<BuildKeys>,
    ) -> CollectKeysExec {
        let properties = Arc::clone(input.properties());
        CollectKeysExec { input, key, keys, properties, metrics: ExecutionPlanMetricsSet::new() }
    }
}

impl DisplayAs for CollectKeysExec {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut Formatter<'_>) -> std::fmt::Result {
        let key: Vec<_> = self.key.iter().map(ToString::to_string).collect();
        match format {
            DisplayFormatType::TreeRender => write!(f, "key={}", key.join(", ")),
            _ => write!(f, "CollectKeysExec: key=[{}]", key.join(", ")),
        }
    }
}

impl ExecutionPlan for CollectKeysExec {
    fn name(&self) -> &str {
        "CollectKeysExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        for part in &self.key {
            if f(part)? == TreeNodeRecursion::Stop {
                return Ok(TreeNodeRecursion::Stop);
            }
        }
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let input = children.swap_remove(0);
        Ok(Arc::new(CollectKeysExec::new(input, self.key.clone(), Arc::clone(&self.keys))))
    }

    // DataFusion has both.
    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.replace_children(
            children,
            ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute),
        )
    }

    /// The plan is to run again on other rows: the filter that the other side asks has the keys of this run.
    fn reset_state(self: Arc<Self>) -> Result<Arc<dyn ExecutionPlan>> {
        self.keys.give_up();
        Ok(self)
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        self.keys.begin(partition, self.properties.output_partitioning().partition_count());
        let input = self.input.execute(partition, Arc::clone(&context))?;
        let consumer = MemoryConsumer::new(format!("CollectKeysExec[{partition}]"));
        Ok(Box::pin(Collecting {
            input,
            key: self.key.clone(),
            keys: Arc::clone(&self.keys),
            hashes: Some(Vec::new()),
            memory: consumer.register(context.memory_pool()),
            baseline: BaselineMetrics::new(&self.metrics, partition),
            filter_bytes: MetricBuilder::new(&self.metrics).counter("filter_bytes", partition),
        }))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        vec![ChildStats::At(partition)]
    }

    fn statistics_from_inputs(
        &self,
        input: &[Arc<Statistics>],
        _: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        Ok(Arc::clone(&input[0]))
    }

    fn cardinality_effect(&self) -> CardinalityEffect {
        CardinalityEffect::Equal
    }

    fn gather_filters_for_pushdown(
        &self,
        _: FilterPushdownPhase,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        _: &ConfigOptions,
    ) -> Result<FilterDescription> {
        FilterDescription::from_children(filters, &self.children())
    }
}

/// The rows of a partition.
struct Collecting {
    input: SendableRecordBatchStream,
    key: Vec<Arc<dyn PhysicalExpr>>,
    keys: Arc<BuildKeys>,
    /// None once they are given away, or given up.
    hashes: Option<Vec<u64>>,
    memory: MemoryReservation,
    baseline: BaselineMetrics,
    filter_bytes: Count,
}

impl Collecting {
    /// Keeps the keys of a batch. None if a key cannot be had, or there is no memory for it.
    fn keep(&mut self, batch: &RecordBatch) -> Option<()> {
        let hashes = self.hashes.as_mut().filter(|_| !self.keys.gave_up())?;
        let columns = self.key.iter().zip(&self.keys.classes).map(|(part, class)| {
            let array = part.evaluate(batch).ok()?.into_array(batch.num_rows()).ok()?;
            KeyColumn::of(&array, class, &self.keys.hasher)
        });
        let columns = columns.collect::<Option<Vec<_>>>()?;
        let rows = batch.num_rows();
        if hashes.capacity() - hashes.len() < rows {
            let more = rows.max(hashes.len());
            self.memory
                .try_grow((hashes.len() + more - hashes.capacity()) * size_of::<u64>())
                .ok()?;
            hashes.try_reserve_exact(more).ok()?;
        }
        let start = hashes.len();
        hashes.resize(start + rows, 0);
        for (run, out) in hashes[start..].chunks_mut(RUN).enumerate() {
            self.keys.hasher.hash_rows(&columns, run * RUN, out);
        }
        // A null is equal to nothing, or the filter lets all nulls pass.
        if let Some(valid) = valid(&columns) {
            let mut end = start;
            for row in valid.valid_indices() {
                hashes[end] = hashes[start + row];
                end += 1;
            }
            hashes.truncate(end);
        }
        Some(())
    }
}

impl Stream for Collecting {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = ready!(self.input.poll_next_unpin(context));
        let elapsed = self.baseline.elapsed_compute().clone();
        let timer = elapsed.timer();
        match &next {
            Some(Ok(batch)) => {
                if self.keep(batch).is_none() && self.hashes.take().is_some() {
                    self.memory.free();
                    self.keys.give_up();
                }
            }
            // What was read is not all.
            Some(Err(_)) => {
                self.hashes = None;
                self.memory.free();
            }
            None => {
                if let Some(hashes) = self.hashes.take() {
                    let memory = self.memory.take();
                    let bytes = self.keys.finish(hashes, memory);
                    self.filter_bytes.add(bytes.unwrap_or(0));
                }
            }
        }
        timer.done();
        self.baseline.record_poll(Poll::Ready(next))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.input.size_hint()
    }
}

impl RecordBatchStream for Collecting {
    fn schema(&self) -> SchemaRef {
        self.input.schema()
    }
}
