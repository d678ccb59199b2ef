//! What a growing filter keeps beside its lines.

/// What a filter is made with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Terms {
    /// The most keys expected, or the first.
    pub(super) keys: u64,
    pub(super) rate: f64,
    pub(super) seed: u64,
}

/// The state of a region.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Region {
    /// Prefixes in lines and in the stash.
    pub(super) keys: u64,
    /// Those of full length, if lengths differ.
    pub(super) newest: u64,
}

/// What a filter is that is one region of another.
#[derive(Clone, Copy)]
pub(super) struct Alone {
    pub(super) region: usize,
    /// Whether it begins to move by itself.
    pub(super) begins: bool,
}

/// A region that is moved.
pub(super) struct Sweep {
    pub(super) region: usize,
    /// The next of its old lines.
    pub(super) line: usize,
    /// Keys to be moved for each one inserted or removed.
    pub(super) pace: u64,
    /// Keys to be moved.
    pub(super) due: u64,
    /// Of the values that are moved, those that come from beside the lines, and those that have to become
    /// several.
    pub(super) back: Vec<u64>,
    pub(super) short: Vec<u64>,
}

impl Sweep {
    pub(super) fn memory(&self) -> usize {
        (self.back.capacity() + self.short.capacity()) * size_of::<u64>()
    }
}
