//! The library for C programs out of the one that Rust tests use: scripts that need both compile it once.
//! What is shipped is built by `scripts/build-lib.sh`.

use bloomline as _;
