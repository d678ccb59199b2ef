//! Columns of a matrix as filters by themselves: alone against the definition and the filter that the
//! column is, in groups on every backend, in any order and among others.

use crate::definition::fewer;
use crate::group::{SEED, Sample, check, hashes_in, probes};
use bloomline::definition::matrix as definition;
use bloomline::{
    Backend, Bitmap, Error, Filter, Group, Matrix, MatrixView, Params, View, views_contain_hash,
};
use std::cell::Cell;
use std::sync::Arc;

/// A matrix by the definition. Column `c` has keys of its own.
struct Defined {
    params: Params,
    columns: u32,
    bytes: Vec<u8>,
}

impl Defined {
    fn new(lines: u64, k: u32, columns: u32) -> Defined {
        let params = Params::new(lines, k, SEED).unwrap();
        let mut bytes = vec![0; lines as usize * definition::group_bytes(columns)];
        for column in 0..columns {
            for hash in hashes_in(column as usize, lines * 40) {
                definition::insert(&mut bytes, columns, k, column, hash);
            }
        }
        Defined { params, columns, bytes }
    }

    fn contains(&self, column: usize, hash: u64) -> bool {
        definition::contains(&self.bytes, self.columns, self.params.k(), column as u32, hash)
    }

    fn filter(&self, column: usize) -> Filter {
        let lines = definition::column(&self.bytes, self.columns, column as u32);
        Filter::from_lines(self.params, &lines, 0).unwrap()
    }

    /// The same by the library.
    fn matrix(&self, backend: Backend) -> Matrix {
        let columns = self.columns as usize;
        let mut matrix = Matrix::with_backend(self.params, columns, backend).unwrap();
        let filters: Vec<_> = (0..columns).map(|column| self.filter(column)).collect();
        matrix.set_columns(0, filters.iter().map(Filter::view), 1).unwrap();
        assert!(matrix.groups() == self.bytes);
        matrix
    }
}

fn views<'m>(matrix: &'m Matrix, columns: &[usize]) -> Vec<View<'m>> {
    columns.iter().map(|&column| matrix.column_view(column).unwrap()).collect()
}

// ---- alone ----

#[test]
fn a_view_of_a_column_answers_as_the_definition() {
    for backend in Backend::available() {
        for (lines, k, columns) in
            [(3, 6, 130), (1, 1, 1), (2, 8, 64), (5, 9, 65), (1, 16, 700), (40, 7, 3)]
        {
            let defined = Defined::new(lines, k, columns);
            let matrix = defined.matrix(backend);
            let mut encoded = vec![0; 5];
            encoded.extend(matrix.to_bytes().unwrap());
            // At any address.
            let opened = MatrixView::open_with_backend(&encoded[5..], backend).unwrap();
            let columns = columns as usize;
            for column in [0, columns / 2, columns.saturating_sub(2), columns - 1] {
                let views = [matrix.column_view(column), opened.column_view(column)];
                for view in views.map(Result::unwrap) {
                    assert_eq!(view.backend(), backend);
                    check_one(&view, &defined, column);
                }
            }
            assert_eq!(matrix.column_view(columns).unwrap_err(), Error::Column(columns as u64));
            assert_eq!(
                opened.column_view(usize::MAX).unwrap_err(),
                Error::Column(usize::MAX as u64)
            );
        }
    }
}

fn check_one(view: &View<'_>, defined: &Defined, column: usize) {
    let filter = defined.filter(column);
    let mut hashes = hashes_in(column, 70);
    hashes.extend(probes());
    let plain: Vec<bool> = hashes.iter().map(|&hash| defined.contains(column, hash)).collect();
    assert!(plain[..40].iter().all(|&answer| answer) && plain.iter().any(|&answer| !answer));
    for (&hash, &answer) in hashes.iter().zip(&plain) {
        assert_eq!(view.contains_hash(hash), answer);
        view.prefetch_hash(hash);
    }
    let mut answers = Bitmap::new();
    for count in (0..=hashes.len().min(130)).chain([hashes.len()]) {
        let present = view.contains_hashes(&hashes[..count], &mut answers);
        assert!(answers.iter().eq(plain[..count].iter().copied()));
        assert_eq!(present, answers.count_ones());
    }
    let keys: Vec<String> = (0..100).map(|key| format!("key {key}")).collect();
    view.contains_keys(&keys, &mut answers);
    let by_key = keys.iter().map(|key| filter.contains(key));
    assert!(answers.iter().eq(by_key) && view.hash("apple") == filter.hash("apple"));
    // What it says of itself.
    let own = filter.view();
    assert_eq!(view.params(), Some(defined.params));
    assert_eq!((view.lines(), view.key_count(), view.static_params()), (&[][..], 0, None));
    assert_eq!(
        (view.fill(), view.estimated_keys(), view.estimated_rate(), view.worst_line_rate()),
        (own.fill(), own.estimated_keys(), own.estimated_rate(), own.worst_line_rate())
    );
    let says = format!("{view:?}");
    assert!(says.contains("Column") && says.contains(&format!("k: {}", defined.params.k())));
}

/// A batch that prefetches, and one key in views of any kinds.
#[test]
fn columns_of_a_large_matrix_and_views_side_by_side() {
    let params = Params::new(20_000, 6, SEED).unwrap();
    let mut matrix = Matrix::new(params, 2).unwrap();
    let mut filter = Filter::new(params).unwrap();
    let hashes = hashes_in(1, 40_000);
    matrix.insert_hashes(1, &hashes[..20_000]).unwrap();
    filter.insert_hashes(&hashes[..20_000]);
    let (mut answers, mut same) = (Bitmap::new(), Bitmap::new());
    let views = [matrix.column_view(0).unwrap(), matrix.column_view(1).unwrap(), filter.view()];
    views[1].contains_hashes(&hashes, &mut answers);
    filter.contains_hashes(&hashes, &mut same);
    assert!(answers == same);
    for &hash in &hashes[19_900..20_100] {
        views_contain_hash(&views, hash, &mut answers);
        assert!(!answers[0] && answers[1] == answers[2]);
    }
}

#[test]
fn a_column_becomes_one_of_another_matrix() {
    let from = Defined::new(12, 6, 70);
    let source = from.matrix(Backend::active().unwrap());
    let small = Params::new(3, 6, SEED).unwrap();
    let mut same = Matrix::new(from.params, 3).unwrap();
    let mut folded = Matrix::new(small, 3).unwrap();
    for (to, column) in [(0, 69), (1, 0), (2, 64)] {
        let view = source.column_view(column).unwrap();
        same.set_column(to, &view).unwrap();
        folded.set_column(to, &view).unwrap();
        let mut filter = from.filter(column);
        assert!(same.column(to).unwrap().lines() == filter.lines());
        filter.fold().unwrap();
        filter.fold().unwrap();
        assert!(folded.column(to).unwrap().lines() == filter.lines());
    }
    let misfit = Matrix::new(small.with_seed(1), 1).unwrap();
    assert!(same.set_column(0, &misfit.column_view(0).unwrap()).is_err());
}

// ---- in groups ----

/// So many numbers below `end`, in an order without a pattern, none twice.
fn mixed(end: usize, count: usize) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..end).collect();
    numbers.sort_by_key(|&number| bloomline::hash::hash_u64(number as u64, 3));
    numbers.truncate(count);
    numbers
}

#[test]
fn a_group_asks_columns_in_any_order() {
    let all = [(3, 6, 64), (2, 8, 200), (1, 12, 700), (2, 5, 3000)];
    for &(lines, k, columns) in if fewer() { &all[..3] } else { &all[..] } {
        let defined = Defined::new(lines, k, columns);
        let all = columns as usize;
        let mut orders = vec![
            (0..all).collect::<Vec<_>>(),
            (0..all).rev().collect(),
            mixed(all, all),
            mixed(all, all / 3),
            (0..all).step_by(3).collect(),
            (7..all).collect(),
            (0..all - 1).collect(),
            (64.min(all - 3)..all).collect(),
            vec![0, 1, all - 1],
            vec![5; 4],
            (0..all).chain(0..all).collect(),
            vec![9, 3, 9, 4, 9, 63, 3],
        ];
        orders.extend((1..9).map(|few| mixed(all, few)));
        for backend in Backend::available() {
            let matrix = defined.matrix(backend);
            for order in &orders {
                let plain = |i: usize, hash| defined.contains(order[i], hash);
                let what = format!("{} of {all}, k = {k}, {}", order.len(), backend.name());
                check(&views(&matrix, order), plain, &what);
            }
        }
    }
}

/// A member of a group: a column of one of the matrices, or another filter.
enum Source {
    Column(usize, usize),
    Other(usize),
}

#[test]
fn a_group_asks_columns_among_others() {
    let defined = [
        Defined::new(2, 6, 130),
        Defined::new(2, 6, 130),
        Defined::new(2, 7, 64),
        Defined::new(5, 6, 300),
    ];
    let others: Vec<Sample> = (0..40)
        .map(|i| match i % 3 {
            0 => Sample::native(i, 5, 6, SEED),
            1 => Sample::cuckoo(i),
            _ => Sample::native(i, 3, 9, SEED),
        })
        .collect();
    let column = |m: usize, c: usize| Source::Column(m, c);
    let in_pieces: Vec<Source> = (0..40)
        .map(Source::Other)
        .take(24)
        .chain((0..130).map(|c| column(0, c)))
        .chain((0..64).map(|c| column(2, c)))
        .chain((64..128).map(|c| column(1, c)))
        .chain((24..40).map(Source::Other))
        .chain((0..300).map(|c| column(3, c)))
        .collect();
    let by_turns: Vec<Source> = (0..300)
        .map(|i| match i % 5 {
            4 => Source::Other(i % 40),
            m => column(m, i * 7 % defined[m].columns as usize),
        })
        .collect();
    let aligned: Vec<Source> = (0..64)
        .map(|c| column(2, c))
        .chain((0..128).map(|c| column(0, c)))
        .chain((0..3).map(Source::Other))
        .collect();
    for backend in Backend::available() {
        let matrices: Vec<Matrix> = defined.iter().map(|defined| defined.matrix(backend)).collect();
        for (sources, what) in
            [(&in_pieces, "in pieces"), (&by_turns, "by turns"), (&aligned, "aligned")]
        {
            let views: Vec<View<'_>> = sources
                .iter()
                .map(|source| match *source {
                    Source::Column(m, c) => matrices[m].column_view(c).unwrap(),
                    Source::Other(i) => others[i].view(backend),
                })
                .collect();
            let plain = |i: usize, hash| match sources[i] {
                Source::Column(m, c) => defined[m].contains(c, hash),
                Source::Other(i) => (others[i].plain)(hash),
            };
            check(&views, plain, &format!("{what}, {}", backend.name()));
        }
    }
}

/// Keys for members that hash them in other ways.
#[test]
fn a_group_of_columns_of_two_seeds_and_rocksdb() {
    let key = b"a key";
    let matrices = [0, 1].map(|seed| {
        let params = Params::new(2, 6, seed).unwrap();
        let mut matrix = Matrix::new(params, 70).unwrap();
        for column in (seed as usize..70).step_by(3) {
            matrix.insert(column, key).unwrap();
        }
        matrix
    });
    let rocksdb = Sample::rocksdb(0, 3, 6);
    let mut views = views(&matrices[0], &(0..70).collect::<Vec<_>>());
    views.extend((0..70).map(|column| matrices[1].column_view(column).unwrap()));
    views.insert(20, rocksdb.view(Backend::active().unwrap()));
    let expected: Vec<bool> = views.iter().map(|view| view.contains(key)).collect();
    let group = Group::new(views).unwrap();
    let mut answers = Bitmap::new();
    group.contains(key, &mut answers);
    assert!(answers.iter().eq(expected));
    // One hash is not that of all.
    assert_eq!(group.contains_hash(1, &mut answers), 141);
}

#[test]
fn a_group_owns_a_matrix() {
    let defined = Defined::new(2, 6, 100);
    let matrix = Arc::new(defined.matrix(Backend::active().unwrap()));
    let members: Vec<_> = (0..100).map(|column| (Arc::clone(&matrix), column)).collect();
    drop(matrix);
    let group = Group::of(members, |(matrix, column)| matrix.column_view(*column).unwrap());
    let group = group.unwrap();
    let mut answers = Bitmap::new();
    for hash in probes() {
        group.contains_hash(hash, &mut answers);
        assert!((0..100).all(|column| answers[column] == defined.contains(column, hash)));
    }
}

// ---- bytes that are not as they were ----

#[test]
fn columns_of_bytes_that_are_gone_have_every_key() {
    struct Fickle(Vec<u8>, Cell<bool>);
    impl AsRef<[u8]> for Fickle {
        fn as_ref(&self) -> &[u8] {
            if self.1.get() { &self.0 } else { &self.0[..100] }
        }
    }
    let bytes = Matrix::new(Params::new(2, 6, SEED).unwrap(), 70).unwrap().to_bytes().unwrap();
    let opened = MatrixView::open(Fickle(bytes, true.into())).unwrap();
    let there = opened.column_view(3).unwrap();
    opened.get_ref().1.set(false);
    let gone = opened.column_view(3).unwrap();
    assert!(!there.contains("apple") && gone.contains("apple"));
    assert_eq!(gone.hash("apple"), there.hash("apple"));
    let group = Group::new([there, gone, there, there]).unwrap();
    let mut answers = Bitmap::new();
    assert_eq!(group.contains("apple", &mut answers), 1);
    assert!(answers[1]);
}

/// Bits behind the last column, which no writer leaves, are nobody's.
#[test]
fn bits_behind_the_last_column_are_no_member() {
    let shape = Params::new(1, 6, SEED).unwrap();
    let mut bytes = Matrix::new(shape, 70).unwrap().to_bytes().unwrap();
    let groups = definition::group_bytes(70);
    bytes[..groups].fill(0xFF);
    let opened = MatrixView::open_unverified(&bytes[..]).unwrap();
    for order in [(0..70).collect::<Vec<_>>(), (0..69).rev().collect(), vec![1, 2, 65, 69]] {
        let views = order.iter().map(|&column| opened.column_view(column).unwrap());
        let mut answers = Bitmap::new();
        assert_eq!(Group::new(views).unwrap().contains_hash(1, &mut answers), order.len());
        assert_eq!(answers.count_ones(), order.len());
    }
}
