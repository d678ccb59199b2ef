//! Journals: what is written is what the definition writes, byte for byte; what is read is what the
//! definition reads of any bytes, whole, torn, damaged or in disorder.

use crate::definition::*;
use crate::kinds::growing_model::*;
use crate::kinds::journal_bytes::*;
use bloomline::{Error, GrowingFilter};

/// A filter beside its model and the journal by the definition.
struct Three {
    filter: GrowingFilter,
    model: Growing,
    journal: Vec<u8>,
    expected: JournalWriter,
    lists: [Vec<u64>; 2],
    /// The keys that are in.
    keys: Vec<u64>,
    state: u64,
}

impl Three {
    fn new(filter: GrowingFilter, model: Growing) -> Three {
        let mut filter = filter;
        let (mut journal, mut expected) = (Vec::new(), JournalWriter::default());
        filter.save_whole(&mut journal, 10).unwrap();
        expected.whole(10, &filter.to_bytes().unwrap());
        let (lists, keys) = (Default::default(), vec![]);
        Three { filter, model, journal, expected, lists, keys, state: 3 }
    }

    fn bounded(most: u64, rate: f64) -> Three {
        let filter = GrowingFilter::new(most, rate, 5).unwrap();
        Three::new(filter, Growing::new(most, rate, 5))
    }

    fn prefix(&self, hash: u64) -> u64 {
        ((u128::from(hash) * u128::from(longest_prefixes(&self.model))) >> 64) as u64
    }

    fn insert(&mut self, hash: u64) {
        self.filter.insert_hash(hash).unwrap();
        self.lists[0].push(self.prefix(hash));
        self.keys.push(hash);
        self.model.key_count += 1;
    }

    fn remove(&mut self) {
        let hash = self.keys.swap_remove(next_random(&mut self.state) as usize % self.keys.len());
        self.filter.remove_hash(hash).unwrap();
        self.lists[1].push(self.prefix(hash));
        self.model.key_count -= 1;
    }

    fn change(&mut self, count: usize) {
        for _ in 0..count {
            let (hash, other) = (next_random(&mut self.state), next_random(&mut self.state));
            match other % 8 {
                0..3 if !self.keys.is_empty() => self.remove(),
                // One of some keys that come often.
                3 => self.insert((other >> 32 & 31).wrapping_mul(0x9E37_79B9_7F4A_7C15)),
                _ => self.insert(hash),
            }
        }
    }

    /// Saves what changed. The bytes are the definition's.
    fn save(&mut self, sequence: u64) {
        self.filter.save_changed(&mut self.journal, sequence).unwrap();
        let mut lists = std::mem::take(&mut self.lists);
        lists.iter_mut().for_each(|list| list.sort());
        let [mut inserted, mut removed] = lists;
        // What was inserted and removed is neither.
        inserted.retain(|prefix| match removed.binary_search(prefix) {
            Ok(at) => {
                removed.remove(at);
                false
            }
            Err(_) => true,
        });
        self.expected.changes(sequence, &self.model, [inserted, removed]);
        assert!(self.journal == self.expected.bytes, "record {sequence}");
    }
}

/// The filter that the definition has after what it read of a bounded one.
fn model_of(read: &Read) -> Growing {
    let mut model = Growing::open(&read.whole);
    for (key_count, [inserted, removed]) in &read.changes {
        inserted.iter().for_each(|&prefix| *model.counts.entry(prefix).or_default() += 1);
        for prefix in removed {
            if let Some(count) = model.counts.get_mut(prefix) {
                *count -= 1;
                if *count == 0 {
                    model.counts.remove(prefix);
                }
            }
        }
        model.key_count = *key_count;
    }
    model
}

/// Reads any bytes as a journal of a bounded filter, as the definition does.
fn is_read_alike(bytes: &[u8]) -> Option<Read> {
    let replayed = GrowingFilter::replay(bytes);
    match read_journal(bytes) {
        Err(status) => {
            assert_eq!(status_of_result(&replayed), status);
            None
        }
        Ok(read) => {
            let replayed = replayed.unwrap();
            let stands = (replayed.sequence, replayed.len, replayed.is_torn);
            assert_eq!(stands, (read.sequence, read.len, read.is_torn));
            assert_eq!(replayed.filter.saved_sequence(), Some(read.sequence));
            assert!(replayed.filter.to_bytes().unwrap() == model_of(&read).encode());
            Some(read)
        }
    }
}

#[test]
fn what_is_written_is_read() {
    let rounds = if fewer() { 6 } else { 30 };
    for (most, rate) in [(1, 0.5), (3000, 0.01), (40_000, 0.001), (1 << 40, 0.01)] {
        let mut all = Three::bounded(most, rate);
        for round in 0..rounds {
            all.change([0, 1, 7, 300, 2000][round % 5]);
            all.save(11 + round as u64 * 3);
            let replayed = GrowingFilter::replay(&all.journal[..]).unwrap();
            assert!(replayed.filter.to_bytes().unwrap() == all.filter.to_bytes().unwrap());
            assert!(replayed.filter == all.filter && !replayed.is_torn);
        }
        assert_eq!(is_read_alike(&all.journal).unwrap().changes.len(), rounds);
    }
}

/// Of a filter for any number of keys, all keys are there, and its rate is what was asked for.
/// What threads insert is saved as what one inserts; too much of it is a whole filter.
#[test]
fn threads_are_followed() {
    let hashes = |count, seed| -> Vec<u64> {
        let mut state = seed;
        (0..count).map(|_| next_random(&mut state)).collect()
    };
    let (first, more, most) = (hashes(100_000, 1), hashes(12_000, 2), hashes(40_000, 3));
    let mut filter = GrowingFilter::new(200_000, 0.01, 5).unwrap();
    filter.insert_hashes_parallel(&first, 2).unwrap();
    let mut model = Growing::new(200_000, 0.01, 5);
    model.key_count = first.len() as u64;
    let mut three = Three::new(filter, model);
    three.filter.insert_hashes_parallel(&more, 2).unwrap();
    let prefixes: Vec<u64> = more.iter().map(|&hash| three.prefix(hash)).collect();
    three.lists[0].extend(prefixes);
    three.model.key_count += more.len() as u64;
    three.save(11);
    three.filter.insert_hashes_parallel(&most, 3).unwrap();
    three.filter.save_changed(&mut three.journal, 12).unwrap();
    let replayed = GrowingFilter::replay(&three.journal[..]).unwrap();
    assert!(replayed.filter == three.filter);
    assert!(
        first.iter().chain(&more).chain(&most).all(|&hash| replayed.filter.contains_hash(hash))
    );
}

#[test]
fn an_unbounded_filter_keeps_its_keys() {
    let filter = GrowingFilter::unbounded(100, 0.01, 5).unwrap();
    let mut all = Three::new(filter, Growing::unbounded(100, 0.01, 5));
    for round in 0..if fewer() { 4 } else { 20 } {
        all.change(2000);
        all.save(20 + round);
        let replayed = GrowingFilter::replay(&all.journal[..]).unwrap().filter;
        assert!(all.keys.iter().all(|&key| replayed.contains_hash(key)));
        assert_eq!(replayed.key_count(), all.filter.key_count());
        assert!(replayed.estimated_rate() < 0.01);
    }
    // Once all are removed there is nothing left but what short prefixes leave.
    for sequence in 100.. {
        let count = all.keys.len().min(1000);
        (0..count).for_each(|_| all.remove());
        all.save(sequence);
        if all.keys.is_empty() {
            break;
        }
    }
    let replayed = GrowingFilter::replay(&all.journal[..]).unwrap().filter;
    assert!(replayed.key_count() == 0 && replayed.estimated_rate() < 0.001);
}

/// Whatever changes a filter is in the next record.
#[test]
fn every_change_is_saved() {
    let keys: Vec<u64> = random_hashes(400, 8);
    let other = GrowingFilter::new(9000, 0.01, 0).unwrap().with_keys(&keys[300..]).unwrap();
    type Change = fn(&mut GrowingFilter, &[u64], &GrowingFilter);
    let changes: [Change; 18] = [
        |filter, keys, _| _ = filter.insert(&keys[0]).unwrap(),
        |filter, keys, _| (0..40).for_each(|_| _ = filter.insert(&keys[1]).unwrap()),
        |filter, keys, _| filter.insert_keys(keys).unwrap(),
        |filter, keys, _| filter.insert_hashes(keys).unwrap(),
        |filter, _, _| filter.insert_hashes(&random_hashes(5000, 3)).unwrap(),
        |filter, keys, _| _ = filter.insert_new_keys(keys, &mut [0; 7]).unwrap(),
        |filter, keys, _| _ = filter.insert_new_hashes(keys, &mut [0; 7]).unwrap(),
        |filter, keys, _| filter.insert_iter(keys).unwrap(),
        |filter, keys, _| filter.extend(keys),
        |filter, keys, _| filter.remove(&keys[0]).unwrap(),
        |filter, keys, _| (0..30).for_each(|_| filter.remove(&keys[1]).unwrap()),
        |filter, keys, _| _ = filter.remove_keys(keys, &mut [0; 7]),
        |filter, keys, _| _ = filter.remove_hashes(keys, &mut [0; 7]),
        |filter, _, other| filter.union(other).unwrap(),
        |filter, _, other| filter.difference(other).unwrap(),
        |filter, _, other| filter.intersect(other).unwrap(),
        |filter, _, other| *filter = other.clone(),
        |filter, _, _| filter.clear(),
    ];
    let start = random_hashes(20_000, 9);
    for start in [&start[..], &[]] {
        let mut filter = GrowingFilter::new(9000, 0.01, 0).unwrap();
        filter.insert_hashes(start).unwrap();
        let mut journal = Vec::new();
        for (number, change) in changes.iter().enumerate() {
            change(&mut filter, &keys, &other);
            filter.save_changed(&mut journal, number as u64).unwrap();
            let read = GrowingFilter::replay(&journal[..]).unwrap();
            assert!(read.filter == filter, "change {number}");
            assert_eq!(read.filter.key_count(), filter.key_count(), "change {number}");
        }
    }
}

/// A journal of a few records, and where each begins.
fn journal() -> (Vec<u8>, Vec<usize>) {
    let mut all = Three::bounded(500, 0.05);
    let mut starts = vec![0];
    for sequence in [11, 12, 15] {
        starts.push(all.journal.len());
        all.change(40);
        all.save(sequence);
    }
    (all.journal, starts)
}

/// Cut anywhere: the records that are whole are there.
#[test]
fn torn_anywhere() {
    let (bytes, starts) = journal();
    let step = if fewer() { 7 } else { 1 };
    for len in (0..bytes.len()).step_by(step) {
        let read = is_read_alike(&bytes[..len]);
        let whole = starts[1..].iter().filter(|&&start| start <= len).count();
        assert_eq!(read.map_or(0, |read| 1 + read.changes.len()), whole, "{len} bytes");
    }
    // The file is as long as it should be, and the end of it was not written.
    for len in (starts[3]..bytes.len()).step_by(step) {
        let mut bytes = bytes.clone();
        bytes[len..].fill(0);
        let read = is_read_alike(&bytes).unwrap();
        assert!(read.sequence == 15 || read.is_torn && read.sequence == 12);
    }
}

/// Each bit of it altered, and what is behind the first record exchanged, repeated, left out.
#[test]
fn damaged_and_in_disorder() {
    let (bytes, starts) = journal();
    let step = if fewer() { 41 } else { 3 };
    for bit in (0..8 * bytes.len()).step_by(step) {
        let mut bytes = bytes.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        // Only of the last record can damage be taken for one that was not written to its end.
        let read = is_read_alike(&bytes);
        assert!(
            read.is_none_or(|read| bit / 8 >= starts[3] && read.is_torn && read.sequence == 12)
        );
    }
    let part = |i: usize| &bytes[starts[i]..starts.get(i + 1).copied().unwrap_or(bytes.len())];
    let of = |order: &[usize]| order.iter().flat_map(|&i| part(i).to_vec()).collect::<Vec<u8>>();
    let sequences = [10, 11, 12, 15];
    for order in [&[0, 1, 1, 2][..], &[0, 1, 2, 1, 2], &[0, 0, 1, 0, 2, 3, 3], &[0, 1, 2, 3, 0]] {
        let read = is_read_alike(&of(order)).expect("those that are there twice are skipped");
        assert_eq!(read.sequence, sequences[*order.iter().max().unwrap()]);
    }
    for order in [&[0, 2][..], &[0, 1, 3], &[1], &[0, 2, 1]] {
        assert_eq!(is_read_alike(&of(order)), None);
        let error = GrowingFilter::replay(&of(order)[..]).unwrap_err();
        assert!(matches!(error, Error::Sequence { .. }), "{error}");
    }
    // Of another filter that was saved with the same numbers.
    let mut other = Three::bounded(500, 0.05);
    other.change(3);
    other.save(11);
    let others = [&bytes[..starts[2]], &other.journal[starts[1]..]].concat();
    assert_eq!(is_read_alike(&others), None);
}

/// Fields that the checksum does not protect, as whoever wrote them also wrote that.
#[test]
fn written_wrongly() {
    let (bytes, starts) = journal();
    use of_record::*;
    for (field, values) in [
        (VERSION, &[0, 2, 0xFFFF][..]),
        (KIND, &[0, 1, 2, 3]),
        (ZERO, &[1, 1 << 31]),
        (LEN, &[0, 1, 24, 25, 32, 1 << 40, u64::MAX - 7, u64::MAX]),
        (SEQUENCE, &[0, 10, 11, 12, u64::MAX]),
        (BASE, &[0, 1]),
        (ORIGIN, &[0, 1]),
        (CONTENT_CHECKSUM, &[0]),
    ] {
        for &value in values {
            for &start in &starts {
                let mut bytes = bytes.clone();
                set_of_record(&mut bytes[start..], field.clone(), value);
                is_read_alike(&bytes);
            }
        }
    }
    // The content of a record of changes.
    let last = &bytes[starts[3]..];
    for (at, value) in
        (0..last.len() - 64).flat_map(|at| [0, 1, 0x80, 0xFF].map(|value| (at, value)))
    {
        let mut bytes = bytes.clone();
        let record = &mut bytes[starts[3]..];
        record[64 + at] = value;
        let sum = hash(&record[64..], 0);
        set_of_record(record, CONTENT_CHECKSUM, sum);
        is_read_alike(&bytes);
    }
}

#[test]
fn patches() {
    let mut all = Three::bounded(5000, 0.01);
    let mut copy = GrowingFilter::replay(&all.journal[..]).unwrap().filter;
    let mut far = GrowingFilter::new(5000, 0.01, 5).unwrap();
    let mut old = copy.clone();
    for sequence in 11..20 {
        all.change(500);
        all.save(sequence);
        let patch = GrowingFilter::patch_since(&all.journal, sequence - 1).unwrap();
        assert_eq!(copy.apply_patch(patch), Ok(sequence));
        assert_eq!(copy.apply_patch(patch), Ok(sequence), "a second time");
        assert!(copy.to_bytes().unwrap() == all.filter.to_bytes().unwrap());
        // From before the first record: all of them.
        let patch = GrowingFilter::patch_since(&all.journal, 3).unwrap();
        assert_eq!(patch.len(), all.journal.len());
        assert_eq!(far.apply_patch(patch), Ok(sequence));
        assert!(far == all.filter);
    }
    let since = |sequence| GrowingFilter::patch_since(&all.journal, sequence);
    assert_eq!(since(19), Ok(&[][..]));
    assert_eq!(since(20), Err(Error::Sequence { last: 19, given: 20 }));
    // A copy knows no record.
    let refused = Err(Error::Sequence { last: 0, given: 15 });
    assert_eq!(old.apply_patch(since(14).unwrap()), refused);
    // One that is behind, or has changed by itself, or half a patch: refused, and as it was.
    let mut behind = GrowingFilter::replay(&all.journal[..]).unwrap().filter;
    let mut longer = all.journal.clone();
    for sequence in [20, 21] {
        all.filter.insert_hash(sequence).unwrap();
        all.filter.save_changed(&mut longer, sequence).unwrap();
    }
    let patch = GrowingFilter::patch_since(&longer, 20).unwrap();
    let before = behind.to_bytes().unwrap();
    assert_eq!(behind.apply_patch(patch), Err(Error::Sequence { last: 19, given: 21 }));
    let patch = GrowingFilter::patch_since(&longer, 19).unwrap();
    assert!(matches!(behind.apply_patch(&patch[..50]), Err(Error::Truncated { .. })));
    assert!(behind.to_bytes().unwrap() == before);
    behind.insert_hash(1).unwrap();
    assert_eq!(behind.apply_patch(patch), Err(Error::Sequence { last: 19, given: 20 }));
    behind.remove_hash(1).unwrap();
}

/// What is kept for the next record is little, and above that the whole filter is written.
#[test]
fn many_changes_are_a_whole_filter() {
    let mut filter = GrowingFilter::new(100_000, 0.01, 0).unwrap();
    let mut state = 1;
    let before = (0..100_000).map(|_| filter.insert_hash(next_random(&mut state)).unwrap()).count();
    filter.save_whole(std::io::sink(), 1).unwrap();
    for (sequence, changes) in [(2, before / 8 + 4096), (3, before)] {
        let own = filter.memory_usage();
        (0..changes).for_each(|_| _ = filter.insert_hash(next_random(&mut state)).unwrap());
        assert!(filter.memory_usage() < 3 * own + 8 * 2 * (before / 8 + 4096));
        let known = filter.saved_sequence();
        assert_eq!(known, (sequence == 2).then_some(1));
        let mut record = Vec::new();
        filter.save_changed(&mut record, sequence).unwrap();
        println!("{changes} changes: {} bytes", record.len());
        assert_eq!(record[10], if known.is_some() { 2 } else { 1 });
        assert_eq!(GrowingFilter::replay(&record[..]).is_ok(), known.is_none());
    }
}

#[test]
fn numbers_ascend() {
    let mut filter = GrowingFilter::new(100, 0.01, 0).unwrap();
    filter.save_changed(std::io::sink(), 5).unwrap();
    filter.insert_hash(1).unwrap();
    for sequence in [0, 5] {
        let refused = filter.save_changed(std::io::sink(), sequence);
        assert_eq!(refused, Err(Error::Sequence { last: 5, given: sequence }));
    }
    assert_eq!(filter.saved_sequence(), Some(5));
    filter.save_changed(std::io::sink(), u64::MAX).unwrap();
}

/// The size of a patch: a key takes what tells its prefix from the others, and little more.
#[test]
fn a_patch_is_small() {
    let keys = if fewer() { 100_000 } else { 1_000_000 };
    let mut filter = GrowingFilter::new(keys, 0.01, 0).unwrap();
    let mut state = 7;
    let all: Vec<u64> = (0..keys - keys / 2000).map(|_| next_random(&mut state)).collect();
    filter.insert_hashes(&all).unwrap();
    filter.save_whole(std::io::sink(), 1).unwrap();
    let changed = keys / 1000;
    for i in 0..changed {
        match i % 2 {
            0 => _ = filter.insert_hash(next_random(&mut state)).unwrap(),
            _ => filter.remove_hash(all[i as usize]).unwrap(),
        }
    }
    let mut patch = Vec::new();
    filter.save_changed(&mut patch, 2).unwrap();
    let bits = (patch.len() - 88) as f64 * 8.0 / changed as f64;
    // So many prefixes for each one that changed, and e times as many subsets.
    let least = (keys as f64 / 0.01 / (changed / 2) as f64 * std::f64::consts::E).log2();
    println!(
        "{changed} of {keys} keys: {} bytes, {bits:.2} bits each, at least {least:.2}",
        patch.len()
    );
    assert!(bits < least + 0.6);
}
