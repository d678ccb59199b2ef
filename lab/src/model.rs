//! False-positive rates in theory, of the designs that are compared.

/// Information theory's bound: no filter has fewer.
pub(crate) fn bound(bits: f64) -> f64 {
    0.5_f64.powf(bits)
}

/// The standard Bloom filter, with the best k.
pub(crate) fn classic(bits: f64) -> f64 {
    bloomline::sizing::classic::rate_at(bits, bloomline::sizing::classic::best_k(bits))
}

/// This library's, with the k that it takes.
pub(crate) fn line(bits: f64) -> f64 {
    bloomline::sizing::rate(bits, bloomline::sizing::best_k(bits))
}

/// Split blocks of 256 bits: a bit in each of 8 words of 32, as in Parquet. The keys of a block follow
/// Poisson's distribution.
pub(crate) fn sbbf(bits: f64) -> f64 {
    let mean = 256.0 / bits;
    let (mut chance, mut sum) = ((-mean).exp(), 0.0);
    for keys in 1..(mean * 4.0) as i32 + 60 {
        chance *= mean / f64::from(keys);
        sum += chance * (1.0 - (31.0_f64 / 32.0).powi(keys)).powi(8);
    }
    sum
}

/// Bits per key for a rate.
pub(crate) fn bits_for(rate: f64, model: fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (2.0, 64.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if model(middle) > rate { low = middle } else { high = middle }
    }
    high
}
