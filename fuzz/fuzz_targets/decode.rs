//! Any bytes as an encoded filter: nothing panics, nothing is read beside them, and what
//! is opened or rejected, and why, is what the plain definition says. What opens gives
//! the definition's answers.
//!
//! Bytes from nowhere are stopped by the magic and the checksums, so they are repaired,
//! one field after the other, and tried again after each: that brings the fuzzer to the
//! checks that lie behind.
#![no_main]

#[path = "../../tests/definition/mod.rs"]
mod definition;
#[allow(dead_code, reason = "tests use all of it")]
#[path = "../../tests/all/kinds"]
mod kinds {
    pub(crate) mod cascade_bytes;
    pub(crate) mod growing_bytes;
    pub(crate) mod growing_model;
    pub(crate) mod matrix_bytes;
    pub(crate) mod scalable_bytes;
    pub(crate) mod window_bytes;
}

use bloomline::definition::{cascade, cuckoo, matrix, static_line};
use bloomline::{
    Backend, Cascade, CascadeView, CountingFilter, CuckooFilter, Filter, GrowingFilter,
    GrowingView, Matrix, MatrixShape, MatrixView, ScalableFilter, StaticFilter, View, Window,
};
use definition::*;
use kinds::{
    cascade_bytes::*, growing_bytes::*, growing_model::*, matrix_bytes::*, scalable_bytes::*,
    window_bytes::*,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    attempt(data);
    if data.len() < FOOTER_BYTES {
        return;
    }
    attempt_window(data);
    attempt_cascade(data);
    attempt_matrix(data);
    attempt_growing(data);
    let mut bytes = data.to_vec();
    if get(&bytes, LAYOUT) == 3 {
        put(&mut bytes, MAGIC, u64::from_le_bytes(MAGIC_BYTES));
        put(&mut bytes, VERSION, 1);
        seal(&mut bytes);
        return attempt_scalable(&bytes);
    }
    // Of each kind some; filters with counters stay such.
    let counting = get(&bytes, LAYOUT) == 2;
    let layout = match data[0] % 8 {
        0 | 4 => 7,
        2 => 6,
        _ => 1 + u64::from(counting),
    };
    for field in [MAGIC, VERSION, FOOTER_CHECKSUM, LAYOUT, RESERVED, K, LINE_COUNT] {
        let value = match field {
            MAGIC => u64::from_le_bytes(MAGIC_BYTES),
            LAYOUT => layout,
            K if layout == 7 => get(&bytes, K) % 3 * 4 + 8,
            K => get(&bytes, K) % 16 + 1,
            LINE_COUNT => (bytes.len() as u64 / 64 - 1) / if layout == 2 { 5 } else { 1 },
            RESERVED => 0,
            _ => 1,
        };
        put(&mut bytes, field, value);
        seal_footer(&mut bytes);
        attempt(&bytes);
    }
    // A whole number of lines, from the end.
    let mut bytes = bytes.split_off(bytes.len() % 64);
    attempt(&bytes);
    seal(&mut bytes);
    attempt(&bytes);
});

/// Opens the bytes in every way, and probes what opens.
fn attempt(bytes: &[u8]) {
    // In memory of exactly this length, where the sanitizer sees a byte too far.
    let bytes = &bytes.to_vec().into_boxed_slice()[..];
    let (verified, unverified) = (check(bytes, true), check(bytes, false));
    if verified == status::LAYOUT && get(bytes, LAYOUT) == 7 {
        return attempt_cuckoo(bytes);
    }
    if verified == status::LAYOUT && get(bytes, LAYOUT) == 8 {
        return attempt_static(bytes);
    }
    assert_eq!(status_of_result(&View::open(bytes)), verified);
    assert_eq!(status_of_result(&View::open_unverified(bytes)), unverified);
    if verified != status::OK {
        assert!(CountingFilter::decode(bytes).is_err());
    }
    let decoded = Filter::decode(bytes);
    assert_eq!(status_of_result(&decoded), verified);
    for backend in Backend::available() {
        let view = View::open_with_backend(bytes, backend);
        assert_eq!(status_of_result(&view), verified);
        if let Ok(view) = view {
            probe(&view, bytes);
        }
    }
    if let Ok(view) = View::open_unverified(bytes) {
        probe(&view, bytes);
    }
    if let Ok(filter) = decoded {
        let counting = CountingFilter::decode(bytes);
        match get(bytes, LAYOUT) {
            1 | 6 => assert!(counting.is_err() && filter.to_bytes().unwrap() == bytes),
            _ => assert!(counting.unwrap().to_bytes().unwrap() == bytes),
        }
        assert!((0.0..=1.0).contains(&filter.fill()));
        assert!((0.0..=1.0).contains(&filter.estimated_rate()));
        assert!(filter.estimated_keys().is_finite());
    }
}

/// A filter that grows: what opens answers as the definition does, and takes more keys.
fn attempt_scalable(bytes: &[u8]) {
    let bytes = &bytes.to_vec().into_boxed_slice()[..];
    assert_eq!(status_of_result(&View::open(bytes)), status::LAYOUT);
    let decoded = ScalableFilter::decode(bytes);
    assert_eq!(status_of_result(&decoded), check_scalable(bytes));
    let Ok(mut filter) = decoded else { return };
    assert_eq!(filter.encoded_len(), bytes.len());
    assert!((0.0..=1.0).contains(&filter.expected_rate()));
    let words = bytes.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word));
    let hashes: Vec<u64> = words.chain(AWKWARD).take(200).collect();
    let mut bitmap = vec![u64::MAX; hashes.len().div_ceil(64)];
    filter.contains_hashes(&hashes, &mut bitmap);
    for (i, &hash) in hashes.iter().enumerate() {
        let answer = scalable_contains(bytes, hash);
        assert_eq!(filter.contains_hash(hash), answer);
        assert_eq!(bitmap[i / 64] >> (i % 64) & 1 == 1, answer);
    }
    // Not stages of gigabytes.
    let newest = &bytes[..bytes.len() - 64];
    if get(newest, CAPACITY) < 1 << 20 {
        let _ = filter.insert_new_hashes(&hashes, &mut bitmap);
        assert!(hashes.iter().all(|&hash| filter.contains_hash(hash)));
    }
}

/// A window: as it is, and as one that its footer fits, which answers, inserts and forgets as the
/// definition does.
fn attempt_window(data: &[u8]) {
    assert_eq!(status_of_result(&Window::decode(data)), check_window(data));
    let generations = 1 + usize::from(data[0] % 8);
    let line_count = (data.len().saturating_sub(80) / generations).saturating_sub(8) / 64;
    if line_count == 0 {
        return;
    }
    let len = generations * (line_count * 64 + 8) + 80;
    let mut bytes = data[data.len() - len..].to_vec();
    let k = get(&bytes, K) % 16 + 1;
    let fields = [(MAGIC, u64::from_le_bytes(MAGIC_BYTES)), (VERSION, 1), (LAYOUT, 4), (K, k)];
    let shape = [(RESERVED, generations as u64), (LINE_COUNT, line_count as u64)];
    for (field, value) in fields.into_iter().chain(shape) {
        put(&mut bytes, field, value);
        seal_footer(&mut bytes);
        assert_eq!(status_of_result(&Window::decode(&bytes)), check_window(&bytes));
    }
    seal(&mut bytes);
    let mut window = Window::decode(&bytes).unwrap();
    let (lines, state) = bytes.split_at(generations * line_count * 64);
    let word = |at: usize| u64::from_le_bytes(state[8 * at..][..8].try_into().unwrap());
    let mut model = WindowState::new(generations, line_count, k as u32, get(&bytes, SEED));
    (model.slice, model.limit) = (word(0), word(1));
    for (place, lines) in lines.chunks(line_count * 64).enumerate() {
        model.lines[place].copy_from_slice(lines);
        model.key_counts[place] = word(2 + place);
    }
    assert!(window.to_bytes().unwrap() == model.encode());
    for (i, hash) in data.as_chunks().0.iter().take(200).enumerate() {
        let hash = u64::from_le_bytes(*hash);
        assert_eq!(window.contains_hash(hash), model.contains(hash));
        assert_eq!(window.insert_hash(hash), model.insert(hash));
        if i % 7 == 0 {
            let slice = model.slice.saturating_add(hash % 5);
            window.advance_to(slice);
            model.advance_to(slice);
        }
    }
    assert!(window.to_bytes().unwrap() == model.encode());
}

/// A cascade: as it is, and as one that its footer fits, whose records are repaired one after the
/// other; what opens answers as the definition does.
fn attempt_cascade(data: &[u8]) {
    attempt_layers(data);
    let mut bytes = data[data.len() % 64..].to_vec();
    let layers = 1 + usize::from(data[0] % 4);
    let Some(lines) = (bytes.len() / 64).checked_sub(layers + 1).filter(|&lines| lines > 0) else {
        return;
    };
    let fields = [(MAGIC, u64::from_le_bytes(MAGIC_BYTES)), (VERSION, 1), (LAYOUT, 9)];
    for (field, value) in fields.into_iter().chain([(K, layers as u64), (LINE_COUNT, lines as u64)])
    {
        put(&mut bytes, field, value);
        seal_footer(&mut bytes);
        attempt_layers(&bytes);
    }
    let mut left = lines as u64;
    for i in 0..layers {
        let end = 64 * (lines + i + 1);
        let record = &mut bytes[end - 64..end];
        let rows = get(record, K) % 13 + 4;
        record[28..].fill(0);
        put(record, K, rows);
        // As many as are left for the last, with up to 8 rows and one level.
        let last = i + 1 == layers;
        let count = if last { left } else { (get(record, LINE_COUNT) % left.max(1)).max(1) };
        put(record, LINE_COUNT, if last && rows > 8 { count / 2 } else { count });
        left = left.saturating_sub(if rows > 8 { 2 * count } else { count });
        seal_cascade(&mut bytes);
        attempt_layers(&bytes);
    }
}

fn attempt_layers(bytes: &[u8]) {
    let bytes = &bytes.to_vec().into_boxed_slice()[..];
    let (verified, unverified) = (check_cascade(bytes, true), check_cascade(bytes, false));
    let decoded = Cascade::decode(bytes);
    assert_eq!(status_of_result(&decoded), verified);
    assert_eq!(status_of_result(&CascadeView::open(bytes)), verified);
    let view = CascadeView::open_unverified(bytes);
    assert_eq!(status_of_result(&view), unverified);
    let Ok(view) = view else { return };
    let words = bytes.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word));
    let hashes: Vec<u64> = words.chain(AWKWARD).take(200).collect();
    let mut bitmap = vec![u64::MAX; hashes.len().div_ceil(64)];
    view.contains_hashes(&hashes, &mut bitmap);
    let layers = layers_of(bytes);
    for (i, &hash) in hashes.iter().enumerate() {
        let answer = cascade::contains(&layers, hash);
        assert_eq!(view.contains_hash(hash), answer);
        assert_eq!(bitmap[i / 64] >> (i % 64) & 1 == 1, answer);
    }
    if let Ok(cascade) = decoded {
        // The footer's number of keys is a hint; what is written is that of the first layer.
        let lines = 64 * get(bytes, LINE_COUNT) as usize;
        let mut expected = bytes.to_vec();
        put(&mut expected, KEY_COUNT, get(&bytes[lines..lines + 64], KEY_COUNT));
        seal_footer(&mut expected);
        assert!(cascade.to_bytes().unwrap() == expected);
        assert!((0.0..=1.0).contains(&cascade.unknown_rate()));
    }
}

/// A growing filter: as it is, and as one of one region that fits the bytes; what opens answers as the
/// definition does.
fn attempt_growing(data: &[u8]) {
    attempt_regions(data);
    let mut bytes = data[data.len() % 64..].to_vec();
    let Some(lines) = (bytes.len() / 64).checked_sub(3).filter(|&lines| lines > 0) else { return };
    let mixed = u64::from(data[0] & 1);
    // Each line is the home of as many prefixes as make a few buckets.
    let r = 6 + u64::from(data[0] >> 1) % 16;
    let u = (1 + u64::from(data[1]) % 64) << r;
    let prefixes = (lines as u64 * u).next_multiple_of(16).max(1024);
    let homes = prefixes.div_ceil(u);
    bytes.splice(..0, vec![0; 64 * (homes as usize).saturating_sub(lines)]);
    let blocks = homes.max(lines as u64);
    let region = 64 * (blocks as usize + 1);
    bytes[region - 64..region + 64].fill(0);
    put(&mut bytes[..region], of_region::LINES, blocks);
    put(&mut bytes[..region], of_region::U, u);
    put(&mut bytes[..region], of_region::R, r);
    put(&mut bytes[..region + 64], of_filter::PREFIXES, prefixes);
    put(&mut bytes[..region + 64], of_filter::RATE, 0.5f64.to_bits());
    put(&mut bytes[..region + 64], of_filter::LENGTHS, mixed);
    let fields = [(MAGIC, u64::from_le_bytes(MAGIC_BYTES)), (VERSION, 1), (LAYOUT, 11)];
    for (field, value) in fields.into_iter().chain([(K, 1), (LINE_COUNT, blocks)]) {
        put(&mut bytes, field, value);
        seal_footer(&mut bytes);
        attempt_regions(&bytes);
    }
    seal_growing(&mut bytes);
    attempt_regions(&bytes);
}

fn attempt_regions(bytes: &[u8]) {
    let bytes = &bytes.to_vec().into_boxed_slice()[..];
    let (verified, unverified) = (check_growing(bytes, true), check_growing(bytes, false));
    let decoded = GrowingFilter::decode(bytes);
    assert_eq!(status_of_result(&decoded), verified);
    assert_eq!(status_of_result(&GrowingView::open(bytes)), verified);
    let view = GrowingView::open_unverified(bytes);
    assert_eq!(status_of_result(&view), unverified);
    let Ok(view) = view else { return };
    let words = bytes.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word));
    let hashes: Vec<u64> = words.chain(AWKWARD).take(200).collect();
    let mut bitmap = vec![u64::MAX; hashes.len().div_ceil(64)];
    view.contains_hashes(&hashes, &mut bitmap);
    for (i, &hash) in hashes.iter().enumerate() {
        let answer = growing_contains(bytes, hash);
        assert_eq!(view.contains_hash(hash), answer);
        assert_eq!(bitmap[i / 64] >> (i % 64) & 1 == 1, answer);
    }
    assert!((0.0..=1.0).contains(&view.estimated_rate()));
    if let Ok(filter) = decoded {
        assert!(filter.to_bytes().unwrap() == Growing::open(bytes).encode());
    }
}

/// A matrix: as it is, and as one that its footer fits, repaired one field after the other; what opens
/// answers as the definition does.
fn attempt_matrix(data: &[u8]) {
    attempt_groups(data);
    let mut bytes = data.to_vec();
    let columns = 1 + u64::from(data[1]) % 200;
    let (named, summed) = (data[2] & 1 == 1, data[2] & 2 == 2);
    let group = matrix::group_bytes(columns as u32);
    let names = if named { 8 * columns as usize } else { 0 };
    let each = group + if summed { 8 } else { 0 };
    // What is there, over and over, for the groups alone are larger than most of what comes.
    let lines = 1 + usize::from(data[0] % 3);
    let body: Vec<u8> = data.iter().copied().cycle().take(lines * each + names).collect();
    bytes.splice(..data.len() - FOOTER_BYTES, body);
    let shape = columns | if named { NAMED } else { 0 } | if summed { SUMMED } else { 0 };
    let k = get(&bytes, K) % 16 + 1;
    for (field, value) in [
        (MAGIC, u64::from_le_bytes(MAGIC_BYTES)),
        (VERSION, 1),
        (LAYOUT, 10),
        (RESERVED, shape),
        (K, k),
        (LINE_COUNT, lines as u64),
    ] {
        put(&mut bytes, field, value);
        seal_footer(&mut bytes);
        attempt_groups(&bytes);
    }
    seal(&mut bytes);
    attempt_groups(&bytes);
    seal_matrix(&mut bytes);
    attempt_groups(&bytes);
    // No bit behind the last column.
    for row in bytes[..lines * group].chunks_mut(group / matrix::ROWS) {
        for bit in columns as usize..8 * row.len() {
            row[bit / 8] &= !(1 << (bit % 8));
        }
    }
    seal_matrix(&mut bytes);
    attempt_groups(&bytes);
    assert!(Matrix::decode(&bytes).is_ok());
}

fn attempt_groups(bytes: &[u8]) {
    let bytes = &bytes.to_vec().into_boxed_slice()[..];
    let (verified, unverified) = (check_matrix(bytes, true), check_matrix(bytes, false));
    let decoded = Matrix::decode(bytes);
    assert_eq!(status_of_result(&decoded), verified);
    assert_eq!(status_of_result(&MatrixView::open(bytes)), verified);
    let shape = MatrixShape::read(bytes.last_chunk().unwrap(), bytes.len() as u64);
    assert_eq!(status_of_result(&shape), unverified);
    let view = MatrixView::open_unverified(bytes);
    assert_eq!(status_of_result(&view), unverified);
    let (Ok(view), Ok(shape)) = (view, shape) else { return };
    let words = bytes.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word));
    let hashes: Vec<u64> = words.take(20).chain(AWKWARD).collect();
    let mut all = vec![u64::MAX; hashes.len() * view.words()];
    let count = view.contains_hashes(&hashes, &mut all[..]);
    assert_eq!(view.select_hashes(&hashes, &mut Vec::new()), count);
    for (&hash, row) in hashes.iter().zip(all.chunks(view.words())) {
        let expected = columns_with(bytes, hash);
        assert_eq!(row, expected);
        let count: u32 = expected.iter().map(|word| word.count_ones()).sum();
        let mut answers = vec![u64::MAX; expected.len()];
        for backend in Backend::available() {
            if let Ok(view) = MatrixView::open_with_backend(bytes, backend) {
                assert_eq!(view.contains_hash(hash, &mut answers[..]), count as usize);
                assert_eq!(answers, expected);
                assert_eq!(view.any_hash(hash), count > 0);
            }
        }
        assert_eq!(view.contains_hash(hash, &mut answers[..]), count as usize);
        assert_eq!(answers, expected);
        assert_eq!((view.count_hash(hash), view.any_hash(hash)), (count as usize, count > 0));
        let range = shape.range(hash);
        let group = &bytes[range.start as usize..range.end as usize];
        assert_eq!(shape.contains_in(group, hash, &mut answers[..]), Ok(count as usize));
        assert_eq!(answers, expected);
        let rows = shape.row_ranges(hash).map(|row| row.start as usize..row.end as usize);
        let rows: Vec<u8> = rows.flat_map(|row| bytes[row].to_vec()).collect();
        assert_eq!(shape.contains_in_rows(&rows, hash, &mut answers[..]), Ok(count as usize));
        assert_eq!(answers, expected);
    }
    if let Ok(mut matrix) = decoded {
        let mut expected = bytes.to_vec();
        put(&mut expected, KEY_COUNT, 0);
        seal_footer(&mut expected);
        assert!(matrix.to_bytes().unwrap() == expected);
        let column = matrix.columns() - 1;
        for &hash in &hashes {
            matrix.insert_hash(column, hash).unwrap();
            assert!(matrix.any_hash(hash));
        }
        let [groups, ..] = matrix_ends(bytes);
        let (count, column) = (matrix.columns() as u32, column as u32);
        let lines = matrix::column(&bytes[..groups], count, column);
        let was = Matrix::decode(bytes).unwrap().column(column as usize).unwrap();
        assert!(was.lines() == lines);
    }
}

/// A static filter: what opens answers as the definition does.
fn attempt_static(bytes: &[u8]) {
    let decoded = StaticFilter::decode(bytes);
    assert_eq!(status_of_result(&Filter::decode(bytes)), status::LAYOUT);
    let hashes: Vec<u64> =
        bytes.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word)).collect();
    let mut bitmap = vec![0; hashes.len().div_ceil(64)];
    for backend in Backend::available() {
        let view = View::open_with_backend(bytes, backend);
        assert_eq!(status_of_result(&view), status_of_result(&decoded));
        let Ok(view) = view else { continue };
        let (lines, rows, levels) = static_parts(bytes);
        view.contains_hashes(&hashes, &mut bitmap);
        for (i, &hash) in hashes.iter().enumerate() {
            let expected = static_line::contains(lines, levels, rows, hash);
            assert_eq!(view.contains_hash(hash), expected);
            assert_eq!(bitmap[i / 64] >> (i % 64) & 1 == 1, expected);
        }
    }
    if let Ok(filter) = decoded {
        assert!(filter.to_bytes().unwrap() == bytes);
    }
}

/// A cuckoo filter: what opens answers as the definition does, can be changed, and loses no
/// key that goes in.
fn attempt_cuckoo(bytes: &[u8]) {
    let decoded = CuckooFilter::decode(bytes);
    assert_eq!(status_of_result(&Filter::decode(bytes)), status::LAYOUT);
    let bits = get(bytes, K) as u32;
    let hashes: Vec<u64> =
        bytes.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word)).collect();
    let mut bitmap = vec![0; hashes.len().div_ceil(64)];
    for backend in Backend::available() {
        let view = View::open_with_backend(bytes, backend);
        assert_eq!(status_of_result(&view), status_of_result(&decoded));
        let Ok(view) = view else { continue };
        view.contains_hashes(&hashes, &mut bitmap);
        for (i, &hash) in hashes.iter().enumerate() {
            let expected = cuckoo::contains(view.lines(), bits, hash);
            assert_eq!(view.contains_hash(hash), expected);
            assert_eq!(bitmap[i / 64] >> (i % 64) & 1 == 1, expected);
        }
    }
    if let Ok(mut filter) = decoded {
        for &hash in &hashes {
            let before = filter.key_count();
            let inserted = filter.insert_hash(hash).is_ok();
            assert_eq!(filter.key_count(), before + u64::from(inserted));
            assert!(!inserted || filter.contains_hash(hash));
            assert!(!inserted || filter.remove_hash(hash).is_ok());
        }
    }
}

/// The view says what the footer says, and answers as the definition does: the data's own
/// words are the hashes, and its bytes the keys.
fn probe(view: &View<'_>, bytes: &[u8]) {
    let lines = &bytes[..64 * get(bytes, LINE_COUNT) as usize];
    assert!(view.lines() == lines);
    let params = view.params().unwrap();
    assert_eq!(params.is_classic(), get(bytes, LAYOUT) == 6);
    assert_eq!(params.line_count(), get(bytes, LINE_COUNT));
    assert_eq!(params.seed(), get(bytes, SEED));
    assert_eq!(view.key_count(), get(bytes, KEY_COUNT));
    assert_eq!(u64::from(params.k()), get(bytes, K));

    let words = bytes.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word));
    let hashes: Vec<u64> = words.chain(AWKWARD).take(200).collect();
    let mut bitmap = vec![u64::MAX; hashes.len().div_ceil(64)];
    let count = view.contains_hashes(&hashes, &mut bitmap);
    for (i, &hash) in hashes.iter().enumerate() {
        let answer = definition::answer(bytes, hash);
        assert_eq!(view.contains_hash(hash), answer);
        assert_eq!(bitmap[i / 64] >> (i % 64) & 1 == 1, answer);
    }
    assert_eq!(count as u32, bitmap.iter().map(|word| word.count_ones()).sum());

    let keys = [&bytes[..0], &bytes[..1], &bytes[..9], &bytes[..60], bytes];
    let mut bitmap = [0];
    view.contains_keys(&keys, &mut bitmap);
    for (i, key) in keys.iter().enumerate() {
        let answer = definition::answer(bytes, hash(key, params.seed()));
        assert_eq!((bitmap[0] >> i & 1 == 1, view.contains(key)), (answer, answer));
    }
}
