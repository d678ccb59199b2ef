//! What the fuzzer of the C calls keeps beside its handles, and the checks that take
//! more than a few lines. C is handed only pointers that are NULL or point at as much as
//! is claimed, and handles that are NULL or alive: that is why the calls are sound.

use crate::definition::{self, *};
use bloomline::definition::line;
use bloomline::ffi::*;
use std::ptr::{null, null_mut};

/// A filter handle, and what must be in it.
pub(crate) struct Model {
    pub(crate) handle: *mut bloomline_filter,
    pub(crate) params: bloomline_params,
    pub(crate) inserted: Vec<u64>,
    pub(crate) key_count: u64,
}

/// A builder handle, and the hashes added since the last block.
pub(crate) struct BuilderModel {
    pub(crate) handle: *mut bloomline_builder,
    pub(crate) bits_per_key: f64,
    pub(crate) seed: u64,
    pub(crate) added: Vec<u64>,
    /// The last two different ones, the newest first: none of them counts again.
    pub(crate) last_two: [Option<u64>; 2],
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) filters: [Option<Model>; 3],
    pub(crate) builders: [Option<BuilderModel>; 2],
}

impl Model {
    pub(crate) fn lines(&self) -> Vec<u8> {
        lines_of(self.params.line_count as usize, self.params.k, &self.inserted)
    }

    pub(crate) fn encoded(&self) -> Vec<u8> {
        encode(&self.lines(), self.params.k, self.params.seed, self.key_count)
    }
}

impl State {
    pub(crate) fn handle(&self, slot: u8) -> *mut bloomline_filter {
        self.filters[usize::from(slot) % 3].as_ref().map_or(null_mut(), |model| model.handle)
    }

    pub(crate) fn builder(&self, slot: u8) -> *mut bloomline_builder {
        self.builders[usize::from(slot) % 2].as_ref().map_or(null_mut(), |model| model.handle)
    }

    pub(crate) fn model(&mut self, slot: u8) -> Option<&mut Model> {
        self.filters[usize::from(slot) % 3].as_mut()
    }

    pub(crate) fn inserted(&mut self, slot: u8, hashes: impl IntoIterator<Item = u64>) {
        if let Some(model) = self.model(slot) {
            let before = model.inserted.len();
            model.inserted.extend(hashes);
            let more = (model.inserted.len() - before) as u64;
            model.key_count = model.key_count.saturating_add(more);
        }
    }

    pub(crate) fn seed(&self, slot: u8) -> u64 {
        self.filters[usize::from(slot) % 3].as_ref().map_or(0, |model| model.params.seed)
    }

    pub(crate) fn free(&mut self, slot: u8) {
        let model = self.filters[usize::from(slot) % 3].take();
        // SAFETY: a handle that is not used again, or NULL.
        unsafe { bloomline_filter_free(model.map_or(null_mut(), |model| model.handle)) };
    }

    /// Makes a filter of these parameters in a slot.
    pub(crate) fn put(
        &mut self,
        slot: u8,
        params: bloomline_params,
        handle: *mut bloomline_filter,
    ) {
        self.free(slot);
        let model = Model { handle, params, inserted: vec![], key_count: 0 };
        self.filters[usize::from(slot) % 3] = Some(model);
    }

    /// The status that a call on a slot's handle must give: NULL if there is none.
    pub(crate) fn expect(&self, slot: u8, status: bloomline_status) -> bloomline_status {
        if self.handle(slot).is_null() { BLOOMLINE_ERR_NULL } else { status }
    }

    pub(crate) fn added(&mut self, slot: u8, hash: u64) {
        if let Some(model) = &mut self.builders[usize::from(slot) % 2] {
            let [last, before] = model.last_two;
            if last != Some(hash) {
                if before != Some(hash) {
                    model.added.push(hash);
                }
                model.last_two = [Some(hash), last];
            }
        }
    }

    pub(crate) fn finish(&mut self, slot: u8, short_by: u8, no_output: bool) {
        // SAFETY: pointers and handles are as the head of this file says.
        unsafe {
            let handle = self.builder(slot);
            let len = bloomline_builder_block_len(handle);
            let Some(model) = &mut self.builders[usize::from(slot) % 2] else {
                let status = bloomline_builder_finish(handle, null_mut(), 0, null_mut());
                assert_eq!((status, len), (BLOOMLINE_ERR_NULL, 0));
                return;
            };
            assert_eq!(bloomline_builder_key_count(handle), model.added.len() as u64);
            // A length of 0: more than can be addressed. And some are too long to try.
            if len > 1 << 20 || len == 0 {
                return;
            }
            let mut out = vec![0xEE; len - usize::from(short_by).min(len)];
            let mut written = 99;
            let told = if no_output { null_mut() } else { &raw mut written };
            let status = bloomline_builder_finish(handle, out.as_mut_ptr().cast(), out.len(), told);
            if out.len() < len {
                assert_eq!((status, written), (BLOOMLINE_ERR_BUFFER_TOO_SMALL, 99));
                assert!(out.iter().all(|&byte| byte == 0xEE), "written on success only");
                assert_eq!(bloomline_builder_key_count(handle), model.added.len() as u64);
                return;
            }
            assert_eq!(status, BLOOMLINE_OK);
            assert_eq!(written, if no_output { 99 } else { len });
            assert_eq!(check(&out, true), definition::status::OK);
            let (k, lines) = (get(&out, K) as u32, get(&out, LINE_COUNT) as usize);
            assert_eq!(k, bloomline::sizing::best_k(model.bits_per_key));
            let expected = lines_of(lines, k, &model.added);
            assert!(out == encode(&expected, k, model.seed, model.added.len() as u64));
            model.added.clear();
            model.last_two = [None; 2];
            assert_eq!(bloomline_builder_key_count(handle), 0);
        }
    }

    /// All ways to ask a filter for hashes.
    pub(crate) fn probe(&mut self, slot: u8, hashes: &[u64], no_array: bool) {
        // SAFETY: pointers and handles are as the head of this file says.
        unsafe {
            let handle = self.handle(slot);
            let hashes = match self.model(slot) {
                Some(model) => [hashes, &model.inserted].concat(),
                None => hashes.to_vec(),
            };
            // What is not there may be present: an answer for each key.
            let all = no_array || handle.is_null();
            let data = if no_array { null() } else { hashes.as_ptr() };
            let mut bitmap = vec![u64::MAX; hashes.len().div_ceil(64) + 1];
            let count =
                bloomline_filter_contains_hashes(handle, data, hashes.len(), bitmap.as_mut_ptr());
            assert_eq!(bitmap.pop(), Some(u64::MAX), "a word too far");
            let lines = self.model(slot).map(|model| (model.lines(), model.params.k));
            for (i, &hash) in hashes.iter().enumerate() {
                let single = bloomline_filter_contains_hash(handle, hash);
                let expected =
                    lines.as_ref().is_none_or(|(lines, k)| line::contains(lines, *k, hash));
                assert_eq!(single, expected);
                assert_eq!(bitmap[i / 64] >> (i % 64) & 1 == 1, expected || all);
            }
            assert_eq!(count as u32, bitmap.iter().map(|word| word.count_ones()).sum());
            let count = bloomline_filter_contains_hashes(handle, data, hashes.len(), null_mut());
            assert_eq!(count, hashes.len(), "without a bitmap all may be present");
            // Not opened if there is no filter.
            let mut view: bloomline_view = std::mem::zeroed();
            let status = bloomline_filter_view(handle, &raw mut view);
            assert_eq!(status, self.expect(slot, BLOOMLINE_OK));
            let mut facts: bloomline_view_facts = std::mem::zeroed();
            let status = bloomline_view_about(&view, &raw mut facts);
            assert_eq!(status == BLOOMLINE_OK, !handle.is_null());
            let rates = [facts.fill, facts.estimated_rate, facts.worst_line_rate];
            assert!(rates.iter().all(|rate| (0.0..=1.0).contains(rate)));
            assert!(facts.estimated_keys >= 0.0);
        }
    }

    /// Encodes a filter, views the bytes, and decodes them into another slot.
    pub(crate) fn encode(&mut self, slot: u8, short_by: u8, to: u8, flip: Option<(u16, u8)>) {
        // SAFETY: pointers and handles are as the head of this file says.
        unsafe {
            let handle = self.handle(slot);
            let len = bloomline_filter_encoded_len(handle);
            let mut bytes = vec![0xEE; len - usize::from(short_by).min(len)];
            let mut written = 99;
            let data = bytes.as_mut_ptr().cast();
            let status = bloomline_filter_encode(handle, data, bytes.len(), &mut written);
            let Some(model) = self.model(slot) else {
                assert_eq!((status, len, written), (BLOOMLINE_ERR_NULL, 0, 99));
                return;
            };
            let expected = model.encoded();
            assert_eq!(len, expected.len());
            if bytes.len() < len {
                assert_eq!((status, written), (BLOOMLINE_ERR_BUFFER_TOO_SMALL, 99));
                assert!(bytes.iter().all(|&byte| byte == 0xEE), "written on success only");
                return;
            }
            assert_eq!((status, written), (BLOOMLINE_OK, len));
            assert!(bytes == expected, "the bytes are the definition's");

            let (params, inserted, key_count) =
                (model.params, model.inserted.clone(), model.key_count);
            if let Some((at, flip)) = flip {
                bytes[usize::from(at) % len] ^= flip;
            }
            let data = bytes.as_ptr().cast();
            let expected = [check(&bytes, true), check(&bytes, false)]
                .map(|status| status as bloomline_status);
            let mut views: [bloomline_view; 2] = std::mem::zeroed();
            let got = [
                bloomline_view_open(data, len, 0, &mut views[0]),
                bloomline_view_open(data, len, BLOOMLINE_VIEW_UNVERIFIED, &mut views[1]),
            ];
            assert_eq!(got, expected);
            for (view, status) in views.iter().zip(got) {
                let mut bitmap = vec![0; inserted.len().div_ceil(64)];
                let data = inserted.as_ptr();
                bloomline_view_contains_hashes(view, data, inserted.len(), bitmap.as_mut_ptr());
                for (i, &hash) in inserted.iter().enumerate() {
                    let lines = &bytes[..len - FOOTER_BYTES];
                    // A view that did not open says yes to all.
                    let expected = status != BLOOMLINE_OK || line::contains(lines, params.k, hash);
                    assert_eq!(bloomline_view_contains_hash(view, hash), expected);
                    assert_eq!(bitmap[i / 64] >> (i % 64) & 1 == 1, expected);
                }
                let mut told = bloomline_params { line_count: 0, k: 0, layout: 0, seed: 0 };
                let known = bloomline_view_shape(view, &mut told) == BLOOMLINE_OK;
                assert_eq!(known, status == BLOOMLINE_OK);
                assert!(!known || told == params);
            }
            let mut handle = null_mut();
            assert_eq!(bloomline_filter_decode(data, len, &mut handle), expected[0]);
            if expected[0] == BLOOMLINE_OK {
                self.put(to, params, handle);
                if let Some(model) = self.model(to) {
                    (model.inserted, model.key_count) = (inserted, key_count);
                }
            } else {
                assert!(handle.is_null());
            }
        }
    }

    /// One hash against views of all filters, and against one that was spoilt: any single
    /// word that changed is noticed, and so is a view that was never opened.
    pub(crate) fn views(&mut self, hash: u64, word: u8, flip: u64, no_array: bool) {
        // SAFETY: as the head of this file says; a view that was opened and then spoilt in
        // one word is recognized, and leads nowhere.
        unsafe {
            let mut views: [bloomline_view; 4] = std::mem::zeroed();
            for slot in 0..3 {
                let status =
                    bloomline_filter_view(self.handle(slot), &mut views[usize::from(slot)]);
                assert_eq!(status, self.expect(slot, BLOOMLINE_OK));
            }
            let mut words: [u64; 8] = std::mem::transmute(views[0]);
            if words != [0; 8] {
                words[usize::from(word) % 6] ^= flip.max(1);
            }
            views[3] = std::mem::transmute::<[u64; 8], bloomline_view>(words);
            let mut bitmap = [0];
            let data = if no_array { null() } else { views.as_ptr() };
            let count = bloomline_views_contain_hash(data, 4, hash, bitmap.as_mut_ptr());
            assert_eq!(count as u32, bitmap[0].count_ones());
            // By pointers, from the last view on.
            let each: Vec<_> =
                views.iter().rev().map(|view| if no_array { null() } else { view }).collect();
            let mut turned = [0];
            let of_each =
                bloomline_views_contain_hash_each(each.as_ptr(), 4, hash, turned.as_mut_ptr());
            assert_eq!((of_each, turned[0]), (count, bitmap[0].reverse_bits() >> 60));
            // Views that hash keys differently, or are none, may make all answers "maybe".
            let mut alone = [0];
            bloomline_views_contain_hash(views.as_ptr(), 3, hash, alone.as_mut_ptr());
            let seeds = [0, 1, 2].map(|slot| self.model(slot).map(|model| model.params.seed));
            let alike = seeds[0].is_some() && seeds.iter().all(|seed| *seed == seeds[0]);
            for slot in 0..3 {
                let expected = self
                    .model(slot)
                    .is_none_or(|model| line::contains(&model.lines(), model.params.k, hash));
                assert!(bitmap[0] >> slot & 1 == 1 || !expected && !no_array);
                let bit = alone[0] >> slot & 1 == 1;
                assert!(if alike { bit == expected } else { bit || !expected });
                assert_eq!(bloomline_view_contains_hash(&views[usize::from(slot)], hash), expected);
            }
            assert!(bitmap[0] >> 3 == 1, "what is no view says yes");
            // The same views as a group, asked by one hash, and each by its own.
            let (mut group, mut together, mut pairs) = (null_mut(), [0], [0]);
            assert_eq!(bloomline_group_new(views.as_ptr(), 4, &mut group), BLOOMLINE_OK);
            let count = bloomline_group_contains_hash(group, hash, together.as_mut_ptr());
            assert_eq!(count as u32, together[0].count_ones());
            let (members, hashes) = ([0, 1, 2, 3, 4], [hash; 5]);
            let answers = pairs.as_mut_ptr();
            bloomline_group_contains_pairs(group, members.as_ptr(), hashes.as_ptr(), 5, answers);
            for (slot, view) in views[..3].iter().enumerate() {
                let bit = bloomline_view_contains_hash(view, hash);
                assert_eq!(pairs[0] >> slot & 1 == 1, bit);
                assert!(together[0] >> slot & 1 == 1 || !bit);
            }
            assert!(pairs[0] >> 3 == 3 && together[0] >> 3 == 1, "what is no view says yes");
            bloomline_group_free(group);
            assert!(bloomline_view_contains_hash(&views[3], hash));
            assert!(bloomline_view_contains_hash(null(), hash));
            self.columns(hash, &views);
        }
    }

    /// The same views as columns of a matrix of the first filter's shape: those that fit are there, and
    /// what is no view is none.
    unsafe fn columns(&mut self, hash: u64, views: &[bloomline_view; 4]) {
        let Some(shape) = self.model(0).map(|model| model.params) else { return };
        // SAFETY: pointers and handles are as the head of this file says.
        unsafe {
            let (mut matrix, mut there) = (null_mut(), [u64::MAX]);
            assert_eq!(bloomline_matrix_new(&shape, 4, &mut matrix), BLOOMLINE_OK);
            let status = bloomline_matrix_set_column(matrix, 3, &views[3]);
            assert_eq!(status, BLOOMLINE_ERR_NOT_A_FILTER);
            let answers = there.as_mut_ptr();
            for (slot, view) in (0..).zip(&views[..3]) {
                let status = bloomline_matrix_set_column(matrix, slot.into(), view);
                let Some(model) = self.model(slot) else {
                    assert_eq!(status, BLOOMLINE_ERR_NOT_A_FILTER);
                    continue;
                };
                let (params, lines) = (model.params, model.params.line_count / shape.line_count);
                let alike = (params.k, params.seed) == (shape.k, shape.seed);
                let folds = params.line_count % shape.line_count == 0 && lines.is_power_of_two();
                let fits = if alike && folds { BLOOMLINE_OK } else { BLOOMLINE_ERR_COLUMN_SHAPE };
                assert_eq!(status, fits);
                let count = bloomline_matrix_contains_hash(matrix, hash, null(), answers);
                assert_eq!(count as u32, there[0].count_ones());
                let present = line::contains(&model.lines(), params.k, hash);
                let bit = there[0] >> slot & 1 == 1;
                assert!(if fits != BLOOMLINE_OK {
                    !bit
                } else {
                    bit == present || bit && lines > 1
                });
                for &inserted in model.inserted.iter().filter(|_| fits == BLOOMLINE_OK) {
                    bloomline_matrix_contains_hash(matrix, inserted, null(), answers);
                    assert!(there[0] >> slot & 1 == 1);
                }
            }
            bloomline_matrix_free(matrix);
        }
    }
}
