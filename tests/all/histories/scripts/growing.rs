//! What histories ask of growing filters, of those that were told how many keys come and of those that were not.

use super::Script;

impl Script {
    pub(in crate::histories) fn growing(&mut self) {
        for (keys, rate) in [(0_u64, "0.5"), (100, "0.01"), (3000, "0.0001"), (1 << 40, "0.001")] {
            let new = format!("new {keys} {rate} {}", keys % 7);
            self.add(&new);
            for _ in 0..24 {
                match self.below(10) {
                    0..=1 => self.change("insert"),
                    2 => self.change("insert_new"),
                    3..=4 => self.change("remove"),
                    // It grows to many lines, and shrinks again.
                    5 => {
                        let (count, state) = (self.one_of(&[300, 2000, 12_000]), self.below(1000));
                        self.add(format!("insert hashes:{count}:{state}"));
                        self.look(&["encode"]);
                        let part = count * self.below(4) / 3;
                        self.add(format!("remove hashes:{part}:{state}"));
                    }
                    // Copies are counted apart from the ninth on.
                    6 => {
                        let (key, times) = (self.key(), self.one_of(&[7, 8, 9, 40]));
                        self.add(format!("insert {key}*{times}"));
                        self.add(format!("count {key}"));
                        let fewer = self.one_of(&[1, 7, 50]);
                        self.add(format!("remove {key}*{fewer}"));
                        self.add(format!("count {key}"));
                    }
                    7 => {
                        self.add("swap");
                        self.add(&new);
                        self.change("insert");
                        self.add("insert hashes:500:7");
                        self.add("swap");
                        self.add("union");
                    }
                    8 => {
                        let verb = self.one_of(&["reopen", "save", "copy"]);
                        self.add(verb);
                    }
                    _ => {
                        let verb = self.one_of(&["encode", "encode", "clear"]);
                        self.add(verb);
                    }
                }
                let key = self.key();
                self.add(format!("count {key}"));
                self.look(&["key_count"]);
            }
            // All of them into one line or a few.
            self.add("insert numbers:65000:90");
            self.add("encode");
            self.add("remove numbers:65040:60");
            self.end();
        }
        self.add("swap");
        self.add("new 5 0.01 1");
        self.add("swap");
        self.add("union");
        self.add("new 5 1.5 0");
        for name in ["regions", "repeated", "crowded", "seed-nine", "other-wide"] {
            self.add(format!("open growing/accepted/{name}.bloomline"));
            self.change("insert");
            self.change("remove");
            self.end();
        }
    }

    /// What the next keys get depends on how a filter grows, which no definition says. So beyond the keys
    /// that it was first made for these histories ask only what is so in any case.
    pub(in crate::histories) fn unbounded(&mut self) {
        for (first, rate) in [(20_000_u64, "0.01"), (700, "0.3"), (1 << 40, "0.001")] {
            self.first_length(first, rate);
        }
        for name in ["lengths", "lengths-of-regions", "lengths-crowded-at-the-end"] {
            self.add(format!("open growing/accepted/{name}.bloomline"));
            for _ in 0..4 {
                self.change("insert");
                self.change("remove");
                let key = self.key();
                self.add(format!("count {key}"));
                self.look(&["key_count", "encode"]);
            }
            self.end();
        }
        for (first, count) in [(0, 1500), (50, 6000), (2000, 4000)] {
            self.lengths(first, count);
        }
        for other in ["5 0.01 1", "unbounded 5 0.01 0", "unbounded 5 0.02 1", "unbounded 6 0.01 1"]
        {
            self.add(format!("new {other}"));
            self.add("swap");
            self.add("new unbounded 5 0.01 1");
            self.add("union");
        }
        self.add("new unbounded 5 0 0");
        self.add("new unbounded 5 1 0");
    }

    /// While at most three quarters of the first keys are in, all have the first length.
    fn first_length(&mut self, first: u64, rate: &str) {
        let new = format!("new unbounded {first} {rate} {}", first % 7);
        let (most, mut keys) = (first * 3 / 4, 0);
        self.add(&new);
        for _ in 0..24 {
            let step = self.below(9);
            let more = match step {
                0..=2 => 130,
                4 => self.one_of(&[300, 2000, 12_000]).min(most),
                5 => 50,
                6 => 630.min(most),
                _ => 0,
            };
            if keys + more > most {
                self.add("clear");
                keys = 0;
            }
            keys += more;
            match step {
                0..=1 => self.change("insert"),
                2 => self.change("insert_new"),
                3 => self.change("remove"),
                4 => {
                    let state = self.below(1000);
                    self.add(format!("insert hashes:{more}:{state}"));
                    self.look(&["encode"]);
                    let part = more * self.below(4) / 3;
                    self.add(format!("remove hashes:{part}:{state}"));
                }
                5 => {
                    let (key, times) = (self.key(), self.one_of(&[7, 8, 9, 40]));
                    self.add(format!("insert {key}*{times}"));
                    self.add(format!("count {key}"));
                    self.add(format!("remove {key}*{}", times - 1));
                    self.add(format!("count {key}"));
                }
                6 => {
                    self.add("swap");
                    self.add(&new);
                    self.add(format!("insert hashes:{}:7", more * 4 / 5));
                    self.add("swap");
                    self.add("union");
                }
                7 => {
                    let verb = self.one_of(&["reopen", "save", "copy"]);
                    self.add(verb);
                }
                _ => self.add("encode"),
            }
            let key = self.key();
            self.add(format!("count {key}"));
            self.look(&["key_count"]);
        }
        self.end();
    }

    /// Far beyond: keys that are in are present, and can be removed, one by one.
    fn lengths(&mut self, first: u64, count: u64) {
        let new = format!("new unbounded {first} 0.01 {first}");
        self.add(&new);
        self.add("contains keys:0:100");
        for (state, verb) in [(1, "copy"), (2, "reopen"), (3, "save")] {
            self.add(format!("insert hashes:{count}:{state}"));
            self.add(format!("insert keys:{}:300", 300 * state));
            self.add(verb);
            self.add("key_count");
            for state in 1..=state {
                self.add(format!("contains hashes:{count}:{state}"));
            }
            self.add(format!("insert_new hashes:40:{state}"));
            self.add(format!("insert key:{}", 300 * state));
            self.add(format!("remove key:{}", 300 * state));
        }
        // Others, which have lengths of their own.
        self.add("swap");
        self.add(&new);
        self.add(format!("insert hashes:{}:5", count / 3));
        self.add("swap");
        self.add("union");
        self.add("key_count");
        self.add(format!("contains hashes:{count}:3 hashes:{}:5", count / 3));
        for state in [2, 1] {
            self.add(format!("remove hashes:{count}:{state}"));
            self.add("contains keys:300:900");
            self.add(format!("contains hashes:{count}:3"));
            self.add("key_count");
        }
        self.add("clear");
        self.add("key_count");
        self.end();
    }
}
