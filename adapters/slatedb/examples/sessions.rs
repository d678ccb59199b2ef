//! A store of login sessions, on SlateDB, whose tables have static filters: most lookups are of sessions
//! that are not there, and each table that a filter leaves out is a read less from the object store.
//!
//! cargo run --release --example sessions [SESSIONS]
//!
//! It writes so many sessions (100,000, or the argument) of 1,000 users into eight tables, the first four
//! with SlateDB's own policy, the others with Bloomline's. SlateDB makes no filter of a table of fewer
//! than 1,000 rows, so take 8,000 sessions or more. With Bloomline's policy:
//!
//! * New tables get static filters, a quarter smaller than SlateDB's.
//! * The old tables keep the filters that they have, and the policy behind the first one reads them. When
//!   all tables are compacted, leave it out.
//! * The prefix extractor puts users into the filters, too, so that listing the sessions of a user
//!   reads only the tables that have any.
//!
//! The same extractor must be given to every policy, and the same policies to a compactor or reader in
//! another process.

use bloomline_slatedb::{BloomFilterPolicy, BloomlinePolicy};
use slatedb::config::{FlushOptions, FlushType, Settings};
use slatedb::db_stats::SST_FILTER_NEGATIVE_COUNT;
use slatedb::object_store::{ObjectStore, memory::InMemory};
use slatedb::{Db, FilterPolicy, PrefixExtractor, PrefixTarget, WriteBatch};
use slatedb_common::metrics::{DefaultMetricsRecorder, MetricValue};
use std::error::Error;
use std::sync::Arc;

const USERS: u64 = 1000;
const TABLES: u64 = 8;

/// A key is "user/session": the prefix is what comes before the slash, with it.
struct User;

impl PrefixExtractor for User {
    fn name(&self) -> &str {
        "user"
    }

    fn prefix_len(&self, target: &PrefixTarget) -> Option<usize> {
        let (PrefixTarget::Point(key) | PrefixTarget::Prefix(key)) = target;
        Some(key.iter().position(|&byte| byte == b'/')? + 1)
    }
}

fn session(i: u64) -> String {
    format!("{:03}/{:016x}", i % USERS, bloomline::hash::hash_u64(i, 0))
}

async fn opened(
    store: &Arc<dyn ObjectStore>,
    policies: Vec<Arc<dyn FilterPolicy>>,
) -> Result<(Db, Arc<DefaultMetricsRecorder>), slatedb::Error> {
    let counters = Arc::new(DefaultMetricsRecorder::new());
    let settings = Settings { compactor_options: None, ..Default::default() };
    let db = Db::builder("/sessions", Arc::clone(store))
        .with_settings(settings)
        .with_filter_policies(policies)
        .with_metrics_recorder(counters.clone());
    Ok((db.build().await?, counters))
}

/// How many tables filters left out, of those that a lookup or scan would have read.
fn left_out(counters: &DefaultMetricsRecorder) -> u64 {
    let count = |value: &MetricValue| if let MetricValue::Counter(n) = value { *n } else { 0 };
    let counters = counters.snapshot();
    counters.by_name(SST_FILTER_NEGATIVE_COUNT).iter().map(|metric| count(&metric.value)).sum()
}

async fn put_table(db: &Db, sessions: impl Iterator<Item = u64>) -> Result<(), slatedb::Error> {
    let mut batch = WriteBatch::new();
    sessions.for_each(|i| batch.put(session(i), "logged in"));
    db.write(batch).await?;
    db.flush_with_options(FlushOptions { flush_type: FlushType::MemTable }).await
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let sessions: u64 = std::env::args().nth(1).map_or(Ok(100_000), |number| number.parse())?;
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());

    // As it was.
    let policy = slatedb::BloomFilterPolicy::new(10).with_prefix_extractor(Arc::new(User));
    let (db, _) = opened(&store, vec![Arc::new(policy)]).await?;
    for table in 0..TABLES / 2 {
        put_table(&db, (0..sessions).filter(|i| i % TABLES == table)).await?;
    }
    db.close().await?;

    // As it is with Bloomline.
    let policy = BloomlinePolicy::of_static(0.01)?.with_prefix_extractor(Arc::new(User));
    let before = BloomFilterPolicy::new(10).with_prefix_extractor(Arc::new(User)).reading_only();
    let (db, counters) = opened(&store, vec![Arc::new(policy), Arc::new(before)]).await?;
    for table in TABLES / 2..TABLES {
        put_table(&db, (0..sessions).filter(|i| i % TABLES == table)).await?;
    }
    for view in db.manifest().l0() {
        println!("a table with a filter block of {} bytes", view.sst.info.filter_len);
    }

    for i in 0..sessions {
        if db.get(session(i)).await?.is_none() {
            return Err(format!("session {i} is lost").into());
        }
    }
    println!("all {sessions} sessions are there");

    let (before, asked) = (left_out(&counters), 10_000);
    for i in 0..asked {
        if db.get(session(sessions + i)).await?.is_some() {
            return Err("a session that was never put".into());
        }
    }
    let found = left_out(&counters) - before;
    println!("{asked} lookups of others: filters left out {found} of {} tables", asked * TABLES);

    let before = left_out(&counters);
    let mut listed = db.scan_prefix("007/", ..).await?;
    let mut count = 0;
    while listed.next().await?.is_some() {
        count += 1;
    }
    let found = left_out(&counters) - before;
    println!("user 007 has {count} sessions: filters left out {found} of {TABLES} tables");
    db.close().await?;
    Ok(())
}
