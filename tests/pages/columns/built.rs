//! A program of `docs/how-to/columns.md`: threads build a filter of their columns. `code` compares them.

use bloomline::{ConcurrentBuilder, Error, Params};

#[test]
fn main() -> Result<(), Error> {
    // 1,000,000 keys at 1 % would take 1.2 MB. In 1 MiB they give 2 %.
    let params = Params::for_rate_within(1_000_000, 0.01, 1 << 20)?;
    assert!((0.019..0.021).contains(&params.rate(1_000_000)));

    let builder = ConcurrentBuilder::new(params.foldable(6)?)?;
    std::thread::scope(|scope| {
        for part in 0..4 {
            let builder = &builder;
            scope.spawn(move || {
                let ids: Vec<i64> = (part * 20_000..(part + 1) * 20_000).collect();
                ids.chunks(2048).for_each(|batch| builder.insert_column(batch));
            });
        }
    });
    assert_eq!(builder.key_count(), 80_000);

    // Fewer keys came, so the filter is halved as often as its rate stays below 1 %. If the rate is above 30 %: None.
    let filter = builder.finish_to_rate(0.01, 0.3)?.expect("worth its probes");
    assert_eq!(filter.params().bytes(), 128 << 10);
    assert!(filter.contains(&79_999i64));
    Ok(())
}
