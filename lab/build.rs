//! Compiles the contenders in C++: Boost.Bloom where `BOOST` names a directory of Boost's headers, and
//! RocksDB's filter where its library is installed (`ROCKSDB=no` leaves it out). Without either,
//! `peers.cc` has none.

use std::env;
use std::path::Path;

fn main() {
    for name in ["BOOST", "ROCKSDB", "MARCH"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    println!("cargo::rerun-if-changed=src/peers.cc");
    let boost = env::var("BOOST").ok().filter(|directory| !directory.is_empty());
    let installed = ["/usr/include", "/usr/local/include"]
        .iter()
        .any(|directory| Path::new(directory).join("rocksdb/filter_policy.h").exists());
    let rocksdb = installed && env::var("ROCKSDB").as_deref() != Ok("no");
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").opt_level(3).file("src/peers.cc").warnings(false);
    // As the rest of the lab: for the CPU that it runs on.
    build.flag(format!("-march={}", env::var("MARCH").unwrap_or_else(|_| "native".into())));
    if let Some(directory) = boost {
        let includes = [Path::new(&directory).to_path_buf(), Path::new(&directory).join("include")];
        let found = includes.iter().find(|path| path.join("boost/bloom.hpp").exists());
        let found =
            found.unwrap_or_else(|| panic!("BOOST={directory}: there is no boost/bloom.hpp"));
        build.include(found).define("LAB_BOOST", None);
    }
    if rocksdb {
        build.define("LAB_ROCKSDB", None);
    }
    build.compile("labpeers");
    if rocksdb {
        println!("cargo::rustc-link-lib=rocksdb");
    }
}
