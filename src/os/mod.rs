//! What the library asks of the operating system: memory, files, the environment.

pub(crate) mod environment;
pub(crate) mod file;
pub(crate) mod memory;
pub(crate) mod room;
