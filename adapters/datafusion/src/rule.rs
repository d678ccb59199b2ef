//! The optimizer rule: which joins get a filter.

use crate::collect::CollectKeysExec;
use crate::expr::BloomFilterExpr;
use crate::hashes::Class;
use crate::keys::BuildKeys;
use crate::push_down::push_down;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{DataFusionError, JoinType, NullEquality, Result};
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr_common::physical_expr::is_volatile;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::joins::HashJoinExec;
use std::sync::Arc;

/// Gives hash joins a Bloom filter: the keys of the build side are collected while they are read, and rows of
/// the probe side whose key is not among them are dropped near the scan.
#[derive(Clone, Debug)]
pub struct BloomJoin {
    rate: f64,
}

impl Default for BloomJoin {
    /// Of the rows that no key belongs to, 1 % pass.
    fn default() -> BloomJoin {
        BloomJoin { rate: 0.01 }
    }
}

impl BloomJoin {
    /// Creates the rule for filters of another rate of false positives.
    ///
    /// # Errors
    /// Unless the rate is between 0 and 1.
    pub fn with_rate(rate: f64) -> Result<BloomJoin> {
        bloomline::Params::for_rate(1, rate).map_err(failed)?;
        Ok(BloomJoin { rate })
    }

    /// Adds the rule to those of a session, where it belongs: the plan is settled then, and the scan asks this
    /// filter before it asks that of the join.
    #[must_use]
    pub fn add_to(self, mut session: SessionStateBuilder) -> SessionStateBuilder {
        let rules =
            &mut session.physical_optimizers().get_or_insert_with(PhysicalOptimizer::new).rules;
        let settled = rules.iter().rposition(|rule| rule.name() == "FilterPushdown(Post)");
        rules.insert(settled.unwrap_or(rules.len()), Arc::new(self));
        session
    }

    /// The join with a filter, if it takes one.
    fn with_filter(
        &self,
        join: &HashJoinExec,
        plan: &Arc<dyn ExecutionPlan>,
        config: &ConfigOptions,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        // Others output rows of the probe side that no row belongs to. `NOT IN` tells a probe side without
        // rows from one without equal rows.
        let drops_rows = matches!(
            join.join_type(),
            JoinType::Inner
                | JoinType::Left
                | JoinType::LeftSemi
                | JoinType::RightSemi
                | JoinType::LeftAnti
                | JoinType::LeftMark
        );
        let (build, probe) = (join.left(), join.right());
        if !drops_rows || join.null_aware || build.downcast_ref::<CollectKeysExec>().is_some() {
            return Ok(None);
        }
        // Some of a key's columns are enough: rows that are equal in all are equal in these.
        let (mut classes, mut build_key, mut probe_key) = (Vec::new(), Vec::new(), Vec::new());
        for (of_build, of_probe) in join.on() {
            let class = Class::of(&of_build.data_type(&build.schema())?);
            if class != Class::of(&of_probe.data_type(&probe.schema())?)
                || is_volatile(of_build)
                || is_volatile(of_probe)
            {
                continue;
            }
            if let Some(class) = class {
                classes.push(class);
                build_key.push(Arc::clone(of_build));
                probe_key.push(Arc::clone(of_probe));
            }
        }
        if classes.is_empty() {
            return Ok(None);
        }
        let keys = Arc::new(BuildKeys::new(classes, self.rate).map_err(failed)?);
        let nulls_pass = join.null_equality() == NullEquality::NullEqualsNull;
        let filter: Arc<dyn PhysicalExpr> =
            Arc::new(BloomFilterExpr::new(probe_key, Arc::clone(&keys), nulls_pass));
        let build: Arc<dyn ExecutionPlan> =
            Arc::new(CollectKeysExec::new(Arc::clone(build), build_key, keys));
        let children = vec![build, push_down(probe, filter, config)?];
        replace_children_if_necessary(Arc::clone(plan), children).map(Some)
    }
}

impl PhysicalOptimizerRule for BloomJoin {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|plan| {
            let Some(join) = plan.downcast_ref::<HashJoinExec>() else {
                return Ok(Transformed::no(plan));
            };
            Ok(match self.with_filter(join, &plan, config)? {
                Some(with) => Transformed::yes(with),
                None => Transformed::no(plan),
            })
        })
        .data()
    }

    fn name(&self) -> &str {
        "BloomJoin"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// An error of Bloomline, as this crate's callers have them.
fn failed(error: bloomline::Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}
