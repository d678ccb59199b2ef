//! What the library needs of the operating system: memory, files, the environment, the
//! sizes of caches and other facts of the CPU, threads.

pub(crate) mod arena;
pub(crate) mod cache;
pub(crate) mod cpu;
pub(crate) mod environment;
pub(crate) mod file;
pub(crate) mod flush;
pub(crate) mod memory;
pub(crate) mod numbers;
#[cfg(unix)]
mod pages;
pub(crate) mod room;
pub(crate) mod spare;
pub(crate) mod threads;
