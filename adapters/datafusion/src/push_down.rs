//! Brings a filter from a join down its probe side, as near to the scan as rows can be dropped without a change
//! of what the join gets.

use crate::collect::CollectKeysExec;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{JoinType, Result};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::buffer::BufferExec;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::filter::{FilterExec, FilterExecBuilder};
use datafusion::physical_plan::filter_pushdown::{
    ChildFilterPushdownResult, ChildPushdownResult, FilterPushdownPhase, PushedDown,
};
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::union::{InterleaveExec, UnionExec};
use std::sync::Arc;

/// Returns the plan with this filter of its rows, somewhere in it or above it.
pub(crate) fn push_down(
    plan: &Arc<dyn ExecutionPlan>,
    filter: Arc<dyn PhysicalExpr>,
    config: &ConfigOptions,
) -> Result<Arc<dyn ExecutionPlan>> {
    // Of a plan with a limit, others would be the first rows.
    if plan.fetch().is_none() {
        let mut is_below = false;
        let children = plan.children().into_iter().enumerate().map(|(i, child)| {
            match for_child(plan, i, child, &filter)? {
                Some(filter) => {
                    is_below = true;
                    push_down(child, filter, config)
                }
                None => Ok(Arc::clone(child)),
            }
        });
        let children = children.collect::<Result<Vec<_>>>()?;
        if is_below {
            return replace_children_if_necessary(Arc::clone(plan), children);
        }
        if plan.children().is_empty()
            && let Some(scan) = into_scan(plan, &filter, config)?
        {
            return Ok(scan);
        }
    }
    let filtered = FilterExecBuilder::new(filter, Arc::clone(plan))
        .with_batch_size(config.execution.batch_size.get())
        .build()?;
    Ok(Arc::new(filtered))
}

/// The scan with this filter, if it asks filters for each row.
fn into_scan(
    scan: &Arc<dyn ExecutionPlan>,
    filter: &Arc<dyn PhysicalExpr>,
    config: &ConfigOptions,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let filter =
        ChildFilterPushdownResult { filter: Arc::clone(filter), child_results: Vec::new() };
    let asked = ChildPushdownResult { parent_filters: vec![filter], self_filters: Vec::new() };
    let answer = scan.handle_child_pushdown_result(FilterPushdownPhase::Post, asked, config)?;
    Ok(match answer.filters[..] {
        [PushedDown::Yes] => answer.updated_node,
        _ => None,
    })
}

/// The filter for the rows of a child, if these may be dropped instead.
fn for_child(
    plan: &Arc<dyn ExecutionPlan>,
    i: usize,
    child: &Arc<dyn ExecutionPlan>,
    filter: &Arc<dyn PhysicalExpr>,
) -> Result<Option<Arc<dyn PhysicalExpr>>> {
    let plan: &dyn ExecutionPlan = plan.as_ref();
    if plan.downcast_ref::<RepartitionExec>().is_some()
        || plan.downcast_ref::<CoalescePartitionsExec>().is_some()
        || plan.downcast_ref::<CooperativeExec>().is_some()
        || plan.downcast_ref::<BufferExec>().is_some()
        || plan.downcast_ref::<SortExec>().is_some()
        || plan.downcast_ref::<SortPreservingMergeExec>().is_some()
        || plan.downcast_ref::<UnionExec>().is_some()
        || plan.downcast_ref::<InterleaveExec>().is_some()
        || plan.downcast_ref::<CollectKeysExec>().is_some()
    {
        of_columns(filter, child, Some)
    } else if let Some(filter_exec) = plan.downcast_ref::<FilterExec>() {
        match filter_exec.projection() {
            Some(projection) => of_columns(filter, child, |at| projection.get(at).copied()),
            None => of_columns(filter, child, Some),
        }
    } else if let Some(projection) = plan.downcast_ref::<ProjectionExec>() {
        let columns = projection.expr();
        of_columns(filter, child, |at| columns.get(at).and_then(|column| column_of(&column.expr)))
    } else if let Some(aggregate) = plan.downcast_ref::<AggregateExec>() {
        // Whole groups are dropped. Without a group there is a row of none.
        let groups = aggregate.group_expr();
        if groups.has_grouping_set()
            || groups.expr().is_empty()
            || aggregate.limit_options().is_some()
        {
            return Ok(None);
        }
        of_columns(filter, child, |at| {
            groups.expr().get(at).and_then(|(group, _)| column_of(group))
        })
    } else if let Some(join) = plan.downcast_ref::<HashJoinExec>() {
        of_columns(filter, child, |at| join_column(join, i, at))
    } else {
        Ok(None)
    }
}

/// Which column of a join's input is output `at`, if rows of the input may be dropped by it.
fn join_column(join: &HashJoinExec, input: usize, at: usize) -> Option<usize> {
    let at = match &join.projection {
        Some(projection) => *projection.get(at)?,
        None => at,
    };
    let left = join.left().schema().fields().len();
    // The inputs whose columns are output, and as they are: a column that a join fills with nulls is another.
    let (of_left, of_right, first_of_right) = match join.join_type() {
        JoinType::Inner => (true, true, left),
        JoinType::Left => (true, false, left),
        JoinType::Right => (false, true, left),
        JoinType::LeftSemi | JoinType::LeftAnti | JoinType::LeftMark => (true, false, left),
        JoinType::RightSemi | JoinType::RightAnti => (false, true, 0),
        JoinType::RightMark | JoinType::Full => (false, false, 0),
    };
    match input {
        0 => (of_left && at < left).then_some(at),
        _ => at.checked_sub(first_of_right).filter(|_| of_right),
    }
}

/// The number of the column that an expression is.
fn column_of(expr: &Arc<dyn PhysicalExpr>) -> Option<usize> {
    expr.downcast_ref::<Column>().map(Column::index)
}

/// The filter with other columns, those of the child: each by the number of the one in its place. None if one
/// has no such.
fn of_columns(
    filter: &Arc<dyn PhysicalExpr>,
    child: &Arc<dyn ExecutionPlan>,
    mut place: impl FnMut(usize) -> Option<usize>,
) -> Result<Option<Arc<dyn PhysicalExpr>>> {
    let (schema, mut all) = (child.schema(), true);
    let filter = Arc::clone(filter).transform(|expr| {
        let Some(column) = expr.downcast_ref::<Column>() else {
            return Ok(Transformed::no(expr));
        };
        match place(column.index()).and_then(|at| Some((at, schema.fields().get(at)?))) {
            Some((at, field)) => Ok(Transformed::yes(
                Arc::new(Column::new(field.name(), at)) as Arc<dyn PhysicalExpr>
            )),
            None => {
                all = false;
                Ok(Transformed::no(expr))
            }
        }
    });
    let filter = filter.data()?;
    Ok(all.then_some(filter))
}
