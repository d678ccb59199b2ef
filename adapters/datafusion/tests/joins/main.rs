//! Real queries over Parquet files: joins with filters have the rows that the plain definition of a join has,
//! whatever the key's type, and the filters are where they belong.

mod hazards;
mod plans;
mod table;
mod types;

use datafusion::common::JoinType;

/// All types of joins.
const JOIN_TYPES: [JoinType; 10] = [
    JoinType::Inner,
    JoinType::Left,
    JoinType::Right,
    JoinType::Full,
    JoinType::LeftSemi,
    JoinType::RightSemi,
    JoinType::LeftAnti,
    JoinType::RightAnti,
    JoinType::LeftMark,
    JoinType::RightMark,
];

/// Pseudo-random numbers, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (bits ^ bits >> 31) % end
    }

    /// So many ids below `end`, some of them null.
    fn ids(&mut self, rows: usize, end: u64) -> Vec<Option<i64>> {
        (0..rows).map(|_| (self.below(8) > 0).then(|| self.below(end) as i64)).collect()
    }
}
