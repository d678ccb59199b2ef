//! Where filters are in a plan, and that they drop rows.

use crate::Random;
use crate::table::{Rows, Session, joined, read, rows, text, write};
use crate::types::keys;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::JoinType;
use datafusion::functions_aggregate::expr_fn::count;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::prelude::{SessionContext, col, lit};
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

/// Ids of the build side, and of 20,000 rows of the probe side, of which one in 50 is there.
fn few_of_many(folder: &Path) -> (Vec<Option<i64>>, Vec<Option<i64>>) {
    let mut random = Random(5);
    let few: Vec<_> = (0..100).map(|i| Some(i * 50)).collect();
    let many: Vec<_> = (0..20_000).map(|_| Some(random.below(5000) as i64)).collect();
    write(folder, "few", &[keys(&few, &DataType::Int64)], 1);
    write(folder, "many", &[keys(&many, &DataType::Int64)], 2);
    (few, many)
}

fn one_session(scans_filter: bool) -> Session {
    Session { rule: true, partitions: 2, scans_filter, broadcasts: true }
}

/// The filters of a plan that are nodes of their own, from the top.
fn filters(plan: &Arc<dyn ExecutionPlan>) -> Vec<Arc<dyn ExecutionPlan>> {
    let is_one = |plan: &Arc<dyn ExecutionPlan>| {
        let filter = plan.downcast_ref::<FilterExec>();
        filter.is_some_and(|filter| filter.predicate().to_string().starts_with("bloom("))
    };
    let here = is_one(plan).then(|| Arc::clone(plan));
    here.into_iter().chain(plan.children().into_iter().flat_map(filters)).collect()
}

async fn joined_plan(context: &SessionContext, folder: &Path) -> Arc<dyn ExecutionPlan> {
    let (few, many) = (read(context, folder, "few").await, read(context, folder, "many").await);
    let joined = few.join(many, JoinType::Inner, &["few_key0"], &["many_key0"], None).unwrap();
    joined.create_physical_plan().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_are_dropped_above_the_scan() {
    let folder = tempfile::tempdir().unwrap();
    let (few, many) = few_of_many(folder.path());
    let expected = joined(few.len(), many.len(), JoinType::Inner, |l, r| few[l] == many[r]);
    for broadcasts in [true, false] {
        let context = Session { broadcasts, ..one_session(false) }.context();
        let plan = joined_plan(&context, folder.path()).await;
        let found = filters(&plan);
        let [filter] = &found[..] else { panic!("{}", text(&plan)) };
        assert!(filter.children()[0].children().is_empty(), "above the scan: {}", text(&plan));
        assert_eq!(rows(Arc::clone(&plan), &context).await, expected);
        let left = filter.metrics().unwrap().output_rows().unwrap();
        assert!(
            (expected.len()..expected.len() + 500).contains(&left),
            "{left} of {}",
            expected.len()
        );
        assert!(text(&plan).contains("of 100 keys"), "{}", text(&plan));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_are_dropped_by_the_scan() {
    let folder = tempfile::tempdir().unwrap();
    let (few, many) = few_of_many(folder.path());
    let expected = joined(few.len(), many.len(), JoinType::Inner, |l, r| few[l] == many[r]);
    // The join's own filter would drop as many.
    let mut session = one_session(true).builder();
    let options = session.config().as_mut().unwrap().options_mut();
    options.optimizer.enable_join_dynamic_filter_pushdown = false;
    let context = SessionContext::new_with_state(session.build());
    let plan = joined_plan(&context, folder.path()).await;
    assert!(filters(&plan).is_empty(), "{}", text(&plan));
    assert_eq!(rows(Arc::clone(&plan), &context).await, expected);
    let scan = scans(&plan).into_iter().find(|scan| text(scan).contains("bloom(")).unwrap();
    let left = scan.metrics().unwrap().output_rows().unwrap();
    assert!((expected.len()..expected.len() + 500).contains(&left), "{left} of {}", expected.len());
}

fn scans(plan: &Arc<dyn ExecutionPlan>) -> Vec<Arc<dyn ExecutionPlan>> {
    if plan.children().is_empty() {
        return vec![Arc::clone(plan)];
    }
    plan.children().into_iter().flat_map(scans).collect()
}

/// A filter that all rows pass is asked for few of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn useless_filters_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let (few, mut random) = ((0..300).map(Some).collect::<Vec<_>>(), Random(6));
    let many: Vec<_> = (0..200_000).map(|_| Some(random.below(310) as i64)).collect();
    write(folder.path(), "few", &[keys(&few, &DataType::Int64)], 1);
    write(folder.path(), "many", &[keys(&many, &DataType::Int64)], 1);
    let context = Session { partitions: 1, ..one_session(false) }.context();
    let plan = joined_plan(&context, folder.path()).await;
    let got = rows(Arc::clone(&plan), &context).await;
    let matching = many.iter().flatten().filter(|&&id| id < 300).count();
    assert_eq!(got.len(), matching);
    // Of the rows that match nothing, those of unasked batches pass.
    let passed = filters(&plan)[0].metrics().unwrap().output_rows().unwrap();
    assert!(passed > matching + (many.len() - matching) / 20, "{passed} of {matching}");
    assert!(passed < many.len(), "{passed}");
}

/// A fact and its dimensions: filters of all that are joined reach the scan of the fact.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn filters_of_several_joins_reach_a_scan() {
    let (folder, mut random) = (tempfile::tempdir().unwrap(), Random(7));
    let (items, shops) = (random.ids(40, 100), random.ids(30, 60));
    let fact = [random.ids(3000, 100), random.ids(3000, 60)];
    write(folder.path(), "item", &[keys(&items, &DataType::Utf8)], 1);
    write(folder.path(), "shop", &[keys(&shops, &DataType::Int64)], 1);
    write(
        folder.path(),
        "fact",
        &[keys(&fact[0], &DataType::Utf8), keys(&fact[1], &DataType::Int64)],
        3,
    );
    let mut expected = Rows::new();
    for (item, shop, row) in (0..items.len()).flat_map(|item| {
        let of_item = move |shop| (0..3000).map(move |row| (item, shop, row));
        (0..30).flat_map(of_item)
    }) {
        if items[item].is_some()
            && shops[shop].is_some()
            && items[item] == fact[0][row]
            && shops[shop] == fact[1][row]
        {
            expected.push([shop, item, row].map(|number| Some(number as i64)).to_vec());
        }
    }
    expected.sort();
    for session in Session::all() {
        let context = session.context();
        let item = read(&context, folder.path(), "item").await;
        let shop = read(&context, folder.path(), "shop").await;
        let fact = read(&context, folder.path(), "fact").await;
        let some = item.join(fact, JoinType::Inner, &["item_key0"], &["fact_key0"], None).unwrap();
        let all = shop.join(some, JoinType::Inner, &["shop_key0"], &["fact_key1"], None).unwrap();
        let all = all.select_columns(&["shop", "item", "fact"]).unwrap();
        let plan = all.create_physical_plan().await.unwrap();
        let of_fact = scans_with_filters(&plan).into_iter().find(|lines| lines.contains("/fact/"));
        let of_fact = of_fact.unwrap_or_default();
        assert_eq!(of_fact.matches("bloom(").count(), 2, "{of_fact}\nof {}", text(&plan));
        assert_eq!(rows(plan, &context).await, expected, "{session:?}");
    }
}

/// Each scan, with the filters right above it.
fn scans_with_filters(plan: &Arc<dyn ExecutionPlan>) -> Vec<String> {
    if plan.children().len() == 1 && plan.downcast_ref::<FilterExec>().is_some() {
        let below = scans_with_filters(plan.children()[0]);
        let own = plan.downcast_ref::<FilterExec>().unwrap().predicate().to_string();
        return below.into_iter().map(|scan| own.clone() + "\n" + &scan).collect();
    }
    match plan.children()[..] {
        [] => vec![text(plan)],
        ref children => children.iter().flat_map(|child| scans_with_filters(child)).collect(),
    }
}

struct Sides {
    folder: TempDir,
    few: Vec<Option<i64>>,
    many: Vec<Option<i64>>,
}

fn sides() -> Sides {
    let (folder, mut random) = (tempfile::tempdir().unwrap(), Random(8));
    let (few, many) = (random.ids(40, 90), random.ids(2000, 90));
    write(folder.path(), "few", &[keys(&few, &DataType::Int64)], 1);
    write(folder.path(), "many", &[keys(&many, &DataType::Int64)], 2);
    Sides { folder, few, many }
}

/// What is between the join and the scan.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn filters_pass_what_they_may() {
    let Sides { folder, few, many } = sides();
    let is_match = |l: usize, id: Option<i64>| few[l].is_some() && few[l] == id;
    for session in Session::all() {
        let context = session.context();
        let read = |name| read(&context, folder.path(), name);
        let many_rows = || async { read("many").await };

        // A filter of the query.
        let some = many_rows().await.filter(col("many").lt(lit(1000_i64))).unwrap();
        let plan =
            read("few").await.join(some, JoinType::Inner, &["few_key0"], &["many_key0"], None);
        let plan = plan.unwrap().create_physical_plan().await.unwrap();
        let expected = joined(40, 1000, JoinType::Inner, |l, r| is_match(l, many[r]));
        assert_eq!(rows(plan, &context).await, expected, "{session:?}");

        // Groups: the count of a group stays what it is.
        let groups = many_rows()
            .await
            .aggregate(vec![col("many_key0")], vec![count(col("many")).alias("count")]);
        let plan = read("few").await.join(
            groups.unwrap(),
            JoinType::Inner,
            &["few_key0"],
            &["many_key0"],
            None,
        );
        let plan = plan.unwrap().create_physical_plan().await.unwrap();
        assert!(text(&plan).contains("bloom("), "{}", text(&plan));
        let counted = (0..40).filter(|&l| few[l].is_some()).filter_map(|l| {
            let count = many.iter().filter(|&&id| is_match(l, id)).count() as i64;
            (count > 0).then(|| vec![Some(l as i64), Some(count)])
        });
        assert_eq!(rows(plan, &context).await, counted.collect::<Rows>(), "{session:?}");

        // The first rows, of which not all match.
        for from in [0, 30] {
            let first = many_rows().await.sort(vec![col("many").sort(true, true)]).unwrap();
            let first = first.limit(from, Some(100)).unwrap();
            let plan =
                read("few").await.join(first, JoinType::Inner, &["few_key0"], &["many_key0"], None);
            let plan = plan.unwrap().create_physical_plan().await.unwrap();
            let expected = joined(40, 2000, JoinType::Inner, |l, r| {
                (from..from + 100).contains(&r) && is_match(l, many[r])
            });
            assert_eq!(
                rows(Arc::clone(&plan), &context).await,
                expected,
                "{session:?} {}",
                text(&plan)
            );
        }

        // A union whose parts have their columns in another order.
        let one = many_rows()
            .await
            .select(vec![col("many_key0").alias("a_key"), col("many").alias("b")])
            .unwrap();
        let other = many_rows()
            .await
            .select(vec![col("many").alias("a_key"), col("many_key0").alias("b")])
            .unwrap();
        let both = one.union(other).unwrap().filter(col("b").is_not_null()).unwrap();
        let plan = read("few").await.join(both, JoinType::Inner, &["few_key0"], &["a_key"], None);
        let plan = plan.unwrap().create_physical_plan().await.unwrap();
        let mut expected = joined(40, 2000, JoinType::Inner, |l, r| is_match(l, many[r]));
        expected.extend((0..40).filter_map(|l| {
            let row = few[l].filter(|&id| many[id as usize].is_some())?;
            Some(vec![Some(l as i64), many[row as usize]])
        }));
        expected.sort();
        assert_eq!(
            rows(Arc::clone(&plan), &context).await,
            expected,
            "{session:?} {}",
            text(&plan)
        );
    }
}

/// Columns of one name, from two tables.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_tell_no_columns_apart() {
    let Sides { folder, few, many } = sides();
    for session in Session::all() {
        let context = session.context();
        let read = |name| read(&context, folder.path(), name);
        // Two columns `x`: the first is the row's number, the second the key.
        let numbers = read("many").await.select(vec![col("many"), col("many").alias("x")]).unwrap();
        let numbers = numbers.alias("numbers").unwrap();
        let of_keys =
            read("many").await.select(vec![col("many").alias("row"), col("many_key0").alias("x")]);
        let of_keys = of_keys.unwrap().alias("keys").unwrap();
        let on = col("numbers.many").eq(col("keys.row"));
        let both = numbers.join_on(of_keys, JoinType::Inner, [on]).unwrap();
        let few_rows = read("few").await;
        for side in ["numbers.x", "keys.x"] {
            let on = col("few_key0").eq(col(side));
            let all = few_rows.clone().join_on(both.clone(), JoinType::Inner, [on]).unwrap();
            let all = all.select_columns(&["few", "many"]).unwrap();
            let plan = all.create_physical_plan().await.unwrap();
            let expected = joined(40, 2000, JoinType::Inner, |l, r| {
                few[l].is_some()
                    && few[l] == if side == "keys.x" { many[r] } else { Some(r as i64) }
            });
            assert_eq!(
                rows(Arc::clone(&plan), &context).await,
                expected,
                "{session:?} {}",
                text(&plan)
            );
        }
    }
}
