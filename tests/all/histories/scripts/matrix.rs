//! What histories ask of matrices.

use super::Script;

impl Script {
    pub(in crate::histories) fn matrix(&mut self) {
        let shapes = [
            (1, 1, 1),
            (5, 2, 16),
            (63, 3, 6),
            (64, 4, 8),
            (65, 1, 9),
            (130, 2, 6),
            (513, 1, 13),
            (700, 2, 4),
        ];
        for (columns, lines, k) in shapes {
            self.add(format!("new {lines} {k} {} {columns}", columns % 7));
            self.columns(columns, lines, k, 14);
        }
        self.errors();
        for (name, columns, lines, k) in [
            ("names-like-a-footer", 10, 1, 6),
            ("columns065", 65, 1, 6),
            ("named-checksums", 70, 3, 6),
            ("full", 7, 1, 6),
            ("awkward-hashes", 16, 2, 16),
            ("seed-max", 60, 1, 6),
        ] {
            self.add(format!("open matrix/accepted/{name}.bloomline"));
            self.add("params");
            self.columns(columns, lines, k, 4);
        }
    }

    /// All that can be done to so many columns.
    fn columns(&mut self, mut columns: u64, lines: u64, k: u64, steps: u32) {
        for _ in 0..steps {
            match self.below(10) {
                0..=2 => {
                    let (column, keys) = (self.below(columns), self.keys());
                    self.add(format!("insert_into {column} {keys}"));
                    let (column, key) = (self.below(columns), self.key());
                    self.add(format!("insert_into {column} {key}"));
                }
                // As it is or folded, alone or many.
                3..=4 => {
                    let times = self.one_of(&[1, 2, 4, 8]);
                    let first = self.below(columns);
                    let count = self.one_of(&[1, 2, 7, 64, 70, 200]).min(columns - first);
                    let (keys, state) = (count * self.below(9), self.below(4));
                    let set = format!("set {first} {count} {} {k}", times * lines);
                    self.add(format!("{set} hashes:{keys}:{state}"));
                }
                5 => {
                    let column = self.below(columns);
                    self.add(format!("clear_column {column}"));
                }
                6 => {
                    columns = self.one_of(&[1, 63, 64, 65, 129, columns + 1, columns.div_ceil(2)]);
                    self.add(format!("with_columns {columns}"));
                }
                7 => {
                    let verb = self.one_of(&["reopen", "save", "copy", "swap"]);
                    if verb == "swap" {
                        // The copy goes its own way.
                        self.add("copy");
                        self.add("swap");
                        self.add("insert_into 0 keys:0:9");
                        self.add("swap");
                    } else {
                        self.add(verb);
                    }
                }
                8 => {
                    let (checksums, state) = (self.below(2), self.below(9));
                    let names = columns * self.below(2);
                    self.add(format!("checksums {checksums}"));
                    self.add(format!("names hashes:{names}:{state}"));
                }
                _ => self.add("encode"),
            }
            self.see(columns);
        }
        self.add("columns");
        self.add("contains keys:0:40");
        self.add("contains hashes:40:3 hashes:40:77");
        self.add("encode");
    }

    fn see(&mut self, columns: u64) {
        let keys = self.keys();
        match self.below(3) {
            0 => self.add(format!("contains {keys}")),
            1 => {
                let words = columns.div_ceil(64);
                let state = self.below(50);
                self.add(format!("among hashes:{words}:{state} {keys}"));
            }
            _ => {
                let state = self.below(50);
                self.add(format!("pairs {state} {keys}"));
            }
        }
        let column = self.below(columns);
        let verb = self.one_of(&["column", "name"]);
        self.add(format!("{verb} {column}"));
    }

    /// Of what cannot be nothing changes.
    fn errors(&mut self) {
        self.add("new 3 6 0 0");
        self.add("new 3 17 0 5");
        self.add("new 3 6 0 5");
        self.add("insert_into 4 keys:0:9");
        for line in [
            "insert_into 5 key:1",
            "insert_into 5 keys:0:9",
            "clear_column 5",
            "column 5",
            "name 5",
            "set 5 1 3 6 keys:0:9",
            "set 3 3 3 6 keys:0:9",
            "set 4 1 3 7 keys:0:9",
            "set 4 1 9 6 keys:0:9",
            "set 4 1 4 6 keys:0:9",
            "set 4 1 1 6 keys:0:9",
            "with_columns 0",
            "names hashes:4:1",
        ] {
            self.add(line);
        }
        self.add("encode");
    }
}
