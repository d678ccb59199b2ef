//! Joins two Parquet files with and without the rule, in one run: so many orders (10,000,000, or the first
//! argument) with the customers of one country (100,000, or the second), whose orders are 1 % of all. The
//! times are medians; the sums must be equal.
//!
//! cargo run --release --example join [ORDERS [CUSTOMERS]]

use bloomline_datafusion::BloomJoin;
use datafusion::arrow::array::{ArrayRef, AsArray, Int64Array, StringArray};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::{JoinType, Result};
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::functions_aggregate::expr_fn::{count, max, sum};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::file::properties::WriterProperties;
use datafusion::prelude::{ParquetReadOptions, SessionConfig, SessionContext, col};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Of so many customers one is in the country.
const COUNTRIES: u64 = 100;
const RUNS: usize = 7;
const FILES: u64 = 2;

/// Numbers that look random, each from one `i`: ids as other systems hand them out.
fn id(i: u64) -> i64 {
    let bits = (i ^ i >> 31).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (bits ^ bits >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) as i64
}

fn write(
    path: &Path,
    rows: u64,
    batch: impl Fn(Vec<u64>) -> Vec<(&'static str, ArrayRef)>,
) -> Result<()> {
    let batch =
        |first: u64| RecordBatch::try_from_iter(batch((first..rows.min(first + 65_536)).collect()));
    let properties = WriterProperties::builder().set_dictionary_enabled(false).build();
    let mut writer =
        ArrowWriter::try_new(File::create(path)?, batch(0)?.schema(), Some(properties))?;
    for first in (0..rows).step_by(65_536) {
        writer.write(&batch(first)?)?;
    }
    writer.close()?;
    Ok(())
}

fn session(rule: bool, scans_filter: bool) -> SessionContext {
    let mut config = SessionConfig::new().with_target_partitions(2);
    config.options_mut().execution.parquet.pushdown_filters = scans_filter;
    let session = SessionStateBuilder::new().with_default_features().with_config(config);
    if !rule {
        return SessionContext::new_with_state(session.build());
    }
    let session = BloomJoin::default().add_to(session);
    SessionContext::new_with_state(session.build())
}

/// How many orders these customers have, and what for.
async fn query(context: &SessionContext, folder: &Path) -> Result<(i64, i64, String)> {
    let read = |name: &str| {
        let path = format!("{}/", folder.join(name).display());
        async move { context.read_parquet(path, ParquetReadOptions::default()).await }
    };
    let joined = read("customers").await?.join(
        read("orders").await?,
        JoinType::Inner,
        &["id"],
        &["customer"],
        None,
    )?;
    let sums = vec![count(col("cents")), sum(col("cents")), max(col("note"))];
    let batches = joined.aggregate(vec![], sums)?.collect().await?;
    let value = |i: usize| batches[0].column(i).as_primitive::<Int64Type>().value(0);
    Ok((value(0), value(1), batches[0].column(2).as_string_view().value(0).to_string()))
}

/// What this process has computed so far, all threads together, where the system says so.
fn computed() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = stat.rsplit(')').next()?.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    Some(Duration::from_millis(10 * (ticks()? + ticks()?)))
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 2]
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<()> {
    let mut numbers = std::env::args().skip(1).map(|number| number.parse().expect("a number"));
    let (orders, customers) =
        (numbers.next().unwrap_or(10_000_000), numbers.next().unwrap_or(100_000));
    let folder = tempfile::tempdir()?;
    for name in ["customers", "orders"] {
        std::fs::create_dir(folder.path().join(name))?;
    }
    write(&folder.path().join("customers/0.parquet"), customers, |rows| {
        let ids: Int64Array = rows.iter().map(|i| Some(id(i * COUNTRIES))).collect();
        vec![("id", Arc::new(ids) as ArrayRef)]
    })?;
    for file in 0..FILES {
        let rows = orders / FILES + if file == 0 { orders % FILES } else { 0 };
        write(&folder.path().join(format!("orders/{file}.parquet")), rows, |rows| {
            let order = |i: u64| i * FILES + file;
            let of = |i: u64| id(id(order(i)) as u64 % (customers * COUNTRIES).max(1));
            let customers: Int64Array = rows.iter().map(|&i| Some(of(i))).collect();
            let cents: Int64Array = rows.iter().map(|&i| Some(order(i) as i64 % 9973)).collect();
            let notes = rows.iter().map(|&i| format!("order {:x} of a shop in town", id(order(i))));
            let columns: [(&str, ArrayRef); 3] = [
                ("customer", Arc::new(customers)),
                ("cents", Arc::new(cents)),
                ("note", Arc::new(StringArray::from_iter_values(notes))),
            ];
            columns.to_vec()
        })?;
    }
    println!("{orders} orders, {customers} customers, medians of {RUNS} runs");

    let mut answers = Vec::new();
    for scans_filter in [false, true] {
        let sessions = [session(false, scans_filter), session(true, scans_filter)];
        let (mut times, mut computes) = ([vec![], vec![]], [vec![], vec![]]);
        for _ in 0..RUNS {
            for (i, session) in sessions.iter().enumerate() {
                let (start, before) = (Instant::now(), computed());
                answers.push(query(session, folder.path()).await?);
                times[i].push(start.elapsed());
                computes[i].push(computed().unwrap_or_default() - before.unwrap_or_default());
            }
        }
        let [without, with] = times.each_mut().map(|times| median(times));
        let [computed_without, computed_with] = computes.each_mut().map(|times| median(times));
        println!(
            "pushdown_filters = {scans_filter}: {without:.2?} without, {with:.2?} with the rule: {:.2} times as \
             fast; CPU {computed_without:.2?}, {computed_with:.2?}: {:.2}",
            without.as_secs_f64() / with.as_secs_f64(),
            computed_without.as_secs_f64() / computed_with.as_secs_f64()
        );
    }
    let (rows, cents, note) = &answers[0];
    assert!(answers.iter().all(|answer| *answer == answers[0]), "a row was lost: {answers:?}");
    println!("{rows} orders of these customers, {cents} cents, the last is {note}, in every run");
    Ok(())
}
