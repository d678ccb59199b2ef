//! Compiles the contenders in C++: Boost.Bloom where `BOOST` names a directory of Boost's headers, and
//! RocksDB's filter where its library is installed (`ROCKSDB=no` leaves it out), and compiled for this CPU
//! where `ROCKSDB` names the directory of its source. Without any, `peers.cc` has none. SeqAn's interleaved Bloom filter where Debian's libseqan3-dev is
//! installed (`SEQAN=no` leaves it out). Arrow Acero's filter and that of Parquet C++ where `PYARROW` names
//! the directory `pyarrow` of its wheel, which has headers and libraries.
//!
//! And links this library's own C interface: `BLOOMLINE_LIB` names the static library, compiled for any
//! CPU as its users have it.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    for name in ["BOOST", "ROCKSDB", "SEQAN", "PYARROW", "MARCH", "BLOOMLINE_LIB"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    println!("cargo::rustc-check-cfg=cfg(c_face)");
    match env::var("BLOOMLINE_LIB").ok().filter(|library| !library.is_empty()) {
        Some(library) if cfg!(target_os = "linux") => link_c_face(&library),
        _ => println!("cargo::warning=no BLOOMLINE_LIB, or not Linux: nothing is called through C"),
    }
    for file in ["peers.cc", "peer.h", "rocksdb_source.cc"] {
        println!("cargo::rerun-if-changed=src/{file}");
    }
    let boost = env::var("BOOST").ok().filter(|directory| !directory.is_empty());
    let from = env::var("ROCKSDB").unwrap_or_default();
    let rocksdb = has("rocksdb/filter_policy.h") && from != "no";
    let source = Some(from).filter(|from| !from.is_empty() && from != "no");
    let mut build = compile("src/peers.cc", "c++17");
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
    if source.is_some() {
        build.define("LAB_ROCKSDB_SOURCE", None);
    }
    build.compile("labpeers");
    if let Some(directory) = source {
        let (source, header) = (Path::new(&directory), "util/bloom_impl.h");
        assert!(source.join(header).exists(), "ROCKSDB={directory}: there is no {header}");
        let mut build = compile("src/rocksdb_source.cc", "c++20");
        // As its releases are, without checks.
        build.include(source).include(source.join("include")).define("NDEBUG", None);
        build.compile("labrocksdb");
    }
    if rocksdb {
        println!("cargo::rustc-link-lib=rocksdb");
    }
    println!("cargo::rustc-check-cfg=cfg(seqan)");
    println!("cargo::rerun-if-changed=src/matrix/bins.cc");
    let seqan = has("seqan3/search/dream_index/interleaved_bloom_filter.hpp");
    if seqan && env::var("SEQAN").as_deref() != Ok("no") {
        let mut build = compile("src/matrix/bins.cc", "c++20");
        // Debian's package brings the SDSL that it needs; another version may be installed as well.
        build.include("/usr/include/seqan3/submodules/sdsl-lite/include");
        // Without checks of each access, as a release is.
        build.define("NDEBUG", None).compile("labbins");
        println!("cargo::rustc-cfg=seqan");
    }
    println!("cargo::rustc-check-cfg=cfg(arrow)");
    println!("cargo::rerun-if-changed=src/columns/arrow.cc");
    if let Some(directory) = env::var("PYARROW").ok().filter(|directory| !directory.is_empty()) {
        link_arrow(Path::new(&directory));
    }
}

/// Compiles what calls Arrow's libraries, and links them where they are: the names of their files end
/// with a version.
fn link_arrow(wheel: &Path) {
    let header = wheel.join("include/arrow/acero/bloom_filter.h");
    assert!(header.exists(), "PYARROW={}: there is no {}", wheel.display(), header.display());
    compile("src/columns/arrow.cc", "c++20").include(wheel.join("include")).compile("labarrow");
    let files = wheel.read_dir().expect("it is a directory").flatten();
    let names: Vec<String> = files.filter_map(|file| file.file_name().into_string().ok()).collect();
    for library in ["libarrow_acero", "libparquet", "libarrow_compute", "libarrow"] {
        let of_it = |name: &&String| name.starts_with(&format!("{library}.so."));
        let name = names.iter().find(of_it);
        let name = name.unwrap_or_else(|| panic!("PYARROW={}: no {library}", wheel.display()));
        println!("cargo::rustc-link-arg={}", wheel.join(name).display());
    }
    println!("cargo::rustc-link-arg=-Wl,-rpath,{}", wheel.display());
    println!("cargo::rustc-cfg=arrow");
}

/// Whether a header is installed.
fn has(header: &str) -> bool {
    ["/usr/include", "/usr/local/include"].iter().any(|from| Path::new(from).join(header).exists())
}

/// As the rest of the lab: for the CPU that it runs on.
fn compile(file: &str, standard: &str) -> cc::Build {
    let mut build = cc::Build::new();
    build.cpp(true).std(standard).opt_level(3).file(file).warnings(false);
    build.flag(format!("-march={}", env::var("MARCH").unwrap_or_else(|_| "native".into())));
    build
}

/// Links a static library of Rust into a program of Rust: as one object whose only global symbols are
/// those of the C interface, since both bring the standard library.
fn link_c_face(library: &str) {
    println!("cargo::rerun-if-changed={library}");
    let object = format!("{}/c_face.o", env::var("OUT_DIR").expect("cargo sets it"));
    let run = |program: &str, arguments: &[&str]| {
        let done = Command::new(program).args(arguments).status();
        assert!(done.is_ok_and(|status| status.success()), "{program} {arguments:?}");
    };
    run("ld", &["-r", "--force-group-allocation", "-o", &object, "--whole-archive", library]);
    run("objcopy", &["--wildcard", "--keep-global-symbol=bloomline_*", &object]);
    println!("cargo::rustc-link-arg={object}");
    println!("cargo::rustc-cfg=c_face");
}
