//! Which instruction sets an x86-64 CPU has.

/// AVX2, and the scalar instructions that every CPU with AVX2 has beside it.
pub(super) fn has_avx2() -> bool {
    std::is_x86_feature_detected!("avx2")
        && std::is_x86_feature_detected!("bmi2")
        && std::is_x86_feature_detected!("popcnt")
}

/// AVX-512 where it pays. Only the builder of RocksDB's lines needs VBMI and GFNI, and only static
/// lines VPOPCNTDQ, which all CPUs with GFNI have; but requiring them leaves out the first generation (Skylake, Cascade Lake), which lowers the core's clock
/// under 512-bit multiplies.
pub(super) fn has_avx512() -> bool {
    has_avx2()
        && std::is_x86_feature_detected!("avx512f")
        && std::is_x86_feature_detected!("avx512bw")
        && std::is_x86_feature_detected!("avx512dq")
        && std::is_x86_feature_detected!("avx512vl")
        && std::is_x86_feature_detected!("avx512cd")
        && std::is_x86_feature_detected!("avx512vbmi")
        && std::is_x86_feature_detected!("avx512vpopcntdq")
        && std::is_x86_feature_detected!("gfni")
}
