//! The physical filter: asks the keys of a join's build side for rows of the other side.

use crate::hashes::{KeyColumn, RUN, valid};
use crate::keys::BuildKeys;
use bloomline::Filter;
use datafusion::arrow::array::BooleanArray;
use datafusion::arrow::buffer::{BooleanBuffer, Buffer};
use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;
use std::fmt::{Display, Formatter};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// True of the rows whose key may be on the build side of a join; of all rows while that is not known. It is
/// never null and never fails.
#[derive(Debug)]
pub struct BloomFilterExpr {
    key: Vec<Arc<dyn PhysicalExpr>>,
    keys: Arc<BuildKeys>,
    /// As where the join finds null equal to null.
    nulls_pass: bool,
}

impl BloomFilterExpr {
    pub(crate) fn new(
        key: Vec<Arc<dyn PhysicalExpr>>,
        keys: Arc<BuildKeys>,
        nulls_pass: bool,
    ) -> BloomFilterExpr {
        BloomFilterExpr { key, keys, nulls_pass }
    }

    /// The columns of the key, if all can be had and are what the filter has.
    fn columns(&self, batch: &RecordBatch) -> Option<Vec<KeyColumn>> {
        let columns = self.key.iter().zip(&self.keys.classes).map(|(part, class)| {
            let array = part.evaluate(batch).ok()?.into_array(batch.num_rows()).ok()?;
            KeyColumn::of(&array, class, &self.keys.hasher)
        });
        columns.collect()
    }

    fn ask(&self, filter: &Filter, columns: &[KeyColumn], rows: usize) -> BooleanArray {
        let (mut words, mut hashes) = (vec![0_u64; rows.div_ceil(64)], [0; RUN]);
        for first in (0..rows).step_by(RUN) {
            let hashes = &mut hashes[..RUN.min(rows - first)];
            self.keys.hasher.hash_rows(columns, first, hashes);
            filter.contains_hashes(hashes, &mut words[first / 64..]);
        }
        if let Some(valid) = valid(columns) {
            let valid = valid.inner().bit_chunks();
            for (word, valid) in words.iter_mut().zip(valid.iter_padded()) {
                *word = if self.nulls_pass { *word | !valid } else { *word & valid };
            }
        }
        // Arrow's bits are those of bytes.
        words.iter_mut().for_each(|word| *word = word.to_le());
        BooleanArray::new(BooleanBuffer::new(Buffer::from_vec(words), 0, rows), None)
    }
}

impl PhysicalExpr for BloomFilterExpr {
    fn data_type(&self, _: &Schema) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn nullable(&self, _: &Schema) -> Result<bool> {
        Ok(false)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        let all = || Ok(ColumnarValue::Scalar(ScalarValue::Boolean(Some(true))));
        let Some(filter) = self.keys.filter() else {
            return all();
        };
        if !self.keys.usefulness.is_asked() {
            return all();
        }
        // A key that cannot be had here may be one of a row that never gets to the join.
        let Some(columns) = self.columns(batch) else {
            return all();
        };
        let answers = self.ask(filter, &columns, batch.num_rows());
        self.keys.usefulness.note(answers.len(), answers.true_count());
        Ok(ColumnarValue::Array(Arc::new(answers)))
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        self.key.iter().collect()
    }

    fn with_new_children(
        self: Arc<Self>,
        key: Vec<Arc<dyn PhysicalExpr>>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        Ok(Arc::new(BloomFilterExpr::new(key, Arc::clone(&self.keys), self.nulls_pass)))
    }

    fn fmt_sql(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        Display::fmt(self, f)
    }
}

impl Display for BloomFilterExpr {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "bloom(")?;
        for (i, part) in self.key.iter().enumerate() {
            write!(f, "{}{part}", if i == 0 { "" } else { ", " })?;
        }
        write!(f, ")")?;
        match self.keys.filter() {
            Some(filter) => write!(f, " of {} keys", filter.key_count()),
            None => Ok(()),
        }
    }
}

impl PartialEq for BloomFilterExpr {
    fn eq(&self, other: &BloomFilterExpr) -> bool {
        self.key == other.key && Arc::ptr_eq(&self.keys, &other.keys)
    }
}

impl Eq for BloomFilterExpr {}

impl Hash for BloomFilterExpr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key.hash(state);
        Arc::as_ptr(&self.keys).hash(state);
    }
}
