//! Any sequence of C calls, with NULL where C may have it, buffers too small, handles
//! that are not there, views that were spoilt: every status is the one that the header
//! promises, outputs are written on success only, and no filter ever denies a key that
//! went in. Beside each handle stands a model, `c_api_state`: the hashes that went in.
#![no_main]

mod c_api_columns;
mod c_api_state;
#[path = "../../tests/definition/mod.rs"]
mod definition;

use bloomline::definition::line;
use bloomline::ffi::*;
use c_api_state::*;
use definition::*;
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use std::ffi::c_void;
use std::ptr::{null, null_mut};

#[derive(Debug, Arbitrary)]
enum Call {
    New {
        slot: u8,
        lines: u16,
        k: u8,
        unknown_layout: bool,
        seed: u64,
        null_params: bool,
        null_out: bool,
    },
    Sized {
        slot: u8,
        keys: u16,
        rate: f64,
        by_bits: bool,
        seed: u64,
    },
    Free {
        slot: u8,
    },
    Insert {
        slot: u8,
        key: Option<Vec<u8>>,
    },
    InsertHash {
        slot: u8,
        hash: u64,
    },
    InsertHashes {
        slot: u8,
        hashes: Vec<u64>,
        null: bool,
    },
    InsertKeys {
        slot: u8,
        keys: Vec<Vec<u8>>,
        null: bool,
    },
    Probe {
        slot: u8,
        hashes: Vec<u64>,
        key: Option<Vec<u8>>,
        null: bool,
    },
    Union {
        into: u8,
        from: u8,
    },
    Clear {
        slot: u8,
    },
    Fold {
        slot: u8,
    },
    FoldToRate {
        slot: u8,
        rate: f64,
        null: bool,
    },
    Encode {
        slot: u8,
        short_by: u8,
        to: u8,
        flip: Option<(u16, u8)>,
    },
    Views {
        hash: u64,
        word: u8,
        flip: u64,
        null: bool,
    },
    Decode {
        slot: u8,
        bytes: Option<Vec<u8>>,
    },
    Block {
        lines: u16,
        k: u8,
        hashes: Vec<u64>,
        short_by: u8,
        null: bool,
    },
    BuilderNew {
        slot: u8,
        bits_per_key: f64,
        seed: u64,
        null: bool,
    },
    BuilderFree {
        slot: u8,
    },
    BuilderAdd {
        slot: u8,
        key: Option<Vec<u8>>,
        again: u8,
    },
    BuilderAddHash {
        slot: u8,
        hash: u64,
    },
    BuilderFinish {
        slot: u8,
        short_by: u8,
        null: bool,
    },
    Columns {
        slot: u8,
        values: Vec<u64>,
        picked: Vec<u16>,
        blocks: u8,
    },
}

fuzz_target!(|calls: Vec<Call>| {
    let mut state = State::default();
    for call in calls.into_iter().take(60) {
        state.make(call);
    }
    for slot in 0..3 {
        state.make(Call::Encode { slot, short_by: 0, to: slot, flip: None });
        state.free(slot);
    }
    for slot in 0..2 {
        state.make(Call::BuilderFree { slot });
    }
});

/// A pointer to the bytes of a key, NULL for none; the length claimed for none is not 0.
fn pointer(bytes: &Option<Vec<u8>>) -> (*const c_void, usize) {
    bytes.as_ref().map_or((null(), 3), |bytes| (bytes.as_ptr().cast(), bytes.len()))
}

/// What a key that C passes is taken for where it must be something: NULL is empty.
fn key(bytes: &Option<Vec<u8>>) -> &[u8] {
    bytes.as_deref().unwrap_or_default()
}

fn c_keys(keys: &[Vec<u8>]) -> Vec<bloomline_bytes> {
    keys.iter().map(|key| bloomline_bytes { data: key.as_ptr(), len: key.len() }).collect()
}

impl State {
    /// Makes a call, and checks what it did.
    fn make(&mut self, call: Call) {
        // SAFETY: all pointers made here are NULL, or point at as much as is claimed; all
        // handles are NULL or alive.
        unsafe {
            match call {
                Call::New { slot, lines, k, unknown_layout, seed, null_params, null_out } => {
                    let (lines, k) = (u64::from(lines % 300), u32::from(k % 20));
                    let params = bloomline_params {
                        line_count: lines,
                        k,
                        layout: unknown_layout.into(),
                        seed,
                    };
                    let mut handle = null_mut();
                    let expected = match () {
                        () if null_params || null_out => BLOOMLINE_ERR_NULL,
                        () if unknown_layout => BLOOMLINE_ERR_LAYOUT,
                        () if lines == 0 => BLOOMLINE_ERR_NO_LINES,
                        () if !(1..=16).contains(&k) => BLOOMLINE_ERR_K,
                        () => BLOOMLINE_OK,
                    };
                    let status = bloomline_filter_new(
                        if null_params { null() } else { &params },
                        if null_out { null_mut() } else { &mut handle },
                    );
                    assert_eq!(status, expected);
                    assert_eq!(handle.is_null(), status != BLOOMLINE_OK);
                    if status == BLOOMLINE_OK {
                        self.put(slot, params, handle);
                    }
                }
                Call::Sized { slot, keys, rate, by_bits, seed } => {
                    let before = bloomline_params { line_count: 1, k: 2, layout: 3, seed: 4 };
                    let (mut params, keys) = (before, u64::from(keys % 2000));
                    let status = if by_bits {
                        bloomline_params_for_bits(keys, rate, &mut params)
                    } else {
                        bloomline_params_for_rate(keys, rate, &mut params)
                    };
                    if status != BLOOMLINE_OK {
                        assert_eq!(params, before, "written on success only");
                        return;
                    }
                    assert!(params.layout == 0 && params.seed == 0 && params.line_count > 0);
                    let expected = bloomline_params_rate(&params, keys);
                    assert!((0.0..=1.0).contains(&expected));
                    assert!(by_bits || expected <= rate * 1.000_001);
                    params.seed = seed;
                    if params.line_count <= 1000 {
                        let mut handle = null_mut();
                        assert_eq!(bloomline_filter_new(&params, &mut handle), BLOOMLINE_OK);
                        self.put(slot, params, handle);
                    }
                }
                Call::Free { slot } => self.free(slot),
                Call::Insert { slot, key: bytes } => {
                    let (data, len) = pointer(&bytes);
                    bloomline_filter_insert(self.handle(slot), data, len);
                    let hash = hash(key(&bytes), self.seed(slot));
                    assert_eq!(bloomline_hash(data, len, self.seed(slot)), hash);
                    self.inserted(slot, [hash]);
                }
                Call::InsertHash { slot, hash } => {
                    bloomline_filter_insert_hash(self.handle(slot), hash);
                    self.inserted(slot, [hash]);
                }
                Call::InsertHashes { slot, hashes, null: no_array } => {
                    let data = if no_array { null() } else { hashes.as_ptr() };
                    bloomline_filter_insert_hashes(self.handle(slot), data, hashes.len());
                    self.inserted(slot, hashes.into_iter().filter(|_| !no_array));
                }
                Call::InsertKeys { slot, keys, null: no_array } => {
                    let array = c_keys(&keys);
                    let data = if no_array { null() } else { array.as_ptr() };
                    bloomline_filter_insert_keys(self.handle(slot), data, array.len());
                    let seed = self.seed(slot);
                    let hashes = keys.iter().filter(|_| !no_array).map(|key| hash(key, seed));
                    self.inserted(slot, hashes.collect::<Vec<_>>());
                }
                Call::Probe { slot, hashes, key: bytes, null: no_array } => {
                    self.probe(slot, &hashes, no_array);
                    let (data, len) = pointer(&bytes);
                    let answer = bloomline_filter_contains(self.handle(slot), data, len);
                    let model = self.model(slot);
                    let expected = match (model, bytes) {
                        (Some(model), Some(bytes)) => {
                            let hash = hash(&bytes, model.params.seed);
                            line::contains(&model.lines(), model.params.k, hash)
                        }
                        _ => true,
                    };
                    assert_eq!(answer, expected);
                }
                Call::Union { into, from } => {
                    let status = bloomline_filter_union(self.handle(into), self.handle(from));
                    let other = self
                        .model(from)
                        .map(|model| (model.params, model.inserted.clone(), model.key_count));
                    let same = into % 3 == from % 3;
                    match (self.model(into), other) {
                        (Some(model), Some((params, inserted, key_count))) => {
                            if model.params == params {
                                assert_eq!(status, BLOOMLINE_OK);
                                let mut view: bloomline_view = std::mem::zeroed();
                                assert_eq!(
                                    bloomline_filter_view(model.handle, &mut view),
                                    BLOOMLINE_OK
                                );
                                let count = bloomline_view_key_count(&view);
                                if same {
                                    // What it counts then is its own affair.
                                    model.key_count = count;
                                } else {
                                    model.inserted.extend(inserted);
                                    model.key_count = model.key_count.saturating_add(key_count);
                                    assert_eq!(count, model.key_count);
                                }
                            } else {
                                assert_eq!(status, BLOOMLINE_ERR_MISMATCH);
                            }
                        }
                        _ => assert_eq!(status, BLOOMLINE_ERR_NULL),
                    }
                }
                Call::Clear { slot } => {
                    bloomline_filter_clear(self.handle(slot));
                    if let Some(model) = self.model(slot) {
                        model.inserted.clear();
                        model.key_count = 0;
                    }
                }
                Call::Fold { slot } => {
                    let odd =
                        self.model(slot).is_some_and(|model| model.params.line_count % 2 != 0);
                    let expected = if odd { BLOOMLINE_ERR_ODD_LINE_COUNT } else { BLOOMLINE_OK };
                    let status = bloomline_filter_fold(self.handle(slot));
                    assert_eq!(status, self.expect(slot, expected));
                    if let (BLOOMLINE_OK, Some(model)) = (status, self.model(slot)) {
                        model.params.line_count /= 2;
                    }
                }
                Call::FoldToRate { slot, rate, null: no_output } => {
                    let mut folds = 77;
                    let out = if no_output { null_mut() } else { &raw mut folds };
                    let good = rate > 0.0 && rate < 1.0;
                    let expected = if good { BLOOMLINE_OK } else { BLOOMLINE_ERR_RATE };
                    let status = bloomline_filter_fold_to_rate(self.handle(slot), rate, out);
                    assert_eq!(status, self.expect(slot, expected));
                    let (told, written) = (folds, !no_output && status == BLOOMLINE_OK);
                    assert_eq!(told != 77, written);
                    if let (BLOOMLINE_OK, Some(model)) = (status, self.model(slot)) {
                        let before = model.params.line_count;
                        let mut view: bloomline_view = std::mem::zeroed();
                        assert_eq!(bloomline_filter_view(model.handle, &mut view), BLOOMLINE_OK);
                        let status = bloomline_view_shape(&view, &mut model.params);
                        assert_eq!(status, BLOOMLINE_OK);
                        assert!(no_output || model.params.line_count << told == before);
                    }
                }
                Call::Encode { slot, short_by, to, flip } => self.encode(slot, short_by, to, flip),
                Call::Views { hash, word, flip, null: no_array } => {
                    self.views(hash, word, flip, no_array);
                }

                Call::Decode { slot, bytes } => {
                    let (data, len) = pointer(&bytes);
                    let expected = match &bytes {
                        Some(bytes) => check(bytes, true) as bloomline_status,
                        None => BLOOMLINE_ERR_NULL,
                    };
                    let mut handle = null_mut();
                    assert_eq!(bloomline_filter_decode(data, len, &mut handle), expected);
                    assert_eq!(handle.is_null(), expected != BLOOMLINE_OK);
                    bloomline_filter_free(handle);
                    assert_eq!(bloomline_filter_decode(data, len, null_mut()), BLOOMLINE_ERR_NULL);
                    let _ = slot;
                }
                Call::Block { lines, k, hashes, short_by, null: no_array } => {
                    let params = bloomline_params {
                        line_count: u64::from(lines % 300),
                        k: u32::from(k % 20),
                        layout: 0,
                        seed: 5,
                    };
                    let len = bloomline_block_len(&params);
                    let good = params.line_count > 0 && (1..=16).contains(&params.k);
                    assert_eq!(len, if good { 64 * (params.line_count as usize + 1) } else { 0 });
                    let mut out = vec![0xEE; len.saturating_sub(short_by.into())];
                    let data = if no_array { null() } else { hashes.as_ptr() };
                    let out_data = out.as_mut_ptr().cast();
                    let status =
                        bloomline_block_build(&params, data, hashes.len(), out_data, out.len());
                    if status == BLOOMLINE_OK {
                        assert!(good && out.len() == len && (!no_array || hashes.is_empty()));
                        let lines = lines_of(params.line_count as usize, params.k, &hashes);
                        assert!(out == encode(&lines, params.k, 5, hashes.len() as u64));
                    } else {
                        assert!(!good || out.len() < len || no_array);
                        assert!(out.iter().all(|&byte| byte == 0xEE), "written on success only");
                    }
                }
                Call::BuilderNew { slot, bits_per_key, seed, null: no_output } => {
                    let mut handle = null_mut();
                    let out = if no_output { null_mut() } else { &raw mut handle };
                    let status = bloomline_builder_new(bits_per_key, seed, out);
                    assert_eq!(handle.is_null(), status != BLOOMLINE_OK);
                    if status == BLOOMLINE_OK {
                        assert!(bits_per_key > 0.0 && bits_per_key.is_finite());
                        self.make(Call::BuilderFree { slot });
                        let model = BuilderModel {
                            handle,
                            bits_per_key,
                            seed,
                            added: vec![],
                            last_two: [None; 2],
                        };
                        self.builders[usize::from(slot) % 2] = Some(model);
                    }
                }
                Call::BuilderFree { slot } => {
                    bloomline_builder_free(self.builder(slot));
                    self.builders[usize::from(slot) % 2] = None;
                }
                Call::BuilderAdd { slot, key: bytes, again } => {
                    let (data, len) = pointer(&bytes);
                    let handle = self.builder(slot);
                    for _ in 0..=again % 3 {
                        let status = bloomline_builder_add(handle, data, len);
                        let missing = handle.is_null() || bytes.is_none();
                        assert_eq!(status, if missing { BLOOMLINE_ERR_NULL } else { BLOOMLINE_OK });
                    }
                    let seed =
                        self.builders[usize::from(slot) % 2].as_ref().map_or(0, |model| model.seed);
                    if let Some(bytes) = bytes {
                        self.added(slot, hash(&bytes, seed));
                    }
                }
                Call::BuilderAddHash { slot, hash } => {
                    let handle = self.builder(slot);
                    let expected = if handle.is_null() { BLOOMLINE_ERR_NULL } else { BLOOMLINE_OK };
                    assert_eq!(bloomline_builder_add_hash(handle, hash), expected);
                    self.added(slot, hash);
                }
                Call::BuilderFinish { slot, short_by, null: no_output } => {
                    self.finish(slot, short_by, no_output);
                }
                Call::Columns { slot, values, picked, blocks } => {
                    c_api_columns::columns(self, slot, &values, &picked, blocks);
                }
            }
        }
    }
}
