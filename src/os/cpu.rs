//! What differs between CPUs of one instruction set, and follows from no size of a cache.
#![allow(unsafe_code)]

/// Whether an atomic OR takes longer than a branch that the CPU guesses wrong. A locked instruction of
/// an x86-64 waits for all stores before it; a Zen 4 and its predecessors do that in half the time.
/// Elsewhere an OR does not wait.
pub(crate) fn ors_are_slow() -> bool {
    #[cfg(target_arch = "x86_64")]
    return !x86::is_amd(0..=x86::ZEN5 - 1);
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Whether the instruction that spreads bits takes longer than sums of bytes: it is microcode in AMD's
/// cores before Zen 3, and those made after them.
pub(crate) fn pdep_is_slow() -> bool {
    #[cfg(target_arch = "x86_64")]
    return x86::has_slow_pdep();
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Whether a register of 512 bits takes no longer than one of 256: AMD's cores from Zen 5 on. (Those for notebooks
/// have halves, as a Zen 4; a virtual machine hides what tells them apart.)
pub(crate) fn wide_vectors_are_fast() -> bool {
    #[cfg(target_arch = "x86_64")]
    return x86::is_amd(x86::ZEN5..=u32::MAX);
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Whether Intel made it.
pub(crate) fn is_intel() -> bool {
    #[cfg(target_arch = "x86_64")]
    return x86::maker() == *b"GenuineIntel";
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Whether it is a Zen 5 of AMD's.
pub(crate) fn is_zen5() -> bool {
    #[cfg(target_arch = "x86_64")]
    return x86::is_amd(x86::ZEN5..=x86::ZEN5);
    #[cfg(not(target_arch = "x86_64"))]
    false
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::__cpuid;
    use std::ops::RangeInclusive;

    pub(super) const ZEN5: u32 = 0x1A;
    const ZEN3: u32 = 0x19;

    // (`unused_unsafe`: newer compilers know that every x86-64 CPU has cpuid.)
    #[allow(unused_unsafe)]
    pub(super) fn maker() -> [u8; 12] {
        // SAFETY: every x86-64 CPU has cpuid, and this leaf.
        let leaf = unsafe { __cpuid(0) };
        let mut maker = [0; 12];
        let parts = [leaf.ebx, leaf.edx, leaf.ecx].map(u32::to_le_bytes);
        maker.copy_from_slice(parts.as_flattened());
        maker
    }

    /// Whether AMD made it, in one of these families.
    #[allow(unused_unsafe)]
    pub(super) fn is_amd(families: RangeInclusive<u32>) -> bool {
        // SAFETY: every x86-64 CPU has cpuid, and this leaf.
        maker() == *b"AuthenticAMD" && families.contains(&family(unsafe { __cpuid(1) }.eax))
    }

    #[allow(unused_unsafe)]
    pub(super) fn has_slow_pdep() -> bool {
        let maker = maker();
        // SAFETY: every x86-64 CPU has cpuid, and this leaf.
        (maker == *b"AuthenticAMD" || maker == *b"HygonGenuine")
            && family(unsafe { __cpuid(1) }.eax) < ZEN3
    }

    /// The family in the version that leaf 1 tells.
    pub(super) fn family(version: u32) -> u32 {
        match version >> 8 & 0xF {
            0xF => 0xF + (version >> 20 & 0xFF),
            family => family,
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::x86::family;

    #[test]
    fn families_are_told_as_makers_count_them() {
        // A Zen 4 (Genoa), a Zen 5 (Turin), an Intel Xeon (Sapphire Rapids).
        assert_eq!([0x00A1_0F11, 0x00B0_0F21, 0x000C_06F2].map(family), [0x19, 0x1A, 6]);
    }
}
