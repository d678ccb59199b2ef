//! Views that hold their bytes: they answer as a borrowed view of the same bytes, wherever the
//! bytes are, and say "maybe" when bytes are gone.

use bloomline::engines::{leveldb, rocksdb};
use bloomline::{
    CountingFilter, CuckooFilter, CuckooParams, Error, Filter, OwnedView, Params, View, hash,
};
use std::cell::Cell;
use std::sync::Arc;

const KEYS: u64 = 500;

fn hashes() -> Vec<u64> {
    (0..KEYS).map(|key| hash::hash_u64(key, 0)).collect()
}

fn probes() -> Vec<u64> {
    (0..20 * KEYS).map(|key| hash::hash_u64(key, 0)).collect()
}

fn assert_same<B: AsRef<[u8]>>(owned: &OwnedView<B>, view: View<'_>, what: &str) {
    let probes = probes();
    let (mut a, mut b) = (vec![0; probes.len().div_ceil(64)], vec![0; probes.len().div_ceil(64)]);
    let present = owned.contains_hashes(&probes, &mut a);
    assert_eq!(present, view.contains_hashes(&probes, &mut b), "{what}");
    assert_eq!(a, b, "{what}");
    for &hash in &probes {
        assert_eq!(owned.contains_hash(hash), view.contains_hash(hash), "{what}");
    }
    // As many in a call as are answered without a view, and one more.
    for count in 1..=33 {
        let few = &probes[KEYS as usize - 2..][..count];
        let (mut a, mut b) = ([0; 1], [0; 1]);
        let present = owned.contains_hashes(few, &mut a);
        assert_eq!(present, view.contains_hashes(few, &mut b), "{what}, {count}");
        assert_eq!(a, b, "{what}, {count}");
    }
    assert_eq!(owned.contains(b"key"), view.contains(b"key"), "{what}");
    assert_eq!(owned.view().params(), view.params(), "{what}");
    assert_eq!(owned.view().cuckoo_params(), view.cuckoo_params(), "{what}");
    assert_eq!(owned.view().key_count(), view.key_count(), "{what}");
}

/// Encoded filters of all kinds that a view can be of.
fn encoded() -> [(&'static str, Vec<u8>); 4] {
    let params = Params::for_rate(KEYS, 0.01).unwrap();
    let mut plain = Filter::new(params).unwrap();
    let mut classic = crate::definition::classic_filter(params).unwrap();
    let mut counting = CountingFilter::new(params).unwrap();
    let mut cuckoo = CuckooFilter::new(CuckooParams::for_rate(KEYS, 0.01).unwrap()).unwrap();
    for hash in hashes() {
        plain.insert_hash(hash);
        classic.insert_hash(hash);
        counting.insert_hash(hash);
        assert!(cuckoo.insert_hash(hash).is_ok());
    }
    [
        ("plain", plain.to_bytes().unwrap()),
        ("classic", classic.to_bytes().unwrap()),
        ("counting", counting.to_bytes().unwrap()),
        ("cuckoo", cuckoo.to_bytes().unwrap()),
    ]
}

#[test]
fn it_answers_as_a_view_from_whatever_holds_the_bytes() {
    for (what, bytes) in encoded() {
        let view = View::open(&bytes).unwrap();
        let shared: Arc<[u8]> = bytes.clone().into();
        assert_same(&OwnedView::open(&bytes[..]).unwrap(), view, what);
        assert_same(&OwnedView::open(bytes.clone()).unwrap(), view, what);
        assert_same(
            &OwnedView::open_unverified(bytes.clone().into_boxed_slice()).unwrap(),
            view,
            what,
        );
        let owned = OwnedView::open(Arc::clone(&shared)).unwrap();
        assert!(hashes().into_iter().all(|hash| owned.contains_hash(hash)), "{what}");
        let moved = std::thread::spawn(move || (owned.clone(), owned)).join().unwrap();
        assert_same(&moved.0, view, what);
        assert_same(&moved.1, view, what);
        assert!(Arc::ptr_eq(moved.0.get_ref(), &shared));
        assert!(Arc::ptr_eq(&moved.1.into_inner(), &shared));
    }
}

#[test]
fn blocks_of_engines() {
    type Build = fn(&[u64], f64, &mut [u8]) -> Result<usize, Error>;
    for (what, build) in
        [("rocksdb", rocksdb::block_build as Build), ("leveldb", leveldb::block_build as Build)]
    {
        let mut block = vec![0; 4096];
        let len = build(&hashes(), 10.0, &mut block).unwrap();
        block.truncate(len);
        if what == "rocksdb" {
            let owned = OwnedView::open_rocksdb(block.clone()).unwrap();
            assert_same(&owned, View::open_rocksdb(&block).unwrap(), what);
        } else {
            let owned = OwnedView::open_leveldb(block.clone()).unwrap();
            assert_same(&owned, View::open_leveldb(&block).unwrap(), what);
        }
    }
    // Of no keys, and of all: their lines are not in the block.
    let (none, all) = (vec![], vec![0; 6]);
    assert!(!OwnedView::open_rocksdb(none.clone()).unwrap().contains_hash(1));
    assert!(OwnedView::open_rocksdb(all).unwrap().contains_hash(1));
    assert!(!OwnedView::open_leveldb(none).unwrap().contains_hash(1));
    assert!(OwnedView::open_leveldb(vec![1, 2, 31]).unwrap().contains_hash(1));
    assert_eq!(OwnedView::open_rocksdb(vec![1, 0xFE, 0, 0, 0, 0]).err(), Some(Error::Layout(0xFE)));
}

#[test]
fn bytes_that_are_no_filter() {
    let (_, mut bytes) = encoded().into_iter().next().unwrap();
    bytes[3] ^= 1;
    assert_eq!(OwnedView::open(bytes.clone()).unwrap_err(), Error::Checksum);
    OwnedView::open_unverified(bytes.clone()).unwrap();
    bytes.pop();
    assert_eq!(OwnedView::open_unverified(bytes).unwrap_err(), Error::NotAFilter);
}

/// Bytes of which fewer are there when it says so.
struct Fickle(Vec<u8>, Cell<usize>);

impl AsRef<[u8]> for Fickle {
    fn as_ref(&self) -> &[u8] {
        &self.0[..self.1.get()]
    }
}

#[test]
fn bytes_that_are_gone_may_have_had_every_key() {
    for (what, bytes) in encoded() {
        let len = bytes.len();
        let lines = View::open(&bytes).unwrap().lines().len();
        let owned = OwnedView::open(Fickle(bytes.clone(), Cell::new(len))).unwrap();
        let absent = probes().into_iter().find(|&hash| !owned.contains_hash(hash)).unwrap();
        for left in [0, 1, 64, lines - 1] {
            owned.get_ref().1.set(left);
            assert!(owned.contains_hash(absent) && owned.contains(b"key"), "{what}, {left} left");
            let mut answers = [0; 2];
            for count in [1, 2, 5, 32, 100] {
                let keys = vec![absent; count];
                assert_eq!(owned.contains_hashes(&keys, &mut answers), count, "{what}");
            }
        }
        // The footer was read when it was opened.
        owned.get_ref().1.set(lines);
        assert!(!owned.contains_hash(absent), "{what}");
    }
}

#[test]
fn params_and_key_counts_are_those_of_the_view() {
    let params = Params::for_rate(100, 0.01).unwrap().with_seed(7);
    let filter = Filter::new(params).unwrap().with_keys(0..90u64);
    let view = OwnedView::open(filter.to_bytes().unwrap()).unwrap();
    assert_eq!((view.params(), view.key_count()), (Some(params), 90));
    let block = [0xFF; 13];
    let other = OwnedView::open_leveldb([&block[..], &[6]].concat()).unwrap();
    assert_eq!((other.params(), other.key_count()), (None, 0));
}
