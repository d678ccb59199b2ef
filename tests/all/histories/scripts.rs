//! What histories ask: for shapes of each kind all that can be done to it, in turns that SplitMix64
//! chooses.

mod growing;
mod matrix;

use crate::definition::{AWKWARD, next_random};

pub(super) struct Script {
    pub(super) lines: Vec<String>,
    state: u64,
}

impl Script {
    pub(super) fn new(state: u64) -> Script {
        Script { lines: Vec::new(), state }
    }

    pub(super) fn filter(&mut self) {
        self.bloom(&["fold", "clear", "reopen", "save"], &["key_count", "params"]);
    }

    pub(super) fn concurrent(&mut self) {
        self.bloom(&["insert_new"], &["params"]);
    }

    fn add(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    fn below(&mut self, most: u64) -> u64 {
        next_random(&mut self.state) % most
    }

    fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }

    /// One key, of few, so that they come again.
    fn key(&mut self) -> String {
        match self.below(3) {
            0 => format!("hash:{:x}", self.one_of(&AWKWARD[..6])),
            _ => format!("key:{}", self.below(40)),
        }
    }

    /// Several keys: lengths at the seams of words and of what is hashed ahead.
    fn keys(&mut self) -> String {
        let count = self.one_of(&[0, 1, 2, 7, 15, 16, 17, 40, 63, 64, 65, 100, 130]);
        match self.below(5) {
            0 | 1 => format!("keys:{}:{count}", self.below(30)),
            2 | 3 => format!("hashes:{count}:{}", self.below(4)),
            _ => {
                let hashes = (0..4).map(|_| format!("hash:{:x}", self.one_of(&AWKWARD)));
                hashes.collect::<Vec<_>>().join(" ")
            }
        }
    }

    /// Does something to keys.
    fn change(&mut self, verb: &str) {
        let keys = if self.below(3) == 0 { self.key() } else { self.keys() };
        self.add(format!("{verb} {keys}"));
    }

    /// Asks for keys that are in and others, and for the rest of what can be seen.
    fn look(&mut self, rest: &[&str]) {
        if self.below(2) == 0 {
            let key = self.key();
            self.add(format!("contains {key}"));
        } else {
            let keys = self.keys();
            self.add(format!("contains {keys}"));
        }
        if let Some(verb) = rest.get(self.below(rest.len() as u64 + 1) as usize) {
            self.add(*verb);
        }
    }

    fn end(&mut self) {
        self.add("contains keys:0:200");
        self.add("contains hashes:200:3 hashes:200:77");
        self.add("encode");
    }

    /// Kinds of a bit for each lane or position: every k.
    fn bloom(&mut self, also: &[&str], facts: &[&str]) {
        for k in 1..=16 {
            let lines = self.one_of(&[1, 2, 3, 4, 6, 8, 24]);
            let seed = self.one_of(&[0, 1, u64::MAX]);
            self.add(format!("new {lines} {k} {seed}"));
            self.add("contains keys:0:10");
            for _ in 0..10 {
                match self.below(8) {
                    0..=3 => self.change("insert"),
                    4 => {
                        self.add("copy");
                        self.add("swap");
                        self.change("insert");
                        self.add("swap");
                        self.add("union");
                    }
                    5 => {
                        self.add("swap");
                        self.add(format!("new {lines} {k} {seed}"));
                        self.change("insert");
                        self.add("swap");
                        self.add("union");
                    }
                    _ => match self.one_of(also) {
                        "insert_new" => {
                            let keys = self.keys();
                            self.add(format!("insert_new {keys}"));
                        }
                        verb => self.add(verb),
                    },
                }
                self.look(facts);
            }
            self.end();
        }
        // Of other shapes there is no union.
        for other in ["4 6 0", "3 7 0", "3 6 1"] {
            self.add("new 3 6 0");
            self.add("insert keys:0:20");
            self.add("swap");
            self.add(format!("new {other}"));
            self.add("insert keys:5:20");
            self.add("union");
            self.add("encode");
        }
        for k in [0, 17, u32::MAX] {
            self.add(format!("new 3 {k} 0"));
        }
    }

    pub(super) fn counting(&mut self) {
        for k in 1..=16 {
            let (lines, seed) = (self.one_of(&[1, 2, 3, 5, 8]), self.one_of(&[0, 9, u64::MAX]));
            self.add(format!("new {lines} {k} {seed}"));
            for _ in 0..12 {
                match self.below(12) {
                    0..=3 => self.change("insert"),
                    // Counters reach 15, and stay there.
                    4 => {
                        let (key, times) = (self.key(), self.one_of(&[5, 14, 15, 16, 40]));
                        self.add(format!("insert {key}*{times}"));
                        self.add(format!("count {key}"));
                        self.add(format!("remove {key}*{times}"));
                        self.add(format!("count {key}"));
                    }
                    // Of keys that are in, or not.
                    5..=8 => self.change("remove"),
                    9 => {
                        self.add("swap");
                        self.add(format!("new {lines} {k} {seed}"));
                        self.change("insert");
                        self.change("insert");
                        self.add("swap");
                        self.add("union");
                    }
                    10 => {
                        let verb = self.one_of(&["reopen", "save", "copy", "plain"]);
                        self.add(verb);
                    }
                    _ => {
                        let verb = self.one_of(&["clear", "encode", "plain"]);
                        self.add(verb);
                    }
                }
                let key = self.key();
                self.add(format!("count {key}"));
                self.look(&["key_count", "params"]);
            }
            self.end();
            self.add("plain");
        }
        for name in ["saturated", "stuck", "full-of-15", "key-count-unknown", "seed-max"] {
            self.add(format!("open counting/accepted/{name}.bloomline"));
            self.change("remove");
            self.add("remove hashes:20:310");
            self.add("insert hashes:20:310*3");
            self.add("key_count");
            self.end();
        }
        for other in ["4 6 0", "3 7 0", "3 6 1"] {
            self.add(format!("new {other}"));
            self.add("swap");
            self.add("new 3 6 0");
            self.add("union");
        }
    }

    pub(super) fn cuckoo(&mut self) {
        for bits in [8, 12, 16] {
            for lines in [1, 2, 3, 7, 70, 130] {
                self.add(format!("new {lines} {bits} {}", lines * 5));
                for _ in 0..9 {
                    match self.below(9) {
                        0..=2 => self.change("insert"),
                        3..=5 => self.change("remove"),
                        6 => {
                            let key = self.key();
                            self.add(format!("insert {key}*9"));
                            self.add(format!("remove {key}*9"));
                        }
                        7 => {
                            let verb = self.one_of(&["reopen", "save"]);
                            self.add(verb);
                        }
                        _ => {
                            let verb = self.one_of(&["clear", "encode", "params"]);
                            self.add(verb);
                        }
                    }
                    self.look(&["key_count"]);
                }
                self.end();
                // Full: what fails changes nothing, and what is removed makes room.
                self.add(format!("insert hashes:{}:50", lines * 64));
                self.add("key_count");
                self.add("encode");
                for _ in 0..3 {
                    self.change("insert");
                    self.add("copy");
                    self.add("insert hashes:40:60");
                    self.add("swap");
                    self.add("insert hashes:40:60");
                    self.add("key_count");
                    self.change("remove");
                    self.add("remove hashes:5:50");
                    self.add("insert hashes:5:70");
                }
                self.add("insert hash:5");
                self.end();
                // Of one line, and of few of its buckets.
                self.add("clear");
                self.add("insert numbers:65000:90");
                self.add("remove numbers:65040:60");
                self.end();
            }
            self.add(format!("new 3 {} 0", bits + 1));
        }
        for name in ["bits08-full", "bits12-all-ones", "bits16-lines3"] {
            self.add(format!("open cuckoo/accepted/{name}.bloomline"));
            self.add("key_count");
            self.change("remove");
            self.change("insert");
            self.end();
        }
    }

    pub(super) fn scalable(&mut self) {
        for (first, rate) in [(0, "0.01"), (50, "0.02"), (100, "0.3"), (10, "0.0001"), (300, "0.9")]
        {
            self.add(format!("new {first} {rate} {first}"));
            for _ in 0..20 {
                match self.below(8) {
                    0..=1 => self.change("insert"),
                    2..=4 => {
                        let keys = self.keys();
                        self.add(format!("insert_new {keys}"));
                    }
                    5 => {
                        // New ones, which makes it grow, and some of them again.
                        let (count, state) = (self.below(500), self.below(1000));
                        self.add(format!("insert_new hashes:{count}:{state} hashes:60:{state}"));
                    }
                    6 => {
                        let verb = self.one_of(&["reopen", "save"]);
                        self.add(verb);
                    }
                    _ => self.add("encode"),
                }
                self.look(&["key_count", "stages"]);
            }
            self.end();
        }
        for name in ["four-stages", "seed-max", "awkward-hashes", "every-k"] {
            self.add(format!("open scalable/accepted/{name}.bloomline"));
            self.add("insert_new keys:0:50");
            self.add("insert hashes:64:1");
            self.add("key_count");
            self.add("stages");
            self.end();
        }
    }

    pub(super) fn window(&mut self) {
        let shapes = [
            (1, 50, "0.1"),
            (2, 1, "0.5"),
            (3, 400, "0.001"),
            (5, 30, "0.03"),
            (8, 100, "0.01"),
            (9, 2000, "0.2"),
            (16, 40, "0.001"),
        ];
        let golden = ["young", "jump-of-5", "rotates-after-7", "key-counts-max", "last-slice"];
        let golden =
            golden.into_iter().map(String::from).chain((1..=16).map(|k| format!("k{k:02}")));
        let opened = golden.map(|name| (3, format!("open window/accepted/{name}.bloomline")));
        let made = shapes.into_iter().enumerate().map(|(i, (generations, keys, rate))| {
            (generations, format!("new {generations} {keys} {rate} {i}"))
        });
        for (i, (generations, line)) in made.chain(opened).enumerate() {
            self.add(line);
            for _ in 0..if i < shapes.len() { 24 } else { 5 } {
                match self.below(10) {
                    0..=1 => self.change("insert"),
                    2..=4 => {
                        let keys = self.keys();
                        self.add(format!("insert_new {keys}"));
                    }
                    5 => self.add("rotate"),
                    6 => {
                        // Ahead by few slices, by all, and back.
                        let slice = self.one_of(&[3, 5, 6, 9, 11, 12, 15, 30, 1000, 1001, 1004]);
                        self.add(format!("advance {slice}"));
                        self.add("slice");
                    }
                    7 => {
                        let keys = self.one_of(&[0, 1, 10, 40]);
                        self.add(format!("rotate_after {keys}"));
                    }
                    8 => {
                        let verb = self.one_of(&["reopen", "save"]);
                        self.add(verb);
                    }
                    _ => self.add("encode"),
                }
                self.look(&["slice", "params"]);
                let age = self.below(generations + 1);
                if age > 0 || i < shapes.len() {
                    self.add(format!("key_count {}", age.min(generations - 1)));
                }
            }
            self.end();
        }
        self.add("new 0 10 0.01 0");
        self.add("new 3 10 1 0");
    }

    pub(super) fn static_filter(&mut self) {
        for rows in 4..=16 {
            for (i, count) in [0, 1, 2, 65, 300, 900].into_iter().enumerate() {
                if rows % 3 > 0 && i % 2 == rows % 2 {
                    continue;
                }
                let seed = count + 5;
                self.add(format!("new {rows} {seed} hashes:{count}:3"));
                self.look(&["key_count"]);
                if i == 4 {
                    let verb = self.one_of(&["reopen", "save"]);
                    self.add(verb);
                }
                self.end();
            }
            self.add(format!("new {rows} 7 keys:0:150"));
            self.end();
            let odd: Vec<String> = AWKWARD.iter().map(|hash| format!("hash:{hash:x}")).collect();
            self.add(format!("new {rows} 0 {}", odd.join(" ")));
            self.add(format!("contains {}", odd.join(" ")));
            self.end();
            // Hashes that are not uniform, or too many for their lines, or repeated.
            let skewed = ["numbers:0:700", "hash:2a*900", "hashes:200:5*2", "numbers:77777777:300"];
            for keys in skewed.into_iter().skip(rows % 2).step_by(2) {
                self.add(format!("new {rows} 1 {keys}"));
                self.add(format!("contains {keys}"));
                self.end();
            }
        }
    }

    pub(super) fn cascade(&mut self) {
        for (i, (n, m, rate)) in [
            (0, 0, "0"),
            (0, 60, "0"),
            (60, 0, "0"),
            (1, 1, "0"),
            (100, 900, "0"),
            (500, 100, "0"),
            (200, 2000, "0.01"),
            (300, 900, "0.0005"),
        ]
        .into_iter()
        .enumerate()
        {
            self.add(format!("new {rate} {i} hashes:{n}:3 hashes:{m}:4"));
            self.add("key_count");
            self.add("layers");
            self.add(format!("contains hashes:{n}:3"));
            self.add(format!("contains hashes:{m}:4"));
            self.look(&["layers"]);
            let verb = self.one_of(&["reopen", "save"]);
            self.add(verb);
            self.end();
        }
        self.add("new 0 7 keys:0:100 keys:100:400");
        self.add("contains keys:0:500");
        self.end();
        // A key in both sets.
        self.add("new 0 7 keys:0:100 keys:99:400");
        self.add("new 0 0 hashes:9:1 hashes:40:1");
        for name in ["rows04", "rows09", "every-rows", "bumps-all-2"] {
            self.add(format!("open cascade/accepted/{name}.bloomline"));
            self.add("layers");
            self.end();
        }
    }
}
