//! The prefixes of a hash, of all lengths.

/// What the layouts of a filter have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Common {
    /// The prefixes of all regions together, of the first length.
    pub(crate) prefixes: u64,
    /// By how many bits they can get longer; none if all have one length.
    pub(crate) longer: Option<u32>,
    /// The keys that may have prefixes of the first length, if they can get longer.
    pub(crate) first_keys: u64,
}

impl Common {
    pub(crate) fn mixed(self) -> bool {
        self.longer.is_some()
    }

    /// The values of all regions, of which each length has its own.
    pub(super) fn bits_of_norm(self) -> u32 {
        self.longer.unwrap_or(0)
    }

    /// The prefix of a hash and of a length, so that those of all lengths compare.
    #[inline]
    pub(crate) fn normal(self, hash: u64, length: u32) -> u64 {
        let mixed = u32::from(self.mixed());
        (high(hash, self.prefixes << length) << mixed | u64::from(mixed))
            << (self.bits_of_norm() - length)
    }

    /// What is above all of them.
    pub(crate) fn normals(self) -> u64 {
        self.prefixes << (u32::from(self.mixed()) + self.bits_of_norm())
    }

    /// How many of them a prefix of the first length has.
    pub(crate) fn values_of_prefix(self) -> f64 {
        (self.normals() / self.prefixes) as f64
    }

    /// What such a prefix covers: values so far below it, and above.
    pub(crate) fn half(self, normal: u64) -> u64 {
        if self.mixed() { 1 << normal.trailing_zeros() } else { 0 }
    }

    /// The first hash of such a prefix, and the last.
    pub(crate) fn hashes(self, normal: u64) -> (u64, u64) {
        let half = self.half(normal);
        let all = u128::from(self.normals());
        let first = |value: u64| (u128::from(value) << 64).div_ceil(all);
        (first(normal - half) as u64, (first(normal + half.max(1)) - 1) as u64)
    }

    /// The length of such a prefix.
    pub(crate) fn length_of(self, normal: u64) -> u32 {
        self.bits_of_norm().saturating_sub(normal.trailing_zeros())
    }
}

/// The high 64 bits of a product.
#[inline(always)]
pub(super) fn high(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}
